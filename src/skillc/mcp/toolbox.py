"""Call tools: check the arguments, work in a thread, report progress, end with the client [D33].

Quick tools take turns in one thread, so that one at a time uses their connections; slow ones have threads
of their own, so that a build does not keep anyone from reading.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
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
from skillc.mcp.tools.definition import Answer, Request, ToolDefinition, result_of

MAX_SLOW = 2  # builds and the like that run beside each other


class Toolbox:
    """The tools of a server: listed, and called by name.

    A tool gets what `make_request` makes. One that needs approval raises `NeedsApproval` until the request's
    `approval` is the subject that it asked for.
    """

    def __init__(self, tools: Iterable[ToolDefinition], make_request: Callable[[Context], Request]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._make_request = make_request
        self._quick = anyio.CapacityLimiter(1)
        self._slow = anyio.CapacityLimiter(MAX_SLOW)
        self._approvals = Approvals()

    def handlers(self) -> dict[str, Any]:
        """Return what the SDK's server is given for tools."""
        names = {"on_list_tools": self._list, "on_call_tool": self._call}
        return names | {"get_tool_input_schema": self._input_schema}

    def _input_schema(self, name: str) -> dict[str, Any] | None:
        """Return a tool's input schema, for the HTTP transport."""
        return self._tools[name].declaration.input_schema if name in self._tools else None

    async def _list(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        refuse_cursor(params)
        return types.ListToolsResult(tools=[tool.declaration for tool in self._tools.values()])

    async def _call(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Call a tool; errors of the operation are results, an unknown tool is the protocol's error."""
        tool = self._tools.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        request = self._make_request(ctx)
        try:
            return await self._answer(tool, request, params)
        except NeedsApproval as question:  # about something else than what was approved
            return tool.fail(question.refusal, request.lines)
        except Exception as error:
            return tool.fail(unexpected(error), request.lines)

    async def _answer(
        self, tool: ToolDefinition, request: Request, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a tool; where it needs approval, ask and run it again."""
        arguments = tool.check(params.arguments)
        request.approval = self._approvals.approval(request.ctx, params)
        try:
            return result_of(await self._run(tool, arguments, request), request.lines)
        except NeedsApproval as question:
            answer = await self._approvals.ask(request.ctx, params, question)
        if isinstance(answer, types.InputRequiredResult):
            return answer
        request.approval = answer
        request.lines.clear()
        return result_of(await self._run(tool, arguments, request), request.lines)

    async def _run(self, tool: ToolDefinition, arguments: dict[str, Any], request: Request) -> Answer:
        if inspect.iscoroutinefunction(tool.run):
            answer: Answer = await tool.run(request, **arguments)
            return answer
        work = partial(tool.run, request, **arguments)
        limiter = self._slow if tool.slow else self._quick
        try:
            result = await anyio.to_thread.run_sync(work, abandon_on_cancel=tool.slow, limiter=limiter)
        except anyio.get_cancelled_exc_class():
            request.cancel.set()  # the thread goes on until the tool notices
            raise
        assert isinstance(result, Answer)
        return result
