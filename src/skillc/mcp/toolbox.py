"""Call tools: check the arguments, work in a thread, report progress, end with the client [D33].

Quick tools take turns in one thread, so that one at a time uses their connections; slow ones have threads
of their own, so that a build does not keep anyone from reading.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterable
from functools import partial
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp.server.context import ServerRequestContext
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
from skillc.mcp.approval import Approvals, NeedsApproval
from skillc.mcp.tools.author import AUTHOR_TOOLS
from skillc.mcp.tools.definition import GROUPS, Answer, Call, ToolDefinition, failure, result_of
from skillc.mcp.tools.gateway import GATEWAY_TOOLS
from skillc.mcp.tools.library import LIBRARY_TOOLS
from skillc.mcp.tools.run import RUN_TOOLS
from skillc.workspace import Workspace

# Every tool there is. One that needs approval raises `approval.NeedsApproval` until `call.approval` is the
# subject that it asked for.
TOOLS: tuple[ToolDefinition, ...] = (*GATEWAY_TOOLS, *AUTHOR_TOOLS, *LIBRARY_TOOLS, *RUN_TOOLS)

REPORT_INTERVAL = 0.1  # seconds between two reports of progress
MAX_SLOW = 2  # builds and the like that run beside each other


class _Call(Call):
    """A call whose progress reaches the client, and which ends when the client leaves."""

    def __init__(self, workspace: Workspace, ctx: ServerRequestContext) -> None:
        super().__init__(workspace)
        self._ctx = ctx
        self._last = 0.0

    def progress(self, count: int, total: int, message: str = "") -> None:
        if self.cancel.is_set():
            raise SkillcError("cancelled")
        now = time.monotonic()
        if count == total or now - self._last >= REPORT_INTERVAL:
            self._last = now
            anyio.from_thread.run(self._ctx.session.report_progress, count, total, message)


class Toolbox:
    """The tools of a server: listed, and called by name."""

    def __init__(self, workspace: Workspace, groups: Iterable[str] = GROUPS) -> None:
        self._workspace = workspace
        self._tools = {tool.name: tool for tool in TOOLS if tool.group in set(groups)}
        self.declarations: list[Tool] = [tool.declaration for tool in self._tools.values()]
        self._quick = anyio.CapacityLimiter(1)
        self._slow = anyio.CapacityLimiter(MAX_SLOW)
        self._approvals = Approvals()

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """Return a tool's input schema, for the HTTP transport."""
        return next((tool.input_schema for tool in self.declarations if tool.name == name), None)

    async def list(self, ctx: ServerRequestContext, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=self.declarations)

    async def call(
        self, ctx: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool; errors of the operation are results, an unknown tool is the protocol's error."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(INVALID_PARAMS, f"Unknown tool: {params.name}")
        call = _Call(self._workspace, ctx)
        try:
            return await self._call(tool, call, ctx, params)
        except NeedsApproval as question:  # about something else than what was approved
            return failure(question.refusal, call.lines)
        except SkillcError as error:
            return failure(error, call.lines)
        except Exception as error:
            return failure(unexpected(error), call.lines)

    async def _call(
        self, tool: ToolDefinition, call: _Call, ctx: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        """Run a tool; where it needs approval, ask and run it again."""
        arguments = tool.check(params.arguments)
        call.approval = self._approvals.approval(params)
        try:
            return result_of(await self._run(tool, arguments, call), call.lines)
        except NeedsApproval as question:
            answer = await self._approvals.ask(ctx, params, question)
        if isinstance(answer, InputRequiredResult):
            return answer
        call.approval = answer
        call.lines.clear()
        return result_of(await self._run(tool, arguments, call), call.lines)

    async def _run(self, tool: ToolDefinition, arguments: dict[str, Any], call: _Call) -> Answer:
        if inspect.iscoroutinefunction(tool.run):
            answer: Answer = await tool.run(call, **arguments)
            return answer
        work = partial(tool.run, call, **arguments)
        limiter = self._slow if tool.slow else self._quick
        try:
            result = await anyio.to_thread.run_sync(work, abandon_on_cancel=tool.slow, limiter=limiter)
        except anyio.get_cancelled_exc_class():
            call.cancel.set()  # the thread goes on until the tool notices
            raise
        assert isinstance(result, Answer)
        return result
