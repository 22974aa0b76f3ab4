"""Connections to other servers: the SDK's transports, but for messages without end.

A process that was started is ended with everything it started, and what it writes to stderr is not
ours to show.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio
import httpx2
import mcp_types as types
from anyio.abc import Process
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from skillc.library.secrets import HIDDEN, hide_secrets, private_logs

MAX_MESSAGE = 32 << 20  # bytes of one message: a file of 16 MiB in base64, and some more
GRACE = 1.0  # seconds that a process has to end once nobody talks to it any more
SILENCE = 30.0  # seconds in which something must come over HTTP
SECRET = 6  # characters of a value in a query from which on it may be one


@dataclass(frozen=True, slots=True)
class Server:
    """How to reach a server: a command to start, or a URL and the headers to send."""

    command: tuple[str, ...] = ()
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None

    def hide(self, text: str) -> str:
        """What a server said, without what it was sent: it may repeat that."""
        sent = [value.rpartition(" ")[2] for value in self.headers.values()]
        sent += [value for _, value in parse_qsl(urlsplit(self.url).query) if len(value) >= SECRET]
        for secret in filter(None, sent):
            text = text.replace(secret, HIDDEN)
        return hide_secrets(text)


class Channel:
    """What went wrong below the protocol, which the protocol itself only sees as an end."""

    problem = ""  # with what was sent
    silence = ""  # with sending anything


@asynccontextmanager
async def over_stdio(server: Server, channel: Channel) -> AsyncIterator[tuple[Any, Any]]:
    """A process, which gets only the variables that every program needs."""
    environment = get_default_environment() | dict(server.environment)
    process = await anyio.open_process(
        list(server.command),
        env=environment,
        cwd=server.cwd,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    to_session, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_receive, process, to_session, channel)
            tasks.start_soon(_send, process, from_session)
            try:
                yield received, sent
            finally:
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
        for stream in (to_session, received, sent, from_session):
            stream.close()


async def _receive(process: Process, to_session: Any, channel: Channel) -> None:
    buffer = bytearray()
    output = process.stdout
    assert output is not None
    async with to_session:
        try:
            async for chunk in output:
                *lines, rest = chunk.split(b"\n")
                for line in lines:
                    await _deliver(bytes(buffer + line), to_session)
                    buffer.clear()
                buffer += rest
                if len(buffer) > MAX_MESSAGE:
                    channel.problem = f"the server sent a message over {MAX_MESSAGE >> 20} MiB"
                    return
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, ConnectionError):
            pass


async def _deliver(line: bytes, to_session: Any) -> None:
    """A line as a message; what is none is the server's chatter, and passed over."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return
    await to_session.send(SessionMessage(message))


async def _send(process: Process, from_session: Any) -> None:
    assert process.stdin is not None
    async with from_session:
        try:
            async for message in from_session:
                line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                await process.stdin.send(f"{line}\n".encode())
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
            pass


async def _end(process: Process) -> None:
    """Close its stdin, wait a moment, and end it with all that it started."""
    if process.stdin is not None:
        await process.stdin.aclose()
    with anyio.move_on_after(GRACE):
        while process.returncode is None:
            await anyio.sleep(0.01)
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)  # whoever is left of its session
        elif process.returncode is None:
            process.kill()
    except (ProcessLookupError, PermissionError):
        pass
    while process.returncode is None:
        await anyio.sleep(0.01)
    await process.aclose()


@asynccontextmanager
async def over_http(server: Server, channel: Channel) -> AsyncIterator[tuple[Any, Any]]:
    """The SDK's transport over HTTP, but for answers without end or packed."""
    headers = {"Accept-Encoding": "identity", **server.headers}
    transport = _Bounded(httpx2.AsyncHTTPTransport(), channel)
    with private_logs():
        async with (
            httpx2.AsyncClient(
                headers=headers, transport=transport, timeout=httpx2.Timeout(SILENCE)
            ) as client,
            streamable_http_client(server.url, http_client=client, max_sse_event_size=MAX_MESSAGE) as (
                received,
                sent,
            ),
        ):
            yield received, sent


class _Bounded(httpx2.AsyncBaseTransport):
    """Answers of at most so many bytes, as they are sent."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, channel: Channel) -> None:
        self._inner = inner
        self._channel = channel

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await self._inner.handle_async_request(request)
        except httpx2.TransportError:
            self._channel.silence = self._channel.silence or "no connection"
            raise
        if response.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
            await response.aclose()
            self._channel.problem = "the answer is packed in a way that was not asked for"
            raise httpx2.RemoteProtocolError(self._channel.problem, request=request)
        if response.status_code in (401, 403):
            self._channel.silence = f"the server wants other credentials (status {response.status_code})"
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(stream, self._channel)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, channel: Channel) -> None:
        self._inner = inner
        self._channel = channel

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_MESSAGE:
                self._channel.problem = f"the server sent an answer over {MAX_MESSAGE >> 20} MiB"
                raise httpx2.RemoteProtocolError(self._channel.problem)
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
