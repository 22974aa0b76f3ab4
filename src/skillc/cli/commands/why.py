"""`skc why`: which installed skills need this one."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.options import GLOBAL
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc why

Names the installed skills that say that they need a skill.

<skill> :locked  An installed skill.
{GLOBAL}

$ skc why pdf
""")


def run(arguments: Arguments) -> int:
    result = workspace().why(arguments.text("skill"), is_global=arguments.has("global"))
    return show(arguments, result, result.lines())
