"""Agents: everything a conversation needs of skills, put together once.

factory = AgentFactory().skill_source(FilesystemSkillSource("skills"))
agent = await factory.build_agent(AgentBuildConfig("my-model").with_preloaded_skills(["pdf"]))
agent.system_prompt, agent.tools                # for the model
await agent.prepare_turn("/pdf fill this in")   # each user message
await agent.call_tool("load_skill", {"id": "pdf"})
if await agent.is_stale():                      # whenever a new prompt is worth its price
    agent = await agent.reload()
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skillc import paths
from skillc.engine.engine import DefaultSkillEngine, EngineOptions
from skillc.engine.prompts import system_prompt
from skillc.engine.sync import run_sync
from skillc.engine.tools import RESERVED, TOOLS, SkillTools, ToolDefinition, ToolResult
from skillc.engine.turn import Observer, Turn, prepare_turn
from skillc.errors import SkillNotFound
from skillc.library.config import SkillsConfig
from skillc.library.repositories import resolve_repositories
from skillc.skills import SkillId

if TYPE_CHECKING:
    from skillc.engine.toolsets import OfferedTools, Toolset
    from skillc.library.source import SkillSource


@dataclass(frozen=True, slots=True)
class AgentBuildConfig:
    """What one agent is to be. `preload_skills`: None or empty means inventory alone.

    `tools` lets it run what its skills declare, such as a `skillc.SkillToolset`; off without one.
    """

    model: str = ""
    preload_skills: tuple[SkillId, ...] | None = None
    capabilities: frozenset[str] = frozenset()
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    inventory_budget: int | None = None
    tools: Toolset | None = None

    def with_preloaded_skills(self, ids: Iterable[str]) -> AgentBuildConfig:
        """The same with these skills in the system prompt from the start; none at all is None."""
        return replace(self, preload_skills=tuple(SkillId(skill_id) for skill_id in ids) or None)


@dataclass(frozen=True, slots=True)
class BuiltAgent:
    """An agent's skills: its system prompt, its tools, and what to do with each message.

    Tools and turns always work on the skills as they are now: one that is new, changed or gone is so
    at the next call. `system_prompt` alone is a snapshot, because a prompt that changes in mid
    conversation costs the model its cache; `is_stale` says when the skills have moved on, `reload`
    gives an agent with a prompt of today. Both keep the sources; for a changed skills.toml, build anew.

    Where skills are switched off there is no engine, no tool and no prompt, and messages stay as they are.
    """

    model: str
    system_prompt: str
    tools: tuple[ToolDefinition, ...]
    engine: DefaultSkillEngine | None
    observer: Observer | None = None
    preload_skills: tuple[SkillId, ...] | None = None
    offered: OfferedTools | None = None

    async def is_stale(self) -> bool:
        """Whether the system prompt would be another now; also where a preloaded skill is gone."""
        try:
            return (await self.reload()) is not self
        except SkillNotFound:
            return True

    async def reload(self) -> BuiltAgent:
        """This agent with the skills as they are now; itself where its prompt would be the same.

        A preloaded skill that is gone is raised, as it is by `build_agent`.
        """
        if self.engine is None:
            return self
        prompt = await system_prompt(self.engine, self.preload_skills)
        return self if prompt == self.system_prompt else replace(self, system_prompt=prompt)

    async def prepare_turn(self, message: str, skill_references: Sequence[str] | None = None) -> Turn:
        """A user's message as the model should get it."""
        if self.engine is None:
            return Turn(message, (), ())
        return await prepare_turn(self.engine, message, skill_references, self.observer)

    def prepare_turn_sync(self, message: str, skill_references: Sequence[str] | None = None) -> Turn:
        """`prepare_turn` for scripts."""
        return run_sync(self.prepare_turn(message, skill_references))

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """What a tool returns to the model; failures are results, too."""
        if self.engine is None:
            return ToolResult(f"unknown tool '{name}'; skills are switched off", is_error=True)
        if self.offered is not None and any(tool.name == name for tool in self.offered.definitions):
            outcome = await self.offered.call(name, arguments or {})
            return ToolResult(outcome.text, outcome.is_error)
        known = tuple(tool.name for tool in self.tools)
        return await SkillTools(self.engine, self.observer, known).call(name, arguments)


class AgentFactory:
    """Builds agents over the configured repositories, or over a source that a program sets.

    A source that is set counts even where the configuration switches skills off. Without one, the
    skills.toml of `project_root` counts, which is the project around the working directory unless it
    is given. `store` is kept for programs that have one; skillc itself needs none.
    """

    def __init__(
        self,
        store: str | os.PathLike[str] = "",
        *,
        config: SkillsConfig | None = None,
        project_root: str | os.PathLike[str] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.store = store
        self._config = config
        self._project_root = os.fspath(project_root) if project_root else None
        self._observer = observer
        self._source: SkillSource | None = None
        self._with_tools = True

    def skill_source(self, source: SkillSource) -> AgentFactory:
        """Take skills from here instead of from the configured repositories."""
        self._source = source
        return self

    def builtins(self, enabled: bool) -> AgentFactory:
        """Whether agents get the tools for skills; they do unless this says no."""
        self._with_tools = enabled
        return self

    async def build_agent(
        self,
        build: AgentBuildConfig = AgentBuildConfig(),
        config: SkillsConfig | None = None,
    ) -> BuiltAgent:
        """Put an agent together; a skill to preload that is not there is raised."""
        settings = config or self._config or self._settings()
        if self._source is None and not settings.enabled:
            return BuiltAgent(build.model, "", (), None)
        engine = DefaultSkillEngine(self._source or self._repositories(settings), _options(build, settings))
        prompt = await system_prompt(engine, build.preload_skills)
        tools = TOOLS if self._with_tools else ()
        offered = await build.tools.offer(engine, RESERVED) if build.tools else None
        for tool in offered.definitions if offered else ():
            tools = (*tools, ToolDefinition(tool.name, tool.description, tool.parameters))
        preload = build.preload_skills or None
        return BuiltAgent(build.model, prompt, tools, engine, self._observer, preload, offered)

    def _settings(self) -> SkillsConfig:
        """The configured ones; a source of one's own does without."""
        return SkillsConfig() if self._source is not None else SkillsConfig.load(self._project_root)

    def _repositories(self, settings: SkillsConfig) -> SkillSource:
        root = self._project_root or next(paths.library_roots(paths.current_directory()), None)
        return resolve_repositories(settings, root)

    def build_agent_sync(
        self, build: AgentBuildConfig = AgentBuildConfig(), config: SkillsConfig | None = None
    ) -> BuiltAgent:
        """`build_agent` for scripts."""
        return run_sync(self.build_agent(build, config))


def _options(build: AgentBuildConfig, settings: SkillsConfig) -> EngineOptions:
    return EngineOptions(
        max_injection_bytes=settings.max_injection_bytes,
        inventory_threshold=settings.inventory_threshold,
        inventory_budget=build.inventory_budget,
        capabilities=build.capabilities,
        allow=build.allow,
        deny=build.deny,
    )
