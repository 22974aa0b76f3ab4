"""Ask another server for its skills through the MCP SDK, bounded in pages, bytes and time.

A connection is made for one conversation and closed after it. A process that was started is ended with all
its children, also where ours leaves during the conversation, and its stderr is not shown.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import anyio
import httpx2
import mcp_types as types
from anyio.abc import Process
from mcp import Client
from mcp.client.extension import advertise
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ConfigDict, ValidationError

from skillc.errors import SkillcError
from skillc.remotes.http import private_logs
from skillc.remotes.mcp.entries import McpRefusal, McpServer, verify_file
from skillc.remotes.protocol import Failure, RemoteFile
from skillc.startup import LAST_ACTS
from skillc.text import one_line

EXTENSION = "io.modelcontextprotocol/skills"
MAX_PAGES = 200
MAX_SKILLS = 5000
MAX_MESSAGE = 32 << 20  # bytes of one message: a file of 16 MiB in base64, and some more
GRACE = 1.0  # seconds that a process has to end after its stdin is closed
READ_TIME_OUT = 30.0  # seconds in which data must arrive over HTTP

Answer = TypeVar("Answer")

# The processes of conversations that are going on.
_processes: set[Process] = set()


class _Faults:
    """Errors below the protocol, which sees them only as an end of the connection."""

    refusal = ""  # the server sent what is not accepted
    outage = ""  # the server could not be reached


class _Result(types.Result):
    model_config = ConfigDict(extra="allow")


class _Request(types.Request[dict[str, Any], str]):
    method: str
    params: dict[str, Any]


def talk(server: McpServer, question: Callable[[Skills], Awaitable[Answer]], time_out: float) -> Answer:
    """Connect, ask, disconnect; raises Failure, or McpRefusal. Call it in a thread of its own."""
    faults = _Faults()

    async def run() -> Answer:
        async with asyncio.timeout(time_out):
            transport = _over_stdio(server, faults) if server.command else _over_http(server, faults)
            async with Client(transport, mode="auto", extensions=[advertise(EXTENSION)]) as client:
                return await question(Skills(client))

    try:
        return asyncio.run(run())
    except BaseException as error:
        cause = error
    # Raised outside the handler: the libraries' errors, which may show what was sent, must not be a context.
    while isinstance(cause, BaseExceptionGroup):  # put around it by tasks
        cause = cause.exceptions[0]
    if isinstance(cause, SkillcError) or not isinstance(cause, Exception):
        raise cause from None
    if isinstance(cause, Failure):
        cause.__context__ = None
        raise cause
    if faults.refusal:
        raise McpRefusal(faults.refusal)
    raise Failure(server.hide(faults.outage or _explain(cause, time_out)))


def _explain(error: Exception, time_out: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no whole answer in {time_out:g} s"
    if isinstance(error, MCPError):
        return f"the server says: {one_line(error.error.message)[:200]} ({error.error.code})"
    if isinstance(error, ValidationError):
        return "an answer is not what the protocol asks for"
    if isinstance(error, FileNotFoundError | PermissionError):
        return f"its command can't be started: {error.strerror}"
    if isinstance(error, httpx2.HTTPError | OSError):
        return "no connection"
    return type(error).__name__


class Skills:
    """A server's skills during one conversation. It bounds their number; `entries` checks each of them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        capabilities = client.session.server_capabilities
        if not capabilities or EXTENSION not in (capabilities.extensions or {}) or not capabilities.resources:
            raise Failure("the server does not declare skills (it must speak MCP 2026-07-28)")

    async def list(self) -> list[Any]:
        """Return all entries, page by page; raise McpRefusal for a list without an end."""
        entries: list[Any] = []
        cursors: set[str] = set()
        params: dict[str, str] = {}
        for _ in range(MAX_PAGES):
            page = await self._request("skills/list", params)
            skills = page.get("skills")
            if not isinstance(skills, list):
                raise McpRefusal("the server's list of skills is none")
            entries += skills
            if len(entries) > MAX_SKILLS:
                raise McpRefusal(f"the server lists more than {MAX_SKILLS} skills")
            cursor = page.get("nextCursor")
            if cursor is None:
                return entries
            if not isinstance(cursor, str) or cursor in cursors:
                raise McpRefusal("the server's list of skills goes in circles")
            cursors.add(cursor)
            params = {"cursor": cursor}
        raise McpRefusal(f"the server's list of skills has more than {MAX_PAGES} pages")

    async def get(self, uri: str) -> Any:
        """Return one entry; None where the server has no such skill."""
        try:
            return (await self._request("skills/get", {"uri": uri})).get("skill")
        except MCPError as error:
            if error.error.code in (types.INVALID_PARAMS, types.METHOD_NOT_FOUND):
                return None
            raise

    async def read(self, files: Iterable[RemoteFile]) -> AsyncIterator[tuple[RemoteFile, bytes]]:
        """Yield the bytes of files, each verified."""
        for file in files:
            result = await self._request("resources/read", {"uri": file.uri})
            data = _decode(result.get("contents"), file)
            verify_file(file, data)
            yield file, data

    async def _request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        result = await self._client.session.send_request(_Request(method=method, params=params), _Result)
        return result.model_dump(by_alias=True)


