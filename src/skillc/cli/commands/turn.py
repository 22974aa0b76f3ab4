"""`skc turn`: what a model would get for a message."""

from __future__ import annotations

import sys

from skillc.cli import show, workspace
from skillc.cli.lines import NEVER, Line
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc turn

<message> :anything  The user's message. A leading /skill-id loads that skill.
--ref <id>... :ids  Put this skill into the message. Can be repeated.
--preload <id>... :ids  Put this skill into the system prompt. Can be repeated.

$ skc turn "/pdf-processing extract tables from report.pdf"
""")


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    preload, references = arguments.texts("preload"), arguments.texts("ref")
    from skillc import engine  # takes long to load, and help does without

    result = here.wait(engine.model_input(here.engine(), arguments.text("message"), preload, references))
    text = f"--- system ---\n{result.system}\n--- message ---\n{result.turn.message}"
    show(arguments, result.as_json(), [Line(text, breaks=NEVER)])
    for notice in () if arguments.as_json else result.turn.notices:
        print(f"notice: {notice}", file=sys.stderr)
    return 0
