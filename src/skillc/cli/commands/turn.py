"""`skc inventory`, `skc load` and `skc turn`: what a model gets of skills in prompts."""

from __future__ import annotations

import sys

from skillc.cli import show, workspace
from skillc.cli.lines import NEVER, Line
from skillc.cli.syntax import Arguments, Command

COMMANDS = {
    "inventory": Command("""
skc inventory

--preload <id>... :ids  Mark this skill as loaded. Can be repeated.

$ skc inventory
$ skc inventory --preload pdf-processing
"""),
    "load": Command("""
skc load

<id> :ids  The skill's ID, such as extraction/email-extractor.

$ skc load extraction/email-extractor
"""),
    "turn": Command("""
skc turn

<message> :anything  The user's message. A leading /skill-id loads that skill.
--ref <id>... :ids  Put this skill into the message. Can be repeated.
--preload <id>... :ids  Put this skill into the system prompt. Can be repeated.

$ skc turn "/pdf-processing extract tables from report.pdf"
"""),
}


def run(arguments: Arguments) -> int:
    return {"inventory": _inventory, "load": _load, "turn": _turn}[arguments.command.name](arguments)


def _inventory(arguments: Arguments) -> int:
    here = workspace(progress=True)
    engine = here.engine()
    preload = arguments.texts("preload")

    async def inventory() -> dict[str, str]:
        now = engine.snapshot()
        await now.resolve_and_render(preload)  # one that is not there is an error
        xml = await now.inventory_section(preload)
        return {"mode": now.mode(await now.list_skills()), "xml": xml}

    result = here.wait(inventory())
    return show(arguments, result, [Line(result["xml"], breaks=NEVER)])


def _load(arguments: Arguments) -> int:
    here = workspace(progress=True)
    (skill,) = here.wait(here.engine().resolve_and_render([arguments.text("id")]))
    return show(arguments, skill, [Line(skill.rendered_body, breaks=NEVER)])


def _turn(arguments: Arguments) -> int:
    here = workspace(progress=True)
    preload, references = arguments.texts("preload"), arguments.texts("ref")
    from skillc import engine  # takes long to load, and help does without

    result = here.wait(engine.model_input(here.engine(), arguments.text("message"), preload, references))
    text = f"--- system ---\n{result.system}\n--- message ---\n{result.turn.message}"
    show(arguments, result.as_json(), [Line(text, breaks=NEVER)])
    for notice in () if arguments.as_json else result.turn.notices:
        print(f"notice: {notice}", file=sys.stderr)
    return 0
