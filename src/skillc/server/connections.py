"""Bound what connections cost: how many there are, and how long one may wait for its client.

When all places are taken, a new connection gets the place of the one that has waited longest for its client.
So clients that connect and send nothing, or read nothing, keep out no other.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD_TIME = 10.0  # seconds for the head of a request to arrive, counted from the end of the last one
BODY_TIME = 30.0  # seconds for its body to arrive
READ_TIME = 30.0  # seconds in which a client must read MIN_READ bytes of a response that it is sent
MIN_READ = 16 * 1024
MAX_CONNECTIONS = 512
BACKLOG = 128  # connections that are accepted at once, before any is closed

_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n"
)


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
