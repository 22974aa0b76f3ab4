"""Serve one client over stdin and stdout.

Nothing but the protocol reaches stdout: the SDK keeps that descriptor for itself and points the process's
own at stderr, where everything else is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from skillc.mcp.opening import Opening

if TYPE_CHECKING:
    from skillc.workspace import Workspace


def serve_stdio(workspace: Workspace, tools: Iterable[str] = (), preload: Iterable[str] = ()) -> None:
    """Serve one client over stdin and stdout until it leaves.

    Its first requests are answered while the SDK is being loaded, unless the instructions have skills.
    """
    tools, preload = tuple(tools), tuple(preload)
    opening = make_opening(workspace, tools, preload)
    with opening.serve(0, sys.stdout.buffer):
        from skillc.mcp.relay import run_server
        from skillc.mcp.server import create_server

        server = create_server(workspace, tools, preload)
    run_server(server, opening)


def make_opening(workspace: Workspace, tools: Iterable[str] = (), preload: Iterable[str] = ()) -> Opening:
    """Return the opening for a client of a server with these options."""
    options = (*tools, "", *sorted(workspace.capabilities))
    return Opening(lambda: (*options, workspace.switched_off_by()), "" if preload else workspace.cwd)
