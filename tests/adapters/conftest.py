"""A shelf of skills with a word that no model can know, and the agents that have it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from skillc import AgentBuildConfig, AgentFactory, BuiltAgent, FilesystemSkillSource
from skillc.engine import SkillEvent, ToolDefinition, ToolResult
from tests.adapters.providers import Provider, provider

QUESTION = "When is high water, by the tables of the harbour?"
TIDES = "sailing/tide-tables"


@dataclass
class Shelf:
    """Skills in folders; `word` is the sentence that only the skill about tides has."""

    root: Path
    word: str
    events: list[SkillEvent] = field(default_factory=list)

    def add(self, skill_id: str, description: str, body: str) -> None:
        folder = self.root / skill_id
        folder.mkdir(parents=True)
        name = folder.name
        text = f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n\n{body}\n"
        (folder / "SKILL.md").write_text(text, encoding="utf-8")

    def agent(self, config: AgentBuildConfig | None = None) -> BuiltAgent:
        factory = AgentFactory(observer=self.events.append).skill_source(FilesystemSkillSource(self.root))
        return factory.build_agent_sync(config or AgentBuildConfig())

    def preloaded(self) -> BuiltAgent:
        return self.agent(AgentBuildConfig().with_preloaded_skills([TIDES]))


@pytest.fixture(autouse=True)
def loop() -> Iterator[None]:
    """The thread's event loop, which the frameworks' `run_sync` take or else make and never close."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path / "shelf", f"The word is {uuid.uuid4().hex}.")
    for number in range(13):  # more than the inventory lists one by one
        shelf.add(f"cooking/recipe-{number}", f"Recipe {number}", "Stir it.")
    shelf.add(TIDES, "How to read tables of tides", shelf.word)
    (shelf.root / "sailing" / "COLLECTION.md").write_text("Boats, harbour and weather\n")
    return shelf


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with provider() as running:
        for name, value in environment(running).items():
            monkeypatch.setenv(name, value)
        yield running


def environment(server: Provider) -> dict[str, str]:
    """What makes the providers' SDKs talk to `server`, and to nobody else."""
    return {
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "OPENAI_API_KEY": "none",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "none",
        "LANGSMITH_TRACING": "false",
    }


class Machine(BuiltAgent):
    """An agent with a tool of a kind that is yet to come: any schema, any names."""

    async def call_tool(self, name: str, arguments: Any = None) -> ToolResult:
        if name != MACHINE.name:
            return await super().call_tool(name, arguments)
        if arguments["config"]["depth"] == 13:
            raise RuntimeError("the machine is on fire")
        return ToolResult(f"{name} {sorted(arguments)} {arguments['config']} {arguments['self']}")


MACHINE = ToolDefinition(
    "harbour/dredge.run",
    "Dredge the harbour.",
    {
        "type": "object",
        "properties": {
            "config": {"type": "object", "properties": {"depth": {"type": "number"}}},
            "self": {"type": "array", "items": {"type": "integer"}},
            "run_manager": {"type": "boolean"},
            "ctx": {"type": ["string", "null"]},
        },
        "required": ["config", "self"],
        "$defs": {"unused": {"anyOf": [{"type": "string"}, {"type": "object"}]}},
    },
)
MACHINE_NAME = "harbour_dredge__run"
WORK: dict[str, Any] = {"config": {"depth": 2.5}, "self": [1, 2], "run_manager": True, "ctx": None}
WORKED = "harbour/dredge.run ['config', 'ctx', 'run_manager', 'self'] {'depth': 2.5} [1, 2]"
FIRE: dict[str, Any] = {"config": {"depth": 13}, "self": []}


@pytest.fixture
def machine(shelf: Shelf) -> BuiltAgent:
    agent = shelf.agent()
    return Machine(agent.model, agent.system_prompt, (*agent.tools, MACHINE), agent.engine, agent.observer)
