"""3. CLI — Explicit skill invocation.

$ rkat run "/document/pdf-processing extract tables from report.pdf"
"""

from __future__ import annotations

from skillc import AgentFactory, FilesystemSkillSource, SkillsResolved
from tests.conftest import World
from tests.support.skills import run, skill

MESSAGE = "/document/pdf-processing extract tables from report.pdf"
BLOCK = '<skill id="document/pdf-processing">\n# pdf-processing\n\nBody.\n</skill>'


def test_a_user_names_a_skill(world: World) -> None:
    """[LIB: 3. CLI — Explicit skill invocation] stripped, resolved, injected; the rest is sent."""
    skill(world.store, "document/pdf-processing")

    async def conversation() -> None:
        agent = await AgentFactory().skill_source(FilesystemSkillSource(world.store)).build_agent()
        turn = await agent.prepare_turn(MESSAGE)
        assert turn.message == f"{BLOCK}\n\nextract tables from report.pdf"
        assert turn.events == (SkillsResolved(("document/pdf-processing",), len(BLOCK)),)
        assert turn.notices == ()

    run(conversation())
