"""The tools of skills for an agent: offered under names of their own, each call approved like any run.

toolset = SkillToolset(approve=lambda request: input(request.text()) == "y")
agent = await AgentFactory().build_agent(AgentBuildConfig(tools=toolset))
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, TimeoutError as NotYet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from skillc import paths
from skillc.errors import SkillcError, SkillNotFound, unexpected
from skillc.library import CompositeSkillSource
from skillc.skills.tools.definition import MODES
from skillc.tools.approval import Answer, ApprovalRequest
from skillc.tools.origin import FoundSkill, of_library, of_source
from skillc.tools.policy import in_mode
from skillc.tools.run import Approve, prepare, run_tool
from skillc.tools.schemas import function_names, tool_schema, tool_words
from skillc.tools.skill import Tool, load_executable
from skillc.tools.trust import TrustStore
from skillc.usage.log import logged

if TYPE_CHECKING:
    from skillc.library import SkillDescriptor, SkillSource
    from skillc.tools.envelope import Envelope
    from skillc.usage.log import Value

    AskPerson = Callable[[ApprovalRequest], bool | Awaitable[bool]]

log = logging.getLogger("skillc.tools")

WAIT = 0.2  # seconds between looks at whether an open question was called off


class Skills(Protocol):
    """The skills of an agent, as its engine has them."""

    @property
    def source(self) -> SkillSource: ...

    async def list_skills(self) -> Sequence[SkillDescriptor]: ...


@dataclass(frozen=True, slots=True)
class AgentTool:
    """A tool as a model sees it."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What a call returns to the model: the envelope as JSON, or why there is none."""

    text: str
    is_error: bool = False


class SkillToolset:
    """What an agent may run of its skills' tools.

    `approve` is asked about every run that is not settled; without it only what was allowed before
    runs. `skills` are the IDs whose tools are offered, all without it.
    """

    def __init__(
        self,
        approve: AskPerson | None = None,
        *,
        mode: str = "Global",
        skills: Collection[str] | None = None,
        cwd: str | None = None,
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"mode must be {', '.join(MODES)}, not {mode!r}")
        self.approve = approve
        self.mode = mode
        self.skills = skills
        self.cwd = cwd

    async def offer(self, skills: Skills, reserved: Collection[str] = ()) -> AgentTools:
        """The tools of an agent's skills. A skill whose definition has a fault is left out, and logged."""
        offered: list[tuple[FoundSkill, Tool]] = []
        for descriptor in await skills.list_skills():
            if self.skills is not None and descriptor.id not in self.skills:
                continue
            try:
                found = await _located(skills.source, descriptor)
                loaded = await asyncio.to_thread(load_executable, found.directory, found.skill_id)
            except (SkillcError, OSError) as error:
                if not isinstance(error, SkillNotFound):  # not in a folder: it has nothing to run
                    log.warning("no tools of '%s': %s", descriptor.id, unexpected(error).message)
                continue
            offered += [(found, tool) for tool in in_mode(loaded.tools, self.mode)]
        names = function_names([tool for _, tool in offered], reserved)
        return AgentTools(self, {names[tool.qualified]: (found, tool) for found, tool in offered})


async def _located(source: SkillSource, descriptor: SkillDescriptor) -> FoundSkill:
    """The folder of a skill and how far it is to be trusted; raises SkillNotFound without one."""
    if isinstance(source, CompositeSkillSource):
        return await of_library(source, descriptor.id)
    locate = getattr(source, "directory", None)
    directory = await locate(descriptor.id) if locate else None
    if directory is None:
        raise SkillNotFound(descriptor.id, "it is in no folder")
    return of_source(descriptor.id, os.path.realpath(directory), source, descriptor.source_name)


class AgentTools:
    """The tools that one agent was given, by the names it knows them by."""

    def __init__(self, toolset: SkillToolset, tools: Mapping[str, tuple[FoundSkill, Tool]]) -> None:
        self._toolset = toolset
        self._tools = tools
        self.definitions = tuple(
            AgentTool(name, tool_words(tool), tool_schema(tool)) for name, (_, tool) in tools.items()
        )

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Result:
        """Run a tool, approved like any run; a failure is a result, never an exception."""
        if name not in self._tools:
            return Result(f"unknown tool '{name}'", is_error=True)
        found, tool = self._tools[name]
        cancel = threading.Event()
        ask = self._asking(cancel)
        try:
            envelope = await asyncio.to_thread(self._run, found, tool, arguments, ask, cancel)
        except asyncio.CancelledError:
            cancel.set()  # the thread ends the command, and then itself
            raise
        except SkillcError as error:
            return Result(error.line(), is_error=True)
        except Exception as error:
            return Result(unexpected(error).line(), is_error=True)
        return Result(json.dumps(envelope.as_json(), ensure_ascii=False), is_error=not envelope.success)

    def _run(
        self,
        found: FoundSkill,
        tool: Tool,
        arguments: Mapping[str, Any],
        ask: Approve | None,
        cancel: threading.Event,
    ) -> Envelope:
        """Everything from the files as they are now; what was read when the agent was built may be old."""
        cwd = self._toolset.cwd or paths.current_directory()
        mode = self._toolset.mode

        def operation() -> Envelope:
            prepared = prepare(found, tool.name, arguments, mode=mode, cwd=cwd)
            return run_tool(prepared, ask, store=TrustStore(), cancel=cancel)

        noted: dict[str, Value] = {"tool": tool.name, "mode": mode, "dry_run": False}
        envelope, noticed = logged(
            found.stored(), "run", noted, cwd, operation, lambda done: {"success": done.success}
        )
        for diagnostic in noticed:
            log.warning("%s", diagnostic.line())
        return envelope

    def _asking(self, cancel: threading.Event) -> Approve | None:
        """The builder's question, to be put from the thread that runs the tool."""
        approve = self._toolset.approve
        if approve is None:
            return None
        loop = asyncio.get_running_loop()

        def ask(request: ApprovalRequest) -> Answer:
            said = approve(request)
            if not isinstance(said, bool):
                said = _awaited(said, loop, cancel)
            return Answer.ONCE if said is True else Answer.NO

        return ask


def _awaited(answer: Awaitable[bool], loop: asyncio.AbstractEventLoop, cancel: threading.Event) -> bool:
    """An answer that is given in the loop; no, if the call is called off meanwhile."""

    async def wait() -> bool:
        return await answer

    future: Future[bool] = asyncio.run_coroutine_threadsafe(wait(), loop)
    while True:
        try:
            return future.result(WAIT)
        except NotYet:
            if future.done():  # the person's own time-out
                raise
            if cancel.is_set():
                future.cancel()
                return False
