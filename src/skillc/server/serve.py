"""Listen until SIGINT or SIGTERM, then let running requests finish."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from skillc.errors import SkillcError, require_extra

if TYPE_CHECKING:
    from types import FrameType

    from skillc.engine import DefaultSkillEngine

GRACE = 3  # seconds that running requests have to finish
# skillc.server logs what goes wrong in a request, in one line.
_SETTINGS: dict[str, Any] = {"log_config": None, "log_level": "critical", "access_log": False}
_SETTINGS |= {"loop": "asyncio", "ws": "none", "proxy_headers": False, "server_header": False}
_SETTINGS |= {"timeout_graceful_shutdown": GRACE}


def serve_engine(engine: DefaultSkillEngine, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the URL as soon as requests are answered.

    Port 0 is any that is free. Raises MissingExtra, and SkillcError where the port is taken.
    """
    with require_extra("server"):
        from skillc.server.app import create_app
    run_app(lambda url: create_app(engine), host, port, announce)


def run_app(
    create: Callable[[str], Any],
    host: str,
    port: int,
    announce: Callable[[str], None],
    *,
    lifespan: Literal["on", "off"] = "off",
) -> None:
    """Serve the application that `create` makes for a URL until SIGINT or SIGTERM."""
    with require_extra("server"):
        import uvicorn

    class Server(uvicorn.Server):
        """uvicorn's server, which ends on a signal with status 0 instead of raising it again."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce(url)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.force_exit = self.should_exit
            self.should_exit = True

    with _listen(host, port) as listener:
        name, port = listener.getsockname()[:2]
        url = f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
        Server(uvicorn.Config(create(url), **_SETTINGS, lifespan=lifespan)).run([listener])


def _listen(host: str, port: int) -> socket.socket:
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
        raise SkillcError(f"cannot listen on {host} port {port}: {why}") from None
    return listener
