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
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import Future, TimeoutError as FutureTimeout
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from skillc import paths, tools
from skillc.engine import ToolDefinition, ToolResult
from skillc.errors import SkillcError, SkillNotFound, unexpected
from skillc.library.sources import CompositeSkillSource, snapshot_of
from skillc.skills.tools import MODES
from skillc.usage import run_logged

if TYPE_CHECKING:
    from skillc.engine import DefaultSkillEngine
    from skillc.library.sources import SkillDescriptor, SourceSnapshot

    ApproveCallback = Callable[[tools.ApprovalRequest], bool | Awaitable[bool]]

logger = logging.getLogger("skillc.tools")

POLL = 0.2  # seconds between checks whether a call with an open question was cancelled


@dataclass(eq=False)
class SkillToolset:
    """The tools of its skills that an agent may run.

    `approve` is asked about every run that no decision covers; without it only what was allowed before
    runs. `skills` are the IDs whose tools are offered, all without it.
    """

    approve: ApproveCallback | None = None
    _: KW_ONLY
    mode: str = "Global"
    skills: Collection[str] | None = None
    cwd: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ValueError(f"mode must be {', '.join(MODES)}, not {self.mode!r}")

    async def offer(self, skills: DefaultSkillEngine, reserved: Collection[str] = ()) -> AgentTools:
        """Return the tools of an agent's skills; one with an invalid definition is skipped and logged."""
        offers: list[tuple[tools.SkillLocation, tools.Tool]] = []
        now = skills.snapshot()
        for descriptor in await now.list_skills():
            if self.skills is not None and descriptor.id not in self.skills:
                continue
            try:
                location = await _locate(snapshot_of(now.source), descriptor)
                skill = await asyncio.to_thread(tools.load_executable, location.directory, location.skill_id)
            except (SkillcError, OSError) as error:
                if not isinstance(error, SkillNotFound):  # without a folder there is nothing to run
                    logger.warning("no tools of '%s': %s", descriptor.id, unexpected(error).message)
                continue
            offers += [(location, tool) for tool in skill.tools if tool.skill.offered_in(self.mode)]
        names = tools.function_names([tool for _, tool in offers], reserved)
        return AgentTools(self, {names[tool.qualified]: (location, tool) for location, tool in offers})


async def _locate(snapshot: SourceSnapshot, descriptor: SkillDescriptor) -> tools.SkillLocation:
    """Return the folder of a skill and its trust level; raises SkillNotFound without a folder."""
    source, repository = snapshot.origin, descriptor.source_name
    if isinstance(source, CompositeSkillSource):  # trust depends on the repository that gives the folder
        repository = (await snapshot.load(descriptor.id)).descriptor.source_name
        source = next(member.source for member in source.sources if member.name == repository)
    directory = await snapshot.directory(descriptor.id)
    if directory is None:
        raise SkillNotFound(descriptor.id, "it is in no folder")
    return tools.locate_in_source(descriptor.id, os.path.realpath(directory), source, repository)


class AgentTools:
    """The tools of skills that one agent has, by the names it knows them by."""

    def __init__(
        self, toolset: SkillToolset, offers: Mapping[str, tuple[tools.SkillLocation, tools.Tool]]
    ) -> None:
        self._toolset = toolset
        self._tools = offers
        self.definitions = tuple(
            ToolDefinition(name, tools.describe_tool(tool), tools.tool_schema(tool))
            for name, (_, tool) in offers.items()
        )

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Run a tool and return its envelope as JSON; a failure is a result, never an exception."""
        if name not in self._tools:
            return ToolResult(f"unknown tool '{name}'", is_error=True)
        (location, tool), toolset = self._tools[name], self._toolset
        cancel = threading.Event()
        try:
            cwd = toolset.cwd or paths.current_directory()
            call = tools.ToolCall(location, tool.name, arguments, cwd, toolset.mode)
            result = await asyncio.to_thread(_run, call, self._approver(cancel), cancel)
        except asyncio.CancelledError:
            cancel.set()  # the thread ends the command, and then itself
            raise
        except Exception as error:
            failure = unexpected(error)
            envelope = tools.Envelope.of_error(failure)  # of a run that never started [D55]
            return _result(envelope) if envelope else ToolResult(failure.line(), is_error=True)
        assert result.envelope is not None  # it was no dry run
        return _result(result.envelope)

    def _approver(self, cancel: threading.Event) -> tools.Approve | None:
        """Return the builder's callback, to be called from the thread that runs the tool."""
        callback = self._toolset.approve
        if callback is None:
            return None
        loop = asyncio.get_running_loop()

        def approve(request: tools.ApprovalRequest) -> tools.Answer:
            answer = callback(request)
            if not isinstance(answer, bool):
                answer = _wait_for(answer, loop, cancel)
            return tools.Answer.ONCE if answer is True else tools.Answer.NO

        return approve


def _result(envelope: tools.Envelope) -> ToolResult:
    return ToolResult(json.dumps(envelope.as_json(), ensure_ascii=False), is_error=not envelope.success)


def _run(call: tools.ToolCall, approve: tools.Approve | None, cancel: threading.Event) -> tools.RunResult:
    """Run a tool from the files as they are now, not as they were when the agent was built; log it."""
    result, diagnostics = run_logged(
        call.skill.library_skill(),
        "run",
        {"tool": call.tool, "mode": call.mode, "dry_run": False},
        call.cwd,
        lambda: tools.run_tool(call, approve, cancel=cancel),
        lambda result: {"success": result.success},
    )
    for diagnostic in diagnostics:
        logger.warning("%s", diagnostic.line())
    return result


def _wait_for(answer: Awaitable[bool], loop: asyncio.AbstractEventLoop, cancel: threading.Event) -> bool:
    """Wait for an answer that comes from the loop; it is no if the call is cancelled meanwhile."""

    async def wait() -> bool:
        return await answer

    future: Future[bool] = asyncio.run_coroutine_threadsafe(wait(), loop)
    while True:
        try:
            return future.result(POLL)
        except FutureTimeout:
            if future.done():  # a time-out of the callback's own
                raise
            if cancel.is_set():
                future.cancel()
                return False
