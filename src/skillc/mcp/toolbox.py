"""Calling tools: arguments checked, the work in a thread, progress and cancellation on the way [D33].

Quick tools take turns in one thread, so that their connections are used by one at a time; slow ones
have their own, so that a build keeps nobody from reading.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    Tool,
)

from skillc.errors import SkillcError, unexpected
from skillc.mcp.approval import Asking, NeedsApproval
from skillc.mcp.tools.author import WRITING
from skillc.mcp.tools.definition import GROUPS, Answer, Call, ToolDefinition, failure, result
from skillc.mcp.tools.gateway import READING
from skillc.mcp.tools.library import LIBRARY
from skillc.mcp.tools.run import RUNNING

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from skillc.mcp.workplace import Workplace

# Every tool there is. One that needs approval raises `asking.NeedsApproval` until `call.approved` is the
# subject that it asked for.
CATALOGUE: tuple[ToolDefinition, ...] = (*READING, *WRITING, *LIBRARY, *RUNNING)

BETWEEN_REPORTS = 0.1  # seconds between two reports of progress
SLOW_AT_ONCE = 2  # builds and the like that run beside each other


class _Progress(Call):
    """Reports from the thread that works to the client that waits, and ends the work when that leaves."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        super().__init__()
        self._ctx = ctx
        self._last = 0.0

    def progress(self, done: int, total: int, message: str = "") -> None:
        if self.cancelled.is_set():
            raise SkillcError("cancelled")
        now = time.monotonic()
        if done == total or now - self._last >= BETWEEN_REPORTS:
            self._last = now
            anyio.from_thread.run(self._ctx.session.report_progress, done, total, message)


class Toolbox:
    """The tools of a server: listed, and called by name."""

    def __init__(self, place: Workplace, groups: Iterable[str] = GROUPS) -> None:
        self._place = place
        self._tools = {tool.name: tool for tool in CATALOGUE if tool.group in set(groups)}
        self.declarations: list[Tool] = [tool.declaration() for tool in self._tools.values()]
        self._quick = anyio.CapacityLimiter(1)
        self._slow = anyio.CapacityLimiter(SLOW_AT_ONCE)
        self._asking = Asking()

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """A tool's input schema, for the HTTP transport."""
        return next((tool.input_schema for tool in self.declarations if tool.name == name), None)

    async def list(self, ctx: ServerRequestContext[Any, Any], params: Any) -> ListToolsResult:
        return ListToolsResult(tools=self.declarations)

    async def call(
        self, ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; errors of the operation are results, an unknown tool is the protocol's."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        try:
            return await self._answer(tool, ctx, params)
        except NeedsApproval as wanted:  # for something else than what was approved
            return failure(wanted.refusal)
        except SkillcError as error:
            return failure(error)
        except Exception as error:
            return failure(unexpected(error))

    async def _answer(
        self, tool: ToolDefinition, ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """What a tool brings; where it needs approval, what that brings."""
        given = tool.arguments(params.arguments)
        try:
            return result(await self._run(tool, given, ctx, self._asking.granted(params)))
        except NeedsApproval as wanted:
            asked = await self._asking.ask(ctx, params, wanted)
        if isinstance(asked, InputRequiredResult):
            return asked
        return result(await self._run(tool, given, ctx, asked))

    async def _run(
        self,
        tool: ToolDefinition,
        given: dict[str, Any],
        ctx: ServerRequestContext[Any, Any],
        approved: str | None,
    ) -> Answer:
        call = _Progress(ctx)
        call.approved = approved
        if inspect.iscoroutinefunction(tool.run):
            answer: Answer = await tool.run(self._place, given, call)
            return answer
        work = partial(tool.run, self._place, given, call)
        limiter = self._slow if tool.slow else self._quick
        try:
            found = await anyio.to_thread.run_sync(work, abandon_on_cancel=tool.slow, limiter=limiter)
        except BaseException:
            call.cancelled.set()
            raise
        assert isinstance(found, Answer)
        return found