def _decode(contents: Any, file: RemoteFile) -> bytes:
    """Return the bytes of the one content that was requested."""
    if not isinstance(contents, list) or len(contents) != 1 or not isinstance(contents[0], dict):
        raise McpRefusal(f"'{file.path}' was not sent as one file")
    [content] = contents
    if content.get("uri") != file.uri:
        raise McpRefusal(f"'{file.path}' was asked for, and another file was sent")
    text, blob = content.get("text"), content.get("blob")
    try:
        if isinstance(text, str):
            return text.encode()
        return base64.b64decode(blob if isinstance(blob, str) else "", validate=True)
    except ValueError:
        raise McpRefusal(f"'{file.path}' can't be decoded") from None


@asynccontextmanager
async def _over_stdio(server: McpServer, faults: _Faults) -> AsyncIterator[tuple[Any, Any]]:
    """Start a process, with the variables that every program needs and no others, and connect to it."""
    process = await anyio.open_process(
        list(server.command),
        env=get_default_environment() | dict(server.environment),
        cwd=server.cwd,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _processes.add(process)
    to_session, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_receive, process, to_session, faults)
            tasks.start_soon(_send, process, from_session)
            try:
                yield read_stream, write_stream
            finally:
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
        for stream in (to_session, read_stream, write_stream, from_session):
            stream.close()


async def _receive(process: Process, to_session: Any, faults: _Faults) -> None:
    """Pass each line to the session as a message; skip what is none, such as a server's log."""
    buffer = bytearray()
    assert process.stdout is not None
    async with to_session:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
            async for chunk in process.stdout:
                *lines, rest = chunk.split(b"\n")
                for line in lines:
                    with suppress(ValueError):
                        message = types.jsonrpc_message_adapter.validate_json(buffer + line, by_name=False)
                        await to_session.send(SessionMessage(message))
                    buffer.clear()
                buffer += rest
                if len(buffer) > MAX_MESSAGE:
                    faults.refusal = f"the server sent a message over {MAX_MESSAGE >> 20} MiB"
                    return


async def _send(process: Process, from_session: Any) -> None:
    assert process.stdin is not None
    async with from_session:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            async for message in from_session:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{line}\n".encode())


async def _end(process: Process) -> None:
    """Close its stdin, wait a moment, and end it with all its children."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(GRACE):
        while process.returncode is None:
            await anyio.sleep(0.01)
    _kill(process)
    while process.returncode is None:
        await anyio.sleep(0.01)
    _processes.discard(process)
    await process.aclose()


def _kill(process: Process) -> None:
    """End a process with all that is left of its session."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        elif process.returncode is None:
            process.kill()


def _kill_all() -> None:
    """End what runs when we leave: a command does not wait for a repository that says nothing."""
    for process in tuple(_processes):
        _kill(process)


atexit.register(_kill_all)
LAST_ACTS.append(_kill_all)


@asynccontextmanager
async def _over_http(server: McpServer, faults: _Faults) -> AsyncIterator[tuple[Any, Any]]:
    """Connect with the SDK's HTTP transport, which refuses endless and compressed responses here."""
    client = httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **server.headers},
        transport=_BoundedTransport(faults),
        timeout=httpx2.Timeout(READ_TIME_OUT),
    )
    connection = streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_MESSAGE)
    with private_logs():
        async with client, connection as streams:
            yield streams


class _BoundedTransport(httpx2.AsyncHTTPTransport):
    """HTTP whose responses have at most MAX_MESSAGE bytes, as they are sent."""

    def __init__(self, faults: _Faults) -> None:
        super().__init__()
        self._faults = faults

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await super().handle_async_request(request)
        except httpx2.TransportError:
            self._faults.outage = self._faults.outage or "no connection"
            raise
        if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            await response.aclose()
            self._faults.refusal = "the answer is packed in a way that was not asked for"
            raise httpx2.RemoteProtocolError(self._faults.refusal, request=request)
        if request.method == "POST":
            self._note(response)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, self._faults)
        return response

    def _note(self, response: httpx2.Response) -> None:
        """Note what the status of an answer to a request says about the server."""
        faults, status = self._faults, response.status_code
        if status in (401, 403):
            faults.outage = f"the server wants other credentials (status {status})"
        elif 300 <= status < 400:
            target = one_line(response.headers.get("Location", ""))[:200]
            faults.outage = f"the server redirects to '{target}', which is not followed; name that address"


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, faults: _Faults) -> None:
        self._inner = inner
        self._faults = faults

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_MESSAGE:
                self._faults.refusal = f"the server sent an answer over {MAX_MESSAGE >> 20} MiB"
                raise httpx2.RemoteProtocolError(self._faults.refusal)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
