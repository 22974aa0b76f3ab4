"""Routing by the first part of a path: the same route as in a list, for any path."""

from __future__ import annotations

import itertools

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Match, Mount, Route
from starlette.testclient import TestClient
from starlette.types import Scope

from skillc.server.router import ROUTE, Branches

PATHS = ("/", "/a", "/a/{x}", "/a/{x}/b", "/{p:path}/.well/{y}", "/b/{z:path}", "/b", "/{any}", "/a/c")


async def answer(request: Request) -> Response:
    return PlainTextResponse(f"{request.url.path} {request.path_params}")


def make_routes() -> list[Route | Mount]:
    routes: list[Route | Mount] = []
    for number, path in enumerate(PATHS):
        routes.append(Route(path, answer, methods=["POST"] if number % 3 == 1 else ["GET"], name=str(number)))
    return [
        *routes,
        Route("/a", answer, methods=["PUT"]),
        Mount("/m", Starlette(routes=[Route("/x", answer)])),
    ]


def match_in_order(routes: list[Route | Mount], scope: Scope) -> tuple[Match, Scope, Route | Mount | None]:
    """What a list of routes does: the first that fits, else the first that fits but for the method."""
    found = [(*route.matches(scope), route) for route in routes]
    fits = [entry for kind in (Match.FULL, Match.PARTIAL) for entry in found if entry[0] is kind]
    return fits[0] if fits else (Match.NONE, {}, None)


def test_same_as_a_list() -> None:
    """[SURFACES: Registry] each request is taken by the first route that fits, or is 404 or 405."""
    routes = make_routes()
    branches = Branches(routes)
    parts = ("a", "b", "c", ".well", "m", "x", "")
    paths = ["/" + "/".join(words) for count in range(4) for words in itertools.product(parts, repeat=count)]
    for path, method in itertools.product(paths, ("GET", "POST", "PUT")):
        scope = {"type": "http", "path": path, "method": method, "root_path": ""}
        match, child = branches.matches(dict(scope))
        route = child.pop(ROUTE, None)
        assert (match, child, route) == match_in_order(routes, dict(scope)), (method, path)


def test_answers() -> None:
    """[SURFACES: Registry] a route that fits answers; a path without one is 404, a method 405."""
    client = TestClient(Starlette(routes=[Branches(make_routes())]))
    assert client.get("/b/c/x").text == "/b/c/x {'z': 'c/x'}"
    assert client.get("/m/x").text == "/m/x {}"
    assert client.get("/c/x").status_code == 404
    response = client.put("/b")
    assert (response.status_code, {*response.headers["Allow"].split(", ")}) == (405, {"GET", "HEAD"})
