"""Say which requests a server answers: those that name it, from no foreign page, with its token.

A page can lead a browser here by a name of its own (DNS rebinding), or send it a request from another site.
Both show: the Host header has the page's name, the Origin header the page's address.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from skillc.errors import InvalidOption

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")


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
        from skillc.server.responses import failure  # loads Starlette

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
