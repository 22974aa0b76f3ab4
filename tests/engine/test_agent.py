"""Agents put together: the document's scenarios in Python, tools, and what happens when skills are off."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

import skillc
from skillc import (
    BuiltAgent,
    ResolvedSkill,
    SkillCollection,
    SkillDescriptor,
    SkillEngine,
    SkillFilter,
    SkillId,
    model_input,
    prepare_turn,
)
from skillc.engine import AgentFactory, SyncSkillEngine
from skillc.errors import SkillNotFound
from skillc.library.repositories.config import SkillsConfig
from skillc.library.sources.filesystem import FilesystemSkillSource
from skillc.library.sources.source import ALL
from tests.conftest import World
from tests.support.cases import each
from tests.support.engines import engine
from tests.support.skills import document, run, skill


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    for number in range(4):
        skill(tmp_path, f"document/skill-{number}")
    for number in range(9):
        skill(tmp_path, f"code/skill-{number}")
    skill(tmp_path, "document/pdf-processing")
    (tmp_path / "document" / "COLLECTION.md").write_text("Document processing\n")
    (tmp_path / "document" / "pdf-processing" / "forms.md").write_text("# Forms\n")
    return tmp_path


def test_switched_off(world: World) -> None:
    """[LIB: AgentFactory changes] enabled = false: no prompt, no tools; a set source wins."""
    skill(world.store, "one")
    off = SkillsConfig(enabled=False)
    agent = run(AgentFactory(config=off).build_agent())
    assert (agent.system_prompt, agent.tools) == ("", ())
    assert run(agent.prepare_turn("/one go")).message == "/one go"
    assert run(agent.call_tool("load_skill", {"id": "one"})).is_error
    assert run(agent.reload()) is agent
    assert not run(agent.is_stale())
    override = AgentFactory(config=off).skill_source(FilesystemSkillSource(world.store))
    assert 'id="one"' in run(override.build_agent()).system_prompt


def test_configured_repositories(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[LIB: Resolution: config → SkillSource] it takes the configured repositories, of the project and not of
    where we are.
    """
    skill(world.store, "one")
    below = world.project / "src"
    below.mkdir()
    for directory, root in ((world.root, str(world.project)), (below, None)):
        monkeypatch.chdir(directory)
        agent = AgentFactory(project_root=root).build_agent_sync()
        assert 'id="one"' in agent.system_prompt
        assert 'id="skillc"' in agent.system_prompt
    skill(world.root / "shared", "one")
    config = '[[repositories]]\nname = "shared"\ntype = "filesystem"\npath = "../shared"\n'
    (world.project / ".skillc" / "skills.toml").write_text(config)
    monkeypatch.chdir(world.root)
    agent = AgentFactory(project_root=str(world.project)).build_agent_sync()
    assert 'id="one"' in agent.system_prompt
    assert agent.prepare_turn_sync("/one go").message.startswith('<skill id="one">')


@each(
    ("name", "arguments", "message"),
    [
        ("load_skill", {"id": "not/there"}, "skill 'not/there' not found"),
        ("load_skill", {}, "argument 'id' is missing"),
        ("load_skill", {"id": 3}, "argument 'id' must be text"),
        ("load_skill", {"id": "../x"}, "invalid skill id: '../x'"),
        ("browse_skills", {"where": "x"}, "unknown argument 'where'; browse_skills takes path, query"),
        (
            "read_skill_file",
            {"id": "document/pdf-processing", "path": "../../x"},
            "path escapes skill root: '../../x'",
        ),
        (
            "read_skill_file",
            {"id": "document/pdf-processing", "path": "none.md"},
            "file not found: 'none.md'",
        ),
        ("find_skills", {}, "argument 'task' is missing"),
        ("find_skills", {"task": " -- "}, "empty query"),
        ("find_skills", {"task": "pdf", "limit": "3"}, "argument 'limit' must be an integer"),
        ("find_skills", {"task": "pdf", "limit": True}, "argument 'limit' must be an integer"),
        ("find_skills", {"task": "pdf", "limit": 0}, "argument 'limit' must be from 1 to 50"),
        ("find_skills", {"task": "pdf", "limit": 51}, "argument 'limit' must be from 1 to 50"),
        ("frobnicate", {}, "unknown tool 'frobnicate'"),
    ],
)
def test_failures_are_results(shelf: Path, name: str, arguments: dict[str, object], message: str) -> None:
    """[LIB: Failure semantics] a tool never raises; the model reads what is wrong."""
    agent = run(AgentFactory().skill_source(FilesystemSkillSource(shelf)).build_agent())
    result = run(agent.call_tool(name, arguments))
    assert result.is_error
    assert result.text.startswith(message)


def test_tools_are_schemas() -> None:
    """[LIB: Builtin Tools (meerkat-tools)] tools are object schemas with described properties; a source
    without folders has no files.
    """
    agent = run(AgentFactory().skill_source(skillc.InMemorySkillSource([])).build_agent())
    for tool in agent.tools:
        assert tool.parameters["type"] == "object"
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])
        assert all(p["description"] for p in tool.parameters["properties"].values())
    assert run(engine(document("a")).files("a")) == []


def test_sync_twin(shelf: Path) -> None:
    """[D33] the same answers without await, also inside an event loop."""
    sync = SyncSkillEngine(FilesystemSkillSource(shelf))
    inner = sync.engine
    assert sync.inventory_section() == run(inner.inventory_section())
    assert sync.browse("document") == run(inner.browse("document"))
    assert sync.load("document/pdf-processing").body.startswith("# pdf-processing")
    assert sync.files("document/pdf-processing") == ["SKILL.md", "forms.md"]

    async def inside() -> int:
        with pytest.raises(SkillNotFound):
            sync.load("not/there")
        return len(sync.list_skills())

    assert asyncio.run(inside()) == 14


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
    turn = run(prepare_turn(engine, "/pdf go", ["gone"]))
    assert turn.message == "<skill>pdf</skill>\n\ngo"
    assert len(turn.notices) == 1
    value = run(model_input(engine, "go", ["pdf"]))
    assert value.system == "<available_skills>pdf</available_skills>\n\n<skill>pdf</skill>"
    agent = BuiltAgent("model", "", (), Own())
    assert agent.prepare_turn_sync("/pdf").message == "<skill>pdf</skill>"
    assert run(agent.call_tool("load_skill", {"id": "pdf"})).text == "<skill>pdf</skill>"
    result = run(agent.call_tool("browse_skills"))
    assert (result.is_error, "unknown tool 'browse_skills'" in result.text) == (True, True)
    assert run(agent.reload()).system_prompt == "<available_skills></available_skills>"
