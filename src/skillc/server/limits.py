"""Limit how often a token or an address may ask: a bucket for each, which fills again with time.

Each process counts for itself, and remembers 10,000 of them at most.
"""

from __future__ import annotations

import ipaddress
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

MAX_KEYS = 10_000
WINDOW = 60.0  # seconds in which an empty bucket is full again


@dataclass(frozen=True, slots=True)
class Quota:
    """What is left to a token or an address. `reset` is in seconds: when the bucket is full again."""

    limit: int
    remaining: int
    reset: int
    wait: int = 0  # seconds until the next request is answered

    def headers(self) -> dict[str, str]:
        values = {"Limit": self.limit, "Remaining": self.remaining, "Reset": self.reset}
        return {f"RateLimit-{name}": str(value) for name, value in values.items()}


class Limiter:
    """Buckets of `limit` requests each; a limit of 0 is none."""

    def __init__(self, limit: int, clock: Callable[[], float] = monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # level and time

    def spend(self, key: str) -> Quota | None:
        """Take one request from a bucket; a quota with a `wait` is empty. None without a limit."""
        if not self.limit:
            return None
        now = self._clock()
        level, time = self._buckets.pop(key, (float(self.limit), now))
        level = min(self.limit, level + (now - time) * self.limit / WINDOW)
        is_empty = level < 1
        level -= 0 if is_empty else 1
        self._buckets[key] = level, now
        if len(self._buckets) > MAX_KEYS:
            self._buckets.popitem(last=False)
        second = self.limit / WINDOW  # requests that a second brings back
        wait = math.ceil((1 - level) / second) if is_empty else 0
        return Quota(self.limit, int(level), math.ceil((self.limit - level) / second), wait)


class Proxies:
    """The proxies whose X-Forwarded-For counts: addresses and networks. Raises ValueError for others."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._networks = [ipaddress.ip_network(name, strict=False) for name in names]

    def __bool__(self) -> bool:
        return bool(self._networks)

    def address_of(self, scope: Mapping[str, Any]) -> str:
        """Return the address of a client: the last one that no trusted proxy has."""
        client = scope.get("client")
        address = str(client[0]) if client else ""
        if not self._networks or not self.trusts(address):
            return address
        for name in reversed(_forwarded(scope)):
            if not self.trusts(name):
                return name if _is_address(name) else address
            address = name
        return address

    def trusts(self, name: str) -> bool:
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return any(address in network for network in self._networks if network.version == address.version)


def _forwarded(scope: Mapping[str, Any]) -> list[str]:
    values = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return [part.strip() for value in values for part in value.split(",")]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
