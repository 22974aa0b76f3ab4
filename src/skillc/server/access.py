"""Say which requests a server answers: those that name it, from no foreign page, with its token, so often.

A page can lead a browser here by a name of its own (DNS rebinding), or send it a request from another site.
Both show: the Host header has the page's name, the Origin header the page's address.
"""

from __future__ import annotations

import hmac
import ipaddress
import math
import os
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from skillc.errors import InvalidOption
from skillc.server.responses import failure

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_KEYS = 10_000
WINDOW = 60.0  # seconds in which an empty bucket is full again


def is_loopback(host: str) -> bool:
    """Return whether only programs on this machine can reach an address."""
    try:
        return host in LOOPBACK or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_token(variable: str, host: str, option: str) -> str:
    """Return the token in a variable; raises InvalidOption for a `host` that others reach without one.

    The variable is removed, so that the processes we start don't inherit it.
    """
    token = os.environ.pop(variable, "").strip()
    if not token and not is_loopback(host):
        advice = f"set {variable} to a token that they must send"
        raise InvalidOption(f"{option} {host} can be reached by others; {advice}")
    return token


class Guard:
    """Middleware that refuses a request with another Host (421), Origin (403) or token (401).

    A host is the one that the server listens on, the address that the client connected to, or one of
    `names`. Paths in `public` need no token.
    """

    def __init__(
        self,
        app: ASGIApp,
        host: str,
        names: Iterable[str] = (),
        token: str = "",
        public: Collection[str] = (),
    ) -> None:
        self._app = app
        names = (host, *names, *(LOOPBACK if is_loopback(host) else ()))
        self._names = {_bracket(name).lower() for name in names}
        self._token = token.encode("utf-8", "surrogateescape")
        self._public = public
        self._last: tuple[object, set[str]] = (None, set())  # an address, and its names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refuse(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
            return
        status, message = refusal
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        await failure(status, InvalidOption.code, message, headers)(scope, receive, send)

    def _refuse(self, scope: Scope) -> tuple[int, str] | None:
        """Return the status and the reason to refuse a request with; None for a good one."""
        hosts = self._hosts(scope)
        if not _all_in(hosts, _values(scope, b"host")):
            return 421, "the Host header names another server; --allow-host adds a name"
        if values := _values(scope, b"origin"):
            origins = {f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts}
            if not _all_in(origins, values):
                return 403, "pages of other sites may not send requests here"
        if self._token and scope["path"] not in self._public and not self._has_token(scope):
            return 401, "the request needs the header 'Authorization: Bearer <token>'"
        return None

    def _hosts(self, scope: Scope) -> set[str]:
        """Return what the Host header may hold: a name of the server, with its port or without."""
        server = scope.get("server") or (LOOPBACK[0], 0)
        if server != self._last[0]:  # almost always the same
            address, port = server
            names = {*self._names, _bracket(address.removeprefix("::ffff:"))}  # IPv4 by way of an IPv6 socket
            self._last = server, {*names, *(f"{name}:{port}" for name in names)}
        return self._last[1]

    def _has_token(self, scope: Scope) -> bool:
        values = _values(scope, b"authorization")
        scheme, _, token = values[0].partition(" ") if len(values) == 1 else ("", "", "")
        return scheme.lower() == "bearer" and hmac.compare_digest(
            token.strip().encode("latin-1"), self._token
        )


def _values(scope: Scope, header: bytes) -> list[str]:
    return [value.decode("latin-1") for name, value in scope["headers"] if name == header]


def _all_in(names: set[str], values: list[str]) -> bool:
    return bool(values) and all(value.lower() in names for value in values)


def _bracket(name: str) -> str:
    """Return a host as headers name it; one colon is that of a port."""
    return f"[{name}]" if name.count(":") > 1 and not name.startswith("[") else name


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
