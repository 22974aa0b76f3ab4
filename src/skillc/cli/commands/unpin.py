"""`skc unpin`: let skills be updated again."""

from __future__ import annotations

from skillc.cli.commands.pin import SKILLS, set_pins
from skillc.cli.options import GLOBAL
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc unpin

'skc update' takes new versions of the skill again.

{SKILLS}
{GLOBAL}

$ skc unpin pdf
""")


def run(arguments: Arguments) -> int:
    return set_pins(arguments, False)
