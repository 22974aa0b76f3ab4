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
    from skillc.cli.printing import print_json
    from skillc.engine import prepare_turn, system_prompt

    engine = prompting.engine()
    preload = arguments.texts("preload")
    message, references = arguments.text("message"), arguments.texts("ref")

    async def answer() -> dict[str, object]:
        system = await system_prompt(engine, preload)
        return {"system": system, **(await prepare_turn(engine, message, references)).as_json()}

    turn = prompting.run(answer(), engine.source)
    if arguments.text("format") == "json":
        print_json(turn)
        return 0
    print(f"--- system ---\n{turn['system']}\n--- message ---\n{turn['message']}")
    notices = turn["notices"]
    assert isinstance(notices, list)
    for notice in notices:
        print(f"notice: {notice}", file=sys.stderr)
    return 0
