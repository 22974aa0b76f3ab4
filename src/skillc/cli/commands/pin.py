"""`skc pin` and `skc unpin`: keep skills at their versions, and let them be updated again."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.options import GLOBAL
from skillc.cli.syntax import Arguments, Command
from skillc.text import one_line

SKILLS = "<skill>... :locked  Names of skills in the lock."
COMMANDS = {
    "pin": Command(f"""
skc pin

'skc update' leaves a pinned skill as it is. The lock has the note, so it holds for a team.

{SKILLS}
{GLOBAL}

$ skc pin pdf
$ skc pin pdf docx
"""),
    "unpin": Command(f"""
skc unpin

'skc update' takes new versions of the skill again.

{SKILLS}
{GLOBAL}

$ skc unpin pdf
"""),
}


def run(arguments: Arguments) -> int:
    is_pinned = arguments.command.name == "pin"
    result = workspace().pin(
        *arguments.texts("skill"), is_pinned=is_pinned, is_global=arguments.has("global")
    )
    verb = "Pinned" if is_pinned else "Unpinned"
    return show(arguments, result, [one_line(f"{verb} '{each.id}'") for each in result.skills])
