"""A client of an application without a server: each request is one call of the event loop.

Starlette's own, on which it stands, goes to the loop's thread and back eight times for each request, so that
an answer can be read while it is made. That was most of what tests of the server took.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any
from urllib.parse import unquote

import anyio
import httpx2
from starlette.testclient import TestClient

Message = MutableMapping[str, Any]


class AppClient(TestClient):
    """A client of an application; inside of `with` the application has started."""

    def __init__(self, app: Any, *, client: tuple[str, int] = ("testclient", 50000), **options: Any) -> None:
        super().__init__(app, **options)
        self._transport = _Transport(self, app, client)


class _Transport(httpx2.BaseTransport):
    def __init__(self, client: AppClient, app: Any, address: tuple[str, int]) -> None:
        self._client = client
        self._app = app
        self._address = address

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        port = url.port or {"http": 80, "https": 443}[url.scheme]
        scope: Message = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "path": unquote(url.path),
            "raw_path": url.raw_path.split(b"?", 1)[0],
            "root_path": "",
            "scheme": url.scheme,
            "query_string": url.query,
            "headers": [(key.lower().encode(), text.encode()) for key, text in request.headers.multi_items()],
            "client": self._address,
            "server": (url.host, port),
            "state": dict(self._client.app_state),
        }
        body = request.read()
        with self._client._portal_factory() as portal:
            return portal.call(self._answer, scope, body)

    async def _answer(self, scope: Message, body: bytes) -> httpx2.Response:
        start: Message = {}
        parts: list[bytes] = []
        taken, over = anyio.Event(), anyio.Event()

        async def receive() -> Message:
            if not taken.is_set():
                taken.set()
                return {"type": "http.request", "body": body}
            await over.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            elif message["type"] == "http.response.body":
                assert start
                parts.append(bytes(message.get("body", b"")))
                if not message.get("more_body", False):
                    over.set()

        await self._app(scope, receive, send)
        content = b"" if scope["method"] == "HEAD" else b"".join(parts)
        headers = [(name.decode(), text.decode("latin-1")) for name, text in start.get("headers", [])]
        return httpx2.Response(start["status"], headers=headers, stream=httpx2.ByteStream(content))
