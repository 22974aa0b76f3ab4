"""`skc pin`: keep skills at their versions."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.options import GLOBAL
from skillc.cli.syntax import Arguments, Command
from skillc.text import one_line

SKILLS = "<skill>... :locked  Names of skills in the lock."

COMMAND = Command(f"""
skc pin

'skc update' leaves a pinned skill as it is. The lock has the note, so it holds for a team.

{SKILLS}
{GLOBAL}

$ skc pin pdf
$ skc pin pdf docx
""")


def run(arguments: Arguments) -> int:
    return set_pins(arguments, True)


def set_pins(arguments: Arguments, is_pinned: bool) -> int:
    """Note in the lock whether skills are pinned."""
    result = workspace().pin(
        *arguments.texts("skill"), is_pinned=is_pinned, is_global=arguments.has("global")
    )
    verb = "Pinned" if is_pinned else "Unpinned"
    lines = [one_line(f"{verb} '{each.id}'") for each in result.skills]
    return show(arguments, result, lines)
