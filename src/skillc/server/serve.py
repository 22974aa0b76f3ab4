"""Listen until SIGINT or SIGTERM, then let running requests finish."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal

from skillc.errors import SkillcError
from skillc.server.access import Guard
from skillc.startup import collect_often

if TYPE_CHECKING:
    from types import FrameType

    import uvicorn

    from skillc.engine import DefaultSkillEngine

GRACE = 3  # seconds that running requests have to finish
# skillc.server logs what goes wrong in a request, in one line.
_SETTINGS: dict[str, Any] = {"log_config": None, "log_level": "critical", "access_log": False}
_SETTINGS |= {"loop": "asyncio", "ws": "none", "proxy_headers": False, "server_header": False}
_SETTINGS |= {"timeout_graceful_shutdown": GRACE}


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
    from skillc.server.app import create_app

    app = Guard(create_app(engine), host, names, token, public=("/healthz",))
    run_app(app, host, port, announce)


def run_app(
    app: Any,
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    lifespan: Literal["on", "off"] = "off",
) -> None:
    """Serve an application until SIGINT or SIGTERM."""
    collect_often()
    with listen(host, port) as listener:
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
    import uvicorn

    from skillc.server.connections import BACKLOG, BODY_TIME, Connection, max_connections

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

    return Server(uvicorn.Config(app, **_SETTINGS, http=Limited, backlog=BACKLOG, lifespan=lifespan))


def make_url(listener: socket.socket) -> str:
    """Return the address of a socket for clients."""
    name, port = listener.getsockname()[:2]
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"


def listen(host: str, port: int, *, share: bool = False) -> socket.socket:
    """Return a socket that listens; one to `share` is one of several on a port, and does not listen yet."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only where the socket names TCP; else an answer takes 40 ms more.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # on Windows it would let two servers share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if share:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((host, port))
        if not share:
            listener.listen(128)
    except OSError as error:
        listener.close()
        number = error.errno or 0  # negative for a name that can't be resolved
        why = os.strerror(number) if number > 0 else error.strerror or str(error)
        raise SkillcError(f"cannot listen on {host} port {port}: {why}") from None
    return listener
