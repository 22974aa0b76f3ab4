"""Compress responses with gzip: text over a kilobyte, for clients that accept it."""

from __future__ import annotations

import zlib
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

MIN_SIZE = 1024  # bytes
LEVEL = 5
_GZIP = zlib.MAX_WBITS | 16  # zlib's way to ask for gzip's header
_TEXTS = ("application/json", "application/problem+json", "text/plain", "text/css", "text/javascript")
_HTML = "text/html"


class Compression:
    """Middleware that compresses text. Pages are left alone where the client has a cookie.

    A page may hold a secret of a session; its size, compressed with what another site chose, would tell it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and accepts_gzip(scope):
            has_cookie = any(name == b"cookie" for name, _ in scope["headers"])
            types = _TEXTS if has_cookie else (*_TEXTS, _HTML)
            send = _Compressor(send, types).send
        await self._app(scope, receive, send)


def accepts_gzip(scope: Scope) -> bool:
    """Return whether a client accepts gzip; `gzip;q=0` says that it does not."""
    for name, value in scope["headers"]:
        if name == b"accept-encoding":
            for part in value.decode("latin-1").lower().split(","):
                coding, _, weight = part.partition(";")
                if coding.strip() in ("gzip", "*"):
                    return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


class _Compressor:
    """What compresses one response. Its start waits for the first piece of the body, which tells the size."""

    def __init__(self, send: Send, types: tuple[str, ...]) -> None:
        self._send = send
        self._types = types
        self._start: Message | None = None
        self._stream: Any = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self._is_text(message):
            self._start = message
        elif message["type"] == "http.response.body" and (self._start or self._stream):
            await self._send_body(message)
        else:
            await self._send(message)

    async def _send_body(self, message: Message) -> None:
        body, more = message.get("body", b""), message.get("more_body", False)
        if self._start is not None:
            start, self._start = self._start, None
            start["headers"] = [*start["headers"], (b"vary", b"Accept-Encoding")]
            if more or len(body) >= MIN_SIZE:
                start["headers"] = _encode(start["headers"])
                self._stream = zlib.compressobj(LEVEL, zlib.DEFLATED, _GZIP)
            await self._send(start)
        if self._stream is not None:
            body = self._stream.compress(body) + (b"" if more else self._stream.flush())
        await self._send({**message, "body": body})

    def _is_text(self, message: Message) -> bool:
        headers = dict(message["headers"])
        kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
        return kind in self._types and b"content-encoding" not in headers and message["status"] != 206


def _encode(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a compressed response: its ETag is weak, because its bytes are others."""
    changed = [(b"content-encoding", b"gzip")]
    for name, value in headers:
        if name == b"etag" and not value.startswith(b"W/"):
            value = b"W/" + value
        if name != b"content-length":
            changed.append((name, value))
    return changed
