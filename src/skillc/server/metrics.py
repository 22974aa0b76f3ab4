"""Count requests, and write the numbers in the text format of Prometheus.

The processes of one server write their numbers to files of a folder, so that each of them can tell the sum.
A process that died keeps its file: counters never go back.
"""

from __future__ import annotations

import json
import os
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress

from skillc import atomic

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
