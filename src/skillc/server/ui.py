"""Serve the pages of one's own skills, on loopback, to the person who has the key.

Other people with an account on this machine can reach loopback, too. They don't know the key, which is in the
address that a browser opens first; from then on a cookie holds it.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from skillc.server.access import LOOPBACK, Guard
from skillc.server.pages import create_ui_app
from skillc.server.serve import run_app
from skillc.workspace import Workspace

REFUSAL = "This is not the address that 'skc ui' printed: open that one, with its key.\n"


def serve_ui(workspace: Workspace, port: int, announce: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the address, with its key."""
    key = secrets.token_urlsafe(24)
    app = Guard(Lock(create_ui_app(workspace), key), LOOPBACK[0])
    run_app(app, LOOPBACK[0], port, lambda url: announce(f"{url}/?key={key}"))


class Lock:
    """Middleware that wants a key: in the address once, then in a cookie."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._key = key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._app if scope["type"] != "http" else self._answer(Request(scope)) or self._app
        await app(scope, receive, send)

    def _answer(self, request: Request) -> Response | None:
        """Return what a request gets instead of a page; None for one that may see it."""
        cookie = f"skillc-ui-{request.url.port}"  # cookies know no ports
        if self._is_key(request.query_params.get("key", "")):
            response = RedirectResponse(request.url.path, 303, {"Referrer-Policy": "no-referrer"})
            response.set_cookie(cookie, self._key, httponly=True, samesite="strict")
            return response
        if self._is_key(request.cookies.get(cookie, "")):
            return None
        return PlainTextResponse(REFUSAL, HTTPStatus.FORBIDDEN)

    def _is_key(self, text: str) -> bool:
        return hmac.compare_digest(text.encode("utf-8", "replace"), self._key.encode())
