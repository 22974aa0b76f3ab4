"""An engine of one's own: any object with the methods of `SkillEngine`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from skillc import (
    BuiltAgent,
    ResolvedSkill,
    SkillCollection,
    SkillDescriptor,
    SkillEngine,
    SkillFilter,
    SkillId,
    SkillNotFound,
    model_input,
    prepare_turn,
)

ALL = SkillFilter()


class Own:
    """Has the four methods of the protocol, and nothing else."""

    async def inventory_section(self, active: Iterable[str] = ()) -> str:
        return f"<available_skills>{','.join(active)}</available_skills>"

    async def resolve_and_render(self, ids: Iterable[str]) -> list[ResolvedSkill]:
        if "gone" in (names := list(ids)):
            raise SkillNotFound("gone")
        return [ResolvedSkill(SkillId(name), name, f"<skill>{name}</skill>", 10) for name in names]

    async def collections(self) -> list[SkillCollection]:
        return []

    async def list_skills(self, filter: SkillFilter = ALL) -> list[SkillDescriptor]:
        return []


def test_turns_and_agents() -> None:
    """[LIB: SkillEngine trait (revised)] [D31] four methods are enough; tools that need more do not exist."""
    engine: SkillEngine = Own()  # mypy checks it
    turn = asyncio.run(prepare_turn(engine, "/pdf go", ["gone"]))
    assert turn.message == "<skill>pdf</skill>\n\ngo"
    assert len(turn.notices) == 1
    value = asyncio.run(model_input(engine, "go", ["pdf"]))
    assert value.system == "<available_skills>pdf</available_skills>\n\n<skill>pdf</skill>"
    agent = BuiltAgent("model", "", (), Own())
    assert agent.prepare_turn_sync("/pdf").message == "<skill>pdf</skill>"
    assert asyncio.run(agent.call_tool("load_skill", {"id": "pdf"})).text == "<skill>pdf</skill>"
    result = asyncio.run(agent.call_tool("browse_skills"))
    assert (result.is_error, "unknown tool 'browse_skills'" in result.text) == (True, True)
    assert asyncio.run(agent.reload()).system_prompt == "<available_skills></available_skills>"
