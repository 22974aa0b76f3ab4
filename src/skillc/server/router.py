"""Route requests by the first part of their path: of a hundred routes, a few are compared with it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

ROUTE = "skillc.route"  # what the scope of a request has: the route that takes it
_PARAMETER = re.compile(r"\{[^}]*\}")


class Branches(BaseRoute):
    """Routes as one route. The order of the routes counts, as in any list of them."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self.routes = tuple(routes)
        entries = [(_read_first(route), _read_literal(route), route) for route in routes]
        self._others = [(literal, route) for first, literal, route in entries if first is None]
        self._branches: dict[str, list[tuple[str, BaseRoute]]] = defaultdict(list)
        for name in {first for first, _, _ in entries if first is not None}:
            self._branches[name] = [(text, route) for first, text, route in entries if first in (name, None)]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        path = scope["path"]
        partial: tuple[Match, Scope] = Match.NONE, {}
        for literal, route in self._branches.get(path.split("/", 2)[1] if "/" in path else "", self._others):
            if literal in path:
                match, child = route.matches(scope)
                if match is Match.FULL:
                    return match, {**child, ROUTE: route}
                if match is Match.PARTIAL and partial[0] is Match.NONE:
                    partial = match, {**child, ROUTE: route}
        return partial

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await scope[ROUTE].handle(scope, receive, send)


def _read_first(route: BaseRoute) -> str | None:
    """Return the first part of a route's path; None where it can be any."""
    first = getattr(route, "path", "").split("/", 2)[1:2]
    return first[0] if first and "{" not in first[0] else None


def _read_literal(route: BaseRoute) -> str:
    """Return the longest text that every path of a route has."""
    return max(_PARAMETER.split(getattr(route, "path", "")), key=len)
