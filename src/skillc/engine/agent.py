"""Agents: everything a conversation needs of skills, assembled once.

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
from typing import Any

from skillc import paths
from skillc.engine.engine import DefaultSkillEngine, EngineOptions, SkillEngine
from skillc.engine.sync import run_sync
from skillc.engine.tools import RESERVED, TOOLS, OfferedTools, SkillTools, ToolDefinition, ToolResult, Toolset
from skillc.engine.turn import Observer, Turn, prepare_turn, system_prompt
from skillc.errors import SkillNotFound
from skillc.library.repositories import SkillsConfig, resolve_repositories
from skillc.library.sources import SkillSource, require_source
from skillc.skills import SkillId


@dataclass(frozen=True, slots=True)
class AgentBuildConfig:
    """The settings of one agent. `preload_skills`: None or empty means inventory alone.

    `tools`, such as a `skillc.SkillToolset`, lets it run what its skills declare; off without one.
    """

    model: str = ""
    preload_skills: tuple[SkillId, ...] | None = None
    capabilities: frozenset[str] = frozenset()
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    inventory_budget: int | None = None
    tools: Toolset | None = None

    def with_preloaded_skills(self, ids: Iterable[str]) -> AgentBuildConfig:
        """Return the same with these skills in the system prompt from the start; an empty list means none."""
        return replace(self, preload_skills=tuple(SkillId(skill_id) for skill_id in ids) or None)


@dataclass(frozen=True, slots=True)
class BuiltAgent:
    """An agent's skills: its system prompt, its tools, and what to do with each message.

    Tools and turns always work on the skills as they are now. Only `system_prompt` is a snapshot, because
    a prompt that changes in mid conversation costs the model its cache; `is_stale` says when the skills
    have changed, `reload` returns an agent with a current prompt. Both keep the sources; after a change of
    skills.toml, build a new agent.

    If skills are switched off there is no engine, no tool and no prompt, and messages stay as they are.
    """

    model: str
    system_prompt: str
    tools: tuple[ToolDefinition, ...]
    engine: SkillEngine | None
    observer: Observer | None = None
    preload_skills: tuple[SkillId, ...] | None = None
    offered: OfferedTools | None = None

    async def is_stale(self) -> bool:
        """Return whether the system prompt would be another now, or a preloaded skill is gone."""
        try:
            return (await self.reload()) is not self
        except SkillNotFound:
            return True

    async def reload(self) -> BuiltAgent:
        """Return this agent with the skills as they are now; itself if its prompt would be the same.

        Raises SkillNotFound for a preloaded skill that is gone, as `build_agent` does.
        """
        if self.engine is None:
            return self
        prompt = await system_prompt(self.engine, self.preload_skills)
        return self if prompt == self.system_prompt else replace(self, system_prompt=prompt)

    async def prepare_turn(self, message: str, skill_references: Sequence[str] | None = None) -> Turn:
        """Return a user's message as the model should get it."""
        if self.engine is None:
            return Turn(message, (), ())
        return await prepare_turn(self.engine, message, skill_references, self.observer)

    def prepare_turn_sync(self, message: str, skill_references: Sequence[str] | None = None) -> Turn:
        """Do the same as `prepare_turn`, for scripts."""
        return run_sync(self.prepare_turn(message, skill_references))

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Return a tool's result for the model; a failure is a result, too."""
        if self.engine is None:
            return ToolResult(f"unknown tool '{name}'; skills are switched off", is_error=True)
        if self.offered is not None and any(tool.name == name for tool in self.offered.definitions):
            outcome = await self.offered.call(name, arguments or {})
            return ToolResult(outcome.text, outcome.is_error)
        names = tuple(tool.name for tool in self.tools)
        return await SkillTools(self.engine, self.observer, names).call(name, arguments)


class AgentFactory:
    """Builds agents over the configured repositories, or over a source that a program sets.

    A source that is set counts even if the configuration switches skills off. Without one, the
    skills.toml of `project_root` counts; its default is the project around the working directory.
    `store` is for programs that have one; skillc itself does not use it.
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
        """Take skills from here instead of from the configured repositories; TypeError for no source."""
        require_source(source)
        self._source = source
        return self

    def builtins(self, enabled: bool) -> AgentFactory:
        """Set whether agents get the tools for skills; they do by default."""
        self._with_tools = enabled
        return self

    async def build_agent(
        self, build: AgentBuildConfig = AgentBuildConfig(), config: SkillsConfig | None = None
    ) -> BuiltAgent:
        """Build an agent; raises SkillNotFound for a skill to preload that does not exist."""
        settings = config or self._config
        if settings is None:
            settings = SkillsConfig() if self._source is not None else SkillsConfig.load(self._project_root)
        source = self._source
        if source is None:
            if not settings.enabled:
                return BuiltAgent(build.model, "", (), None)
            root = self._project_root or next(paths.library_roots(paths.current_directory()), None)
            source = resolve_repositories(settings, root)
        options = EngineOptions(
            max_injection_bytes=settings.max_injection_bytes,
            inventory_threshold=settings.inventory_threshold,
            inventory_budget=build.inventory_budget,
            capabilities=build.capabilities | frozenset(settings.capabilities),
            allow=build.allow,
            deny=build.deny,
        )
        engine = DefaultSkillEngine(source, options)
        prompt = await system_prompt(engine, build.preload_skills)
        tools = TOOLS if self._with_tools else ()
        offer = await build.tools.offer(engine, RESERVED) if build.tools else None
        for tool in offer.definitions if offer else ():
            tools = (*tools, ToolDefinition(tool.name, tool.description, tool.parameters))
        preload = build.preload_skills or None
        return BuiltAgent(build.model, prompt, tools, engine, self._observer, preload, offer)

    def build_agent_sync(
        self, build: AgentBuildConfig = AgentBuildConfig(), config: SkillsConfig | None = None
    ) -> BuiltAgent:
        """Do the same as `build_agent`, for scripts."""
        return run_sync(self.build_agent(build, config))
