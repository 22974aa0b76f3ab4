"""Serve the pages of one's own skills, on loopback, to the person who has the key.

Other people with an account on this machine can reach loopback, too, and see the arguments of every process.
So a browser is not started with the key but with a private file, which leads to the address that has it. The
key works once: it is exchanged for a cookie, and worthless from then on.
"""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from skillc import atomic
from skillc.errors import SkillcError
from skillc.paths import cache_directory
from skillc.server.access import LOOPBACK, Guard
from skillc.server.pages import create_ui_app
from skillc.server.serve import run_app
from skillc.workspace import Workspace

REFUSAL = (
    "Open the address that 'skc ui' printed. It works once: for another browser, start 'skc ui' again.\n"
)
PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={0}">
<title>Your skills</title>
<p><a href="{0}">Your skills</a>
"""


def serve_ui(
    workspace: Workspace,
    port: int,
    announce: Callable[[str], None],
    browse: Callable[[str], object] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the address, with its key.

    `browse` opens a browser: it gets the address of a file that leads there.
    """
    lock = Lock(create_ui_app(workspace))
    page: list[str] = []

    def show(url: str) -> None:
        address = f"{url}/?key={lock.key}"
        announce(address)
        if browse is not None:
            with suppress(OSError, SkillcError):  # a person can open the address all the same
                page.append(_write_page(address))
                browse(Path(page[0]).as_uri())

    try:
        run_app(Guard(lock, LOOPBACK[0]), LOOPBACK[0], port, show, lifespan="on")
    finally:
        for path in page:
            atomic.discard(path)


def _write_page(address: str) -> str:
    """Write a file that leads to an address, for its owner alone, and return its path."""
    path = os.path.join(cache_directory(), f"ui-{os.getpid()}.html")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    atomic.write(path, PAGE.format(address).encode(), private=True)
    return path


class Lock:
    """Middleware that wants a key: once, in the address. From then on it wants the cookie that it gave."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.key = secrets.token_urlsafe(24)  # empty when it was used
        self._cookie = secrets.token_urlsafe(24)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._app if scope["type"] != "http" else self._answer(Request(scope)) or self._app
        await app(scope, receive, send)

    def _answer(self, request: Request) -> Response | None:
        """Return what a request gets instead of a page; None for one that may see it."""
        name = f"skillc-ui-{request.url.port}"  # cookies know no ports
        if _is_same(request.cookies.get(name, ""), self._cookie):
            return None
        if request.method == "GET" and _is_same(request.query_params.get("key", ""), self.key):
            self.key = ""
            response = RedirectResponse(request.url.path, 303, {"Referrer-Policy": "no-referrer"})
            # Not "strict": the file that leads here counts as another site.
            response.set_cookie(name, self._cookie, httponly=True, samesite="lax")
            return response
        return PlainTextResponse(REFUSAL, HTTPStatus.FORBIDDEN)


def _is_same(text: str, secret: str) -> bool:
    return bool(secret) and hmac.compare_digest(text.encode("utf-8", "replace"), secret.encode())
