"""Run the SDK's server over stdin and stdout, behind an opening that may have answered its first requests."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from io import BytesIO, TextIOWrapper
from types import TracebackType
from typing import Any

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from skillc.mcp.opening import DROP, NOTIFY, Opening
from skillc.startup import collect_often

_CHANGED = JSONRPCNotification(jsonrpc="2.0", method="notifications/resources/list_changed")


def run_server(server: Server[Any], opening: Opening) -> None:
    """Serve until the client leaves, from the first line of its opening on."""
    # End at once: the thread that reads stdin would hold up an orderly end until the next line. Files are
    # written whole or not at all, so any moment is a good one.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a parent may have it ignored
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    collect_often()
    anyio.run(_run, server, opening)


async def _run(server: Server[Any], opening: Opening) -> None:
    async with stdio_server() as (read, write), anyio.create_task_group() as group:
        lines, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

        async def relay() -> None:
            async with lines:
                async for item in _receive(read, opening):
                    if isinstance(item, Exception):
                        refusal = _refuse_line(item)
                        await (write.send(SessionMessage(refusal)) if refusal else lines.send(item))
                        continue
                    if isinstance(item.message, JSONRPCRequest):
                        opening.ask(item.message.model_dump(exclude_unset=True))
                    await lines.send(item)

        group.start_soon(relay)
        await server.run(messages, _Answers(write, opening), server.create_initialization_options())


async def _receive(
    read: ReadStream[SessionMessage | Exception], opening: Opening
) -> AsyncIterator[SessionMessage | Exception]:
    """Yield what a client sends, from the first line on, as the SDK reads it."""
    for line in TextIOWrapper(BytesIO(opening.read), "utf-8", "replace"):
        try:
            yield SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValidationError as error:
            yield error
    async for item in read:
        yield item


class _Answers:
    """What the server sends; for an answer that the client has, nothing or that resources changed."""

    def __init__(self, write: WriteStream[SessionMessage], opening: Opening) -> None:
        self._write, self._opening = write, opening

    async def send(self, item: SessionMessage, /) -> None:
        answer = item.message
        if isinstance(answer, JSONRPCResponse | JSONRPCError):
            result = answer.result if isinstance(answer, JSONRPCResponse) else None
            todo = self._opening.settle(answer.id, result)
            if todo == DROP:
                return
            if todo == NOTIFY:
                item = SessionMessage(_CHANGED)
        await self._write.send(item)

    async def aclose(self) -> None:
        await self._write.aclose()

    async def __aenter__(self) -> _Answers:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


def _refuse_line(error: Exception) -> JSONRPCError | None:
    """Return the answer to a line that is no message, which the SDK skips; None for an empty one."""
    code, text = INVALID_REQUEST, "the line is no message of JSON-RPC"
    if isinstance(error, ValidationError):
        fault = error.errors(include_url=False)[0]
        if fault["input"] in ("\n", "\r\n"):
            return None
        if fault["type"] == "json_invalid":
            code, text = PARSE_ERROR, "the line is no JSON"
    return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=text))
