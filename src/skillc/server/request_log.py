"""Watch requests: give each an ID, count it, log it in one line of JSON, and add headers for security.

A line has no query, no token and no address of a client's page: `{"time","id","method","path","status",…}`.

Counts are in the text format of Prometheus. The processes of one server write their numbers to files of a
folder, so that each of them can tell the sum. A process that died keeps its file: counters never go back.
"""

from __future__ import annotations

import json
import logging
import os
import random
import re
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillc import atomic
from skillc.server.access import Proxies, Quota
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
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
WRITE_SECONDS = 1.0  # between two writings of the file

_HELP = {
    "requests_total": ("counter", "Requests by method, route and status."),
    "request_seconds": ("histogram", "Time until a response was complete, by route."),
    "requests_in_flight": ("gauge", "Requests that are being answered."),
    "uploads_total": ("counter", "Versions that were published over HTTP."),
    "upload_bytes_total": ("counter", "Bytes of skills that were received."),
    "index_lag": ("gauge", "Changes that the search index does not have yet."),
    "processes": ("gauge", "Processes of the server that answer."),
}
_GAUGES = {name for name, (kind, _) in _HELP.items() if kind == "gauge"}


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


class Metrics:
    """The numbers of one process, and a folder with those of all. Not for several threads."""

    def __init__(self, folder: str = "") -> None:
        self._path = os.path.join(folder, f"{os.getpid()}.json") if folder else ""
        self._folder = folder
        self._written = 0.0
        self._requests: Counter[tuple[str, str, int]] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)
        self.in_flight = 0
        self.uploads = 0
        self.upload_bytes = 0
        self.lag = 0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests[method, route, status] += 1
        self._buckets[route][bisect_left(BUCKETS, seconds)] += 1
        self._seconds[route] += seconds
        if self._path and time.monotonic() - self._written > WRITE_SECONDS:
            self.write()

    def write(self) -> None:
        """Write the file of this process; where that fails, others miss its numbers for a while."""
        self._written = time.monotonic()
        with suppress(OSError):
            atomic.write(self._path, json.dumps(self._numbers()).encode())

    def text(self) -> str:
        """Return the sum of all processes, in the format of Prometheus."""
        total = self._numbers()
        for numbers in self._read_others():
            for series, value in numbers.items():
                before = total.get(series, 0)
                total[series] = max(before, value) if series == "index_lag" else before + value
        text = ""
        for name, (kind, what) in _HELP.items():
            rows = (f"skillc_{each} {total[each]:.10g}\n" for each in total if _metric_of(each) == name)
            text += f"# HELP skillc_{name} {what}\n# TYPE skillc_{name} {kind}\n{''.join(rows)}"
        return text

    def _numbers(self) -> dict[str, float]:
        """Return all numbers, each by its series: a name with its labels, which need no escapes."""
        numbers: dict[str, float] = {
            "requests_in_flight": self.in_flight,
            "uploads_total": self.uploads,
            "upload_bytes_total": self.upload_bytes,
            "index_lag": self.lag,
            "processes": 1,
        }
        for (method, route, status), count in self._requests.items():
            numbers[f'requests_total{{method="{method}",route="{route}",status="{status}"}}'] = count
        for route, counts in self._buckets.items():
            for limit, sum_below in zip((*BUCKETS, "+Inf"), accumulate(counts), strict=True):
                numbers[f'request_seconds_bucket{{route="{route}",le="{limit}"}}'] = sum_below
            numbers[f'request_seconds_count{{route="{route}"}}'] = sum(counts)
            numbers[f'request_seconds_sum{{route="{route}"}}'] = self._seconds[route]
        return numbers

    def _read_others(self) -> Iterator[dict[str, float]]:
        """Yield the numbers of other processes; those that have ended have counters alone."""
        for name in os.listdir(self._folder) if self._folder else ():
            path = os.path.join(self._folder, name)
            if name.endswith(".json") and path != self._path:
                with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
                    numbers = json.load(file)
                    hidden = set() if _is_alive(int(name.removesuffix(".json"))) else _GAUGES
                    yield {series: value for series, value in numbers.items() if series not in hidden}


def _metric_of(series: str) -> str:
    """Return the name that describes a series: those of a histogram share one."""
    name = series.partition("{")[0]
    return name if name in _HELP else name.rpartition("_")[0]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
