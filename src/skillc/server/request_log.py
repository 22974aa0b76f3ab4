"""Watch requests: give each an ID, count it, log it in one line of JSON, and add headers for security.

A line has no query, no token and no address of a client's page: `{"time","id","method","path","status",…}`.

The processes of one server write their numbers to files of a folder, so that each of them can tell the sum,
in the text format of Prometheus. A process that died keeps its file: counters never go back.
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
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillc import atomic
from skillc.server.access import Proxies, Quota
from skillc.text import one_line

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
WRITE_SECONDS = 1.0  # between two writings of the file
SEPARATOR = "\t"  # between the labels of a key; no label has one

_HELP = {
    "requests_total": ("counter", "Requests by method, route and status."),
    "request_seconds": ("histogram", "Time until a response was complete, by route."),
    "requests_in_flight": ("gauge", "Requests that are being answered."),
    "uploads_total": ("counter", "Versions that were published over HTTP."),
    "upload_bytes_total": ("counter", "Bytes of skills that were received."),
    "index_lag": ("gauge", "Changes that the search index does not have yet."),
    "processes": ("gauge", "Processes of the server that answer."),
}
_LABELS = {"requests_total": ("method", "route", "status"), "request_seconds": ("route",)}
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


class Metrics:
    """The numbers of one process, and a folder with those of all. Not for several threads."""

    def __init__(self, folder: str = "") -> None:
        self._path = os.path.join(folder, f"{os.getpid()}.json") if folder else ""
        self._folder = folder
        self._written = 0.0
        self._requests: Counter[tuple[str, str, str]] = Counter()
        self._buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(BUCKETS) + 1))
        self._seconds: dict[str, float] = defaultdict(float)
        self.in_flight = 0
        self.uploads = 0
        self.upload_bytes = 0
        self.lag = 0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        self._requests[method, route, str(status)] += 1
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
            for key, value in numbers.items():
                before = total.get(key, 0)
                total[key] = max(before, value) if key == "index_lag" else before + value
        return "".join(_format(total))

    def _numbers(self) -> dict[str, float]:
        """Return all numbers, each by its name and its labels."""
        numbers: dict[str, float] = {
            "requests_in_flight": self.in_flight,
            "uploads_total": self.uploads,
            "upload_bytes_total": self.upload_bytes,
            "index_lag": self.lag,
            "processes": 1,
        }
        for labels, count in self._requests.items():
            numbers[SEPARATOR.join(("requests_total", *labels))] = count
        for route, counts in self._buckets.items():
            for index, limit in enumerate((*map(str, BUCKETS), "+Inf")):
                numbers[SEPARATOR.join(("request_seconds_bucket", route, limit))] = sum(counts[: index + 1])
            numbers[SEPARATOR.join(("request_seconds_count", route))] = sum(counts)
            numbers[SEPARATOR.join(("request_seconds_sum", route))] = self._seconds[route]
        return numbers

    def _read_others(self) -> Iterator[Mapping[str, float]]:
        for name in os.listdir(self._folder) if self._folder else ():
            path = os.path.join(self._folder, name)
            if name.endswith(".json") and path != self._path:
                with suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
                    numbers: dict[str, float] = json.load(file)
                    yield numbers if _is_alive(name) else _without_gauges(numbers)


def _without_gauges(numbers: Mapping[str, float]) -> dict[str, float]:
    return {key: value for key, value in numbers.items() if _HELP.get(key, ("",))[0] != "gauge"}


def _is_alive(name: str) -> bool:
    try:
        os.kill(int(name.removesuffix(".json")), 0)
    except (OSError, ValueError):
        return False
    return True


def _format(numbers: Mapping[str, float]) -> Iterator[str]:
    groups: dict[str, list[str]] = defaultdict(list)
    for key, value in numbers.items():
        name, *labels = key.split(SEPARATOR)
        base = name if name in _HELP else name.rpartition("_")[0]
        names = (*_LABELS.get(base, ()), *(["le"] if name.endswith("_bucket") else ()))
        pairs = ",".join(f'{n}="{_escape(label)}"' for n, label in zip(names, labels, strict=True))
        groups[base].append(f"skillc_{name}{f'{{{pairs}}}' if pairs else ''} {value:.10g}\n")
    for name, (kind, text) in _HELP.items():
        yield f"# HELP skillc_{name} {text}\n# TYPE skillc_{name} {kind}\n"
        yield from groups[name]


def _escape(label: str) -> str:
    return label.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class Observer:
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
