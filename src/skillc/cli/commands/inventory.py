"""`skc inventory`: what a system prompt says of the skills."""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Arguments, Command, Option

COMMAND = Command(
    "inventory",
    "Print the inventory of skills for a system prompt.",
    options=(
        Option("--preload", "Mark this skill as loaded; may be repeated.", value="<id>", repeat=True),
        FORMAT,
    ),
    examples=("skc inventory", "skc inventory --preload pdf-processing"),
)


def run(arguments: Arguments) -> int:
    from skillc.cli import prompting
    from skillc.cli.output import print_json

    engine = prompting.engine()
    preload = arguments.texts("preload")

    as_json = arguments.text("format") == "json"

    async def answer() -> dict[str, str]:
        now = engine.snapshot()
        await now.resolve_and_render(preload)  # one that is not there is an error
        xml = await now.inventory_section(preload)
        return {"mode": now.mode(await now.list_skills()), "xml": xml} if as_json else {"xml": xml}

    told = prompting.run(answer(), engine.source)
    if as_json:
        print_json(told)
    else:
        print(told["xml"])
    return 0
