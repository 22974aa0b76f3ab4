"""Serve over stdin and stdout until the client leaves, or over HTTP until a signal.

Over stdio nothing but the protocol reaches stdout: the SDK keeps that descriptor for itself and points the
process's own at stderr, where everything else is printed.
"""

from __future__ import annotations

import os
import secrets
import signal
import sys
from collections.abc import Callable, Iterable

import anyio
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from skillc.mcp.server import create_server
from skillc.startup import collect_often
from skillc.workspace import Workspace

PATH = "/mcp"
TOKEN = "SKILLC_MCP_TOKEN"  # noqa: S105 -- the variable that holds it
IDLE_TIME = 15 * 60.0  # seconds after which a session without requests ends
MAX_SESSIONS = 100


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
    collect_often()
    anyio.run(run)


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
    from skillc.server import Guard, read_token, run_app  # stdio needs none of it, and agents wait for that

    token = read_token(TOKEN, host, "--http") or _make_token()
    app = create_server(workspace, groups, preload).streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # Guard has it
        session_idle_timeout=IDLE_TIME,
        max_sessions=MAX_SESSIONS,
    )
    run_app(Guard(app, host, names, token), host, port, lambda url: announce(url + PATH), lifespan="on")


def _make_token() -> str:
    """Return a new token, and print it once."""
    token = secrets.token_urlsafe(32)
    note = f"note: {TOKEN} is not set; clients must send 'Authorization: Bearer {token}'"
    print(note, file=sys.stderr, flush=True)
    return token
