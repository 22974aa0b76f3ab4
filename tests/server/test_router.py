"""Routing by the first part of a path: the same route as in a list, for any path."""

from __future__ import annotations

import itertools

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from skillc.server.registry import Branches

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


def test_same_as_a_list() -> None:
    """[SURFACES: Registry] each request is taken by the first route that fits, or is 404 or 405."""
    one = TestClient(Starlette(routes=make_routes()))
    other = TestClient(Starlette(routes=[Branches(make_routes())]))
    for client in (one, other):
        client.app.router.redirect_slashes = False  # type: ignore[attr-defined]
    parts = ("a", "b", "c", ".well", "m", "x", "")
    paths = ["/" + "/".join(words) for count in range(4) for words in itertools.product(parts, repeat=count)]
    for path in paths:
        for method in ("GET", "POST", "PUT"):
            expected, response = (
                client.request(method, f"http://testserver{path}") for client in (one, other)
            )
            assert (response.status_code, response.text) == (expected.status_code, expected.text), (
                method,
                path,
            )
            assert response.headers.get("Allow") == expected.headers.get("Allow")
