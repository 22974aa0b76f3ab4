"""Serve over stdin and stdout until the client leaves, or over HTTP until a signal.

Over stdio nothing but the protocol reaches stdout: the SDK keeps that descriptor for itself and points the
process's own at stderr, where everything else is printed.
"""

from __future__ import annotations

import gc
import hmac
import os
import secrets
import signal
import sys
from collections.abc import Callable, Iterable
from typing import Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from skillc.errors import InvalidOption
from skillc.mcp.server import create_server
from skillc.server import run_app
from skillc.workspace import Workspace

LOOPBACK = ("127.0.0.1", "localhost", "::1")
PATH = "/mcp"
TOKEN = "SKILLC_MCP_TOKEN"  # noqa: S105 -- the variable that holds it
IDLE_TIME = 15 * 60.0  # seconds after which a session without requests ends
MAX_SESSIONS = 100
GC_THRESHOLD = 700  # new objects, as in Python


def serve_stdio(workspace: Workspace, groups: Iterable[str], preload: Iterable[str] = ()) -> None:
    """Serve one client over stdin and stdout until it leaves."""
    server = create_server(workspace, groups, preload)

    async def run() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    # End at once: the thread that reads stdin would hold up an orderly end until the next line. Files are
    # written whole or not at all, so any moment is a good one.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a parent may have it ignored
        signal.signal(signal.SIGINT, lambda number, frame: os._exit(128 + number))
    _settle()
    anyio.run(run)


def _settle() -> None:
    """Collect garbage as often as Python does by default, and leave out all that is loaded by now.

    Commands collect rarely (`startup`), because they end soon. A server does not, and the SDK leaves some
    objects in a cycle for each call.
    """
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD)


def serve_http(
    workspace: Workspace,
    groups: Iterable[str],
    host: str,
    port: int,
    names: Iterable[str],
    announce: Callable[[str], None],
    preload: Iterable[str] = (),
) -> None:
    """Serve any number of clients over streamable HTTP until SIGINT or SIGTERM.

    A request must name one of the loopback's names or of `names` as its host, and so must the origin of a
    page that sends one. It must bring the token: every user of this machine reaches the loopback, and a
    client answers the questions that its person should answer.
    """
    token = _take_token(host)
    server = create_server(workspace, groups, preload)

    def create(url: str) -> ASGIApp:
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            host=host,
            transport_security=_security(host, names, url),
            session_idle_timeout=IDLE_TIME,
            max_sessions=MAX_SESSIONS,
        )
        return _Guard(app, token)

    _settle()
    run_app(create, host, port, lambda url: announce(url + PATH), lifespan="on")


def _take_token(host: str) -> str:
    """Return the token in SKILLC_MCP_TOKEN, or print a new one; the processes we start inherit neither."""
    token = os.environ.pop(TOKEN, "")
    if token:
        return token
    if host not in LOOPBACK:
        advice = f"set {TOKEN} to a token that they must send"
        raise InvalidOption(f"--http {host} can be reached by others; {advice}")
    token = secrets.token_urlsafe(32)
    note = f"note: {TOKEN} is not set; clients must send 'Authorization: Bearer {token}'"
    print(note, file=sys.stderr, flush=True)
    return token


def _security(host: str, names: Iterable[str], url: str) -> TransportSecuritySettings:
    """Return the hosts and origins that requests may name: ours, on our port."""
    port = url.rpartition(":")[2]
    ours = {*(LOOPBACK if host in LOOPBACK else (host,)), *names}
    hosts = [f"[{name}]" if ":" in name else name for name in sorted(ours)]
    allowed = [host for name in hosts for host in (name, f"{name}:{port}")]
    origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in allowed]
    return TransportSecuritySettings(allowed_hosts=allowed, allowed_origins=origins)


class _Guard:
    """Middleware that answers 401 to a request without the token."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._has_token(scope):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _has_token(self, scope: Scope) -> bool:
        for name, value in scope["headers"]:
            if name == b"authorization":
                scheme, _, token = value.partition(b" ")
                return scheme.lower() == b"bearer" and hmac.compare_digest(token.strip(), self._token)
        return False
