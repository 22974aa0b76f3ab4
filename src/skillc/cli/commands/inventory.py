"""`skc inventory`: what a system prompt says of the skills."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.lines import NEVER, Line
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc inventory

--preload <id>... :ids  Mark this skill as loaded. Can be repeated.

$ skc inventory
$ skc inventory --preload pdf-processing
""")


def run(arguments: Arguments) -> int:
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
