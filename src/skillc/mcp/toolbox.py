"""Call tools: check the arguments, work in a thread, report progress, end with the client [D33].

Quick tools take turns in one thread, so that one at a time uses their connections; slow ones have threads
of their own, so that a build does not keep anyone from reading.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError

from skillc.errors import unexpected
from skillc.mcp.approval import Approvals, NeedsApproval
from skillc.mcp.resources import refuse_cursor
from skillc.mcp.tools.agent import GATEWAY_TOOLS, LIBRARY_TOOLS, RUN_TOOLS
from skillc.mcp.tools.author import AUTHOR_TOOLS
from skillc.mcp.tools.definition import GROUPS, Answer, Call, ToolDefinition, result_of
from skillc.workspace import Workspace

# Every tool there is. One that needs approval raises `approval.NeedsApproval` until `call.approval` is the
# subject that it asked for.
TOOLS: tuple[ToolDefinition, ...] = (*GATEWAY_TOOLS, *AUTHOR_TOOLS, *LIBRARY_TOOLS, *RUN_TOOLS)

MAX_SLOW = 2  # builds and the like that run beside each other


class Toolbox:
    """The tools of a server: listed, and called by name."""

    def __init__(self, workspace: Workspace, groups: Iterable[str] = GROUPS) -> None:
        self._workspace = workspace
        self._tools = {tool.name: tool for tool in TOOLS if tool.group in set(groups)}
        self.declarations: list[types.Tool] = [tool.declaration for tool in self._tools.values()]
        self._quick = anyio.CapacityLimiter(1)
        self._slow = anyio.CapacityLimiter(MAX_SLOW)
        self._approvals = Approvals()

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """Return a tool's input schema, for the HTTP transport."""
        return next((tool.input_schema for tool in self.declarations if tool.name == name), None)

    async def list(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        refuse_cursor(params)
        return types.ListToolsResult(tools=self.declarations)

    async def call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Call a tool; errors of the operation are results, an unknown tool is the protocol's error."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        call = Call(self._workspace, ctx)
        try:
            return await self._call(tool, call, ctx, params)
        except NeedsApproval as question:  # about something else than what was approved
            return tool.fail(question.refusal, call.lines)
        except Exception as error:
            return tool.fail(unexpected(error), call.lines)

    async def _call(
        self, tool: ToolDefinition, call: Call, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool; where it needs approval, ask and run it again."""
        arguments = tool.check(params.arguments)
        call.approval = self._approvals.approval(ctx, params)
        try:
            return result_of(await self._run(tool, arguments, call), call.lines)
        except NeedsApproval as question:
            answer = await self._approvals.ask(ctx, params, question)
        if isinstance(answer, types.InputRequiredResult):
            return answer
        call.approval = answer
        call.lines.clear()
        return result_of(await self._run(tool, arguments, call), call.lines)

    async def _run(self, tool: ToolDefinition, arguments: dict[str, Any], call: Call) -> Answer:
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
