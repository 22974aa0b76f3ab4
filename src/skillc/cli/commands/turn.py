"""`skc turn`: what a model would get for a message."""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

COMMAND = Command(
    "turn",
    "Show what a model would get for a message: system prompt, injected skills, events.",
    arguments=(Argument("message", "The user's message; a leading /skill-id loads that skill."),),
    options=(
        Option("--ref", "Inject this skill into the turn; may be repeated.", value="<id>", repeat=True),
        Option(
            "--preload", "Put this skill into the system prompt; may be repeated.", value="<id>", repeat=True
        ),
        FORMAT,
    ),
    examples=('skc turn "/pdf-processing extract tables from report.pdf"',),
)


def run(arguments: Arguments) -> int:
    from skillc.cli import prompting
    from skillc.cli.output import print_json
    from skillc.engine import model_input

    engine = prompting.engine()
    message = arguments.text("message")
    preload, references = arguments.texts("preload"), arguments.texts("ref")
    found = prompting.run(model_input(engine, message, preload, references), engine.source)
    if arguments.text("format") == "json":
        print_json(found.as_json())
        return 0
    print(f"--- system ---\n{found.system}\n--- message ---\n{found.turn.message}")
    for notice in found.turn.notices:
        print(f"notice: {notice}", file=sys.stderr)
    return 0
