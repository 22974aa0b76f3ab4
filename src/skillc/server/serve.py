"""Listen until SIGINT or SIGTERM, then let running requests finish; and bound what connections cost.

When all places are taken, a new connection gets the place of the one that has waited longest for its client.
So clients that connect and send nothing, or read nothing, keep out no other.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from errno import EADDRINUSE
from types import FrameType
from typing import Any, Literal

import h11
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from skillc.engine import DefaultSkillEngine
from skillc.errors import SkillcError
from skillc.server.access import Guard
from skillc.server.app import create_app
from skillc.startup import collect_often

HEAD_TIME = 10.0  # seconds for the head of a request to arrive, counted from the end of the last one
BODY_TIME = 30.0  # seconds for its body to arrive
READ_TIME = 30.0  # seconds in which a client must read MIN_READ bytes of a response that it is sent
MIN_READ = 16 * 1024
MAX_CONNECTIONS = 512
MAX_REST = 256 << 20  # bytes of a body that are read after the response, and dropped
REST_TIME = 60.0  # seconds for them to arrive
BACKLOG = 128  # connections that are accepted at once, before any is closed

_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
)
GRACE = 3  # seconds that running requests have to finish
# skillc.server logs what goes wrong in a request, in one line.
_SETTINGS: dict[str, Any] = {"log_config": None, "log_level": "critical", "access_log": False}
_SETTINGS |= {"loop": "asyncio", "ws": "none", "proxy_headers": False, "server_header": False}
_SETTINGS |= {"timeout_graceful_shutdown": GRACE}


def max_connections() -> int:
    """Return how many connections fit into the files that this process may open, with room for others."""
    try:
        from resource import RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows, which has no such limit
        return MAX_CONNECTIONS
    limit = getrlimit(RLIMIT_NOFILE)[0]
    return MAX_CONNECTIONS if limit < 0 else max(1, min(MAX_CONNECTIONS, limit // 3))


class Connection(H11Protocol):
    """uvicorn's connection, which ends when its client takes too long to send or to read."""

    limit = MAX_CONNECTIONS
    body_time = BODY_TIME

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.waits_since: float | None = None  # the loop's time; None while the client waits for us
        self._phase: object = None  # of the request, as h11 names it
        self._timers: dict[str, asyncio.TimerHandle] = {}  # by what the client has to do: `send`, `read`

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._follow()
        if len(self.connections) > self.limit:
            self._make_room()

    def handle_events(self) -> None:
        super().handle_events()
        self._follow()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._follow()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._expect_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._cancel("read")

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel("send")
        self._cancel("read")
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # uvicorn leaves it running after an error

    def _follow(self) -> None:
        """Start the client's time when it has to send something; stop it when that has arrived."""
        phase = self.conn.their_state
        if self.transport.is_closing():
            self._cancel("send")
            self._expect_reading()
        elif phase is not self._phase:
            self._phase = phase
            self._cancel("send")
            seconds = {h11.IDLE: HEAD_TIME, h11.SEND_BODY: self.body_time}.get(phase)
            if seconds is not None:
                self._start("send", seconds, self._stop)

    def _stop(self) -> None:
        self.transport.close()
        self._follow()

    def _expect_reading(self) -> None:
        if "read" not in self._timers:
            self._check_reading(math.inf)

    def _check_reading(self, left: float) -> None:
        """Look again later if the client has read enough since `left` bytes were left; else abort."""
        size = self.transport.get_write_buffer_size()
        if left - size < MIN_READ:
            self.transport.abort()
        else:
            self._start("read", READ_TIME, lambda: self._check_reading(size))

    def _start(self, task: str, seconds: float, end: Callable[[], None]) -> None:
        self._timers[task] = self.loop.call_later(seconds, end)
        if self.waits_since is None:
            self.waits_since = self.loop.time()

    def _cancel(self, task: str) -> None:
        timer = self._timers.pop(task, None)
        if timer is not None:
            timer.cancel()
        if not self._timers:
            self.waits_since = None

    def _make_room(self) -> None:
        """Abort the connection that has waited longest for its client; if that is this one, say so."""
        idle = {c.waits_since: c for c in self.connections if isinstance(c, Connection) and c.waits_since}
        oldest = idle[min(idle)] if idle else self
        if oldest is self:
            self.transport.write(_BUSY)
            self.transport.close()
        else:
            oldest.transport.abort()
        self.connections.discard(oldest)  # now: others may need room before the loop comes to it


class Rest:
    """Middleware that reads what is left of a body once the response is sent, and drops it.

    Where a connection is closed while its client still sends, the client sees a reset, not the response.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        # A client that waits for the word to go on sends nothing after a response.
        is_left = not any(name == b"expect" for name, _ in scope["headers"])

        async def receive_body() -> Message:
            nonlocal is_left
            message = await receive()
            is_left = bool(message.get("more_body"))
            return message

        async def send_before_rest(message: Message) -> None:
            is_end = message["type"] == "http.response.body" and not message.get("more_body")
            if not (is_end and is_left):
                await send(message)
                return
            await send({**message, "more_body": True})
            size = 0
            with suppress(TimeoutError):
                async with asyncio.timeout(REST_TIME):
                    while is_left and size <= MAX_REST:
                        size += len((await receive_body()).get("body", b""))
            await send({"type": "http.response.body"})

        await self._app(scope, receive_body, send_before_rest)


def serve_engine(
    engine: DefaultSkillEngine,
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    names: Iterable[str] = (),
    token: str = "",
) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the URL as soon as requests are answered.

    Requests must name the host or one of `names`, and send the token if there is one. Port 0 is any that is
    free. Raises SkillcError where the port is taken.
    """
    app = Guard(create_app(engine), host, names, token, public=("/healthz",))
    run_app(app, host, port, announce)


def run_app(
    app: Any,
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    lifespan: Literal["on", "off"] = "off",
    option: str = "--port",
) -> None:
    """Serve an application until SIGINT or SIGTERM; `option` is the command's for another port."""
    collect_often()
    with listen(host, port, option) as listener:
        create_server(app, lambda: announce(make_url(listener)), lifespan).run([listener])


def create_server(
    app: Any,
    announce: Callable[[], None] = lambda: None,
    lifespan: Literal["on", "off"] = "off",
    body_time: float = 0.0,
) -> uvicorn.Server:
    """Return a server for an application; it calls `announce` when it is ready.

    `body_time` is how many seconds the body of a request may take; an application may allow it less.
    """
    seconds = body_time or BODY_TIME

    class Server(uvicorn.Server):
        """uvicorn's server, which ends on a signal with status 0 instead of raising it again."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce()

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.force_exit = self.should_exit
            self.should_exit = True

    class Limited(Connection):
        limit = max_connections()
        body_time = seconds

    return Server(uvicorn.Config(Rest(app), **_SETTINGS, http=Limited, backlog=BACKLOG, lifespan=lifespan))


def make_url(listener: socket.socket) -> str:
    """Return the address of a socket for clients."""
    name, port = listener.getsockname()[:2]
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """Return a socket that listens; the error of a port that is in use names the option for another one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only where the socket names TCP; else an answer takes 40 ms more.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # on Windows it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        number = error.errno or 0  # negative for a name that can't be resolved
        why = os.strerror(number) if number > 0 else error.strerror or str(error)
        advice = f"; choose another port with {option}" if number == EADDRINUSE else ""
        raise SkillcError(f"cannot listen on {host} port {port}: {why}{advice}") from None
    return listener
