"""`skc load`: a skill as the block that enters a prompt."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.lines import NEVER, Line
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc load

<id> :ids  The skill's ID, such as extraction/email-extractor.

$ skc load extraction/email-extractor
""")


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    (skill,) = here.wait(here.engine().resolve_and_render([arguments.text("id")]))
    return show(arguments, skill, [Line(skill.rendered_body, breaks=NEVER)])
