"""Watch requests: give each an ID, count it, log it in one line of JSON, and add headers for security.

A line has no query, no token and no address of a client's page: `{"time","id","method","path","status",…}`.
"""

from __future__ import annotations

import json
import logging
import random
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillc.server.access import Proxies, Quota
from skillc.server.metrics import Metrics
from skillc.text import one_line

log = logging.getLogger("skillc.server.requests")

QUOTA, CALLER = "skillc.quota", "skillc.caller"  # what endpoints put into the scope of a request
NO_ROUTE = "none"
MAX_PATH = 300  # characters of a path in the log
_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_TOKEN = re.compile(r"skc_[0-9A-Za-z_-]{4,}")

# For answers that set none of their own: data, which no page may frame and no browser may run.
_SECURITY = (
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
_TLS = ((b"strict-transport-security", b"max-age=31536000"),)


class RequestLog:
    """Middleware around everything else. `routes` gives the route of an endpoint, which counts are by."""

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        routes: Mapping[Any, str],
        *,
        proxies: Proxies | None = None,
        with_tls: bool = False,
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._routes = routes
        self._proxies = Proxies() if proxies is None else proxies
        self._security = (*_SECURITY, *(_TLS if with_tls else ()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        request_id = self._request_id(scope)
        status, size = 500, 0

        async def observe(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = self._complete(message["headers"], scope, request_id)
            else:
                size += len(message.get("body", b""))
            await send(message)

        self._metrics.in_flight += 1
        try:
            await self._app(scope, receive, observe)
        finally:
            self._metrics.in_flight -= 1
            seconds = time.perf_counter() - start
            route = self._routes.get(scope.get("endpoint"), NO_ROUTE)
            self._metrics.count(scope["method"] if route != NO_ROUTE else "any", route, status, seconds)
            if log.isEnabledFor(logging.INFO):
                self._log(scope, request_id, route, status, size, seconds)

    def _request_id(self, scope: Scope) -> str:
        """Return the ID that a trusted proxy gave to a request, or a new one."""
        client = scope.get("client")
        if self._proxies and client and self._proxies.trusts(str(client[0])):
            for name, value in scope["headers"]:
                if name == b"x-request-id" and _ID.fullmatch(value):
                    return str(value.decode())
        return f"{random.getrandbits(64):016x}"  # no secret

    def _complete(
        self, headers: list[tuple[bytes, bytes]], scope: Scope, request_id: str
    ) -> list[tuple[bytes, bytes]]:
        names = {name for name, _ in headers}
        more = [(b"x-request-id", request_id.encode())]
        more += [pair for pair in self._security if pair[0] not in names]
        quota = scope.get(QUOTA)
        if isinstance(quota, Quota):
            more += [(name.lower().encode(), text.encode()) for name, text in quota.headers().items()]
        return [*headers, *more]

    def _log(self, scope: Scope, request_id: str, route: str, status: int, size: int, seconds: float) -> None:
        entry = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "id": request_id,
            "method": one_line(scope["method"])[:20],
            "path": _TOKEN.sub("skc_***", one_line(scope["path"]))[:MAX_PATH],
            "route": route,
            "status": status,
            "bytes": size,
            "ms": round(seconds * 1000, 2),
            "client": self._proxies.address_of(scope),
            "caller": scope.get(CALLER),
        }
        log.info("%s", json.dumps(entry, ensure_ascii=False))
