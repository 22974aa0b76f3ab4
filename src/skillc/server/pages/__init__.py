"""Pages for people: a registry's, with accounts, and those of one's own skills, which can only be read.

Rendered on the server. A little JavaScript makes them quicker to use; everything works without it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from skillc.server.pages import account, assets, diff, home, login, publication, skill
from skillc.server.pages.assets import quote_path
from skillc.server.pages.local_catalog import LocalSite, show_agents
from skillc.server.pages.registry_catalog import RegistrySite
from skillc.server.pages.visit import Page, Site, prefers_html, serve_page, show_missing
from skillc.server.responses import refuse_route
from skillc.workspace import Workspace

READING = home.PAGES | skill.PAGES | diff.PAGES
READING |= {"/versions/{rest:path}": publication.show_versions}


def routes(site: RegistrySite) -> list[BaseRoute]:
    """Return the routes of a registry's pages; the first is for an address of the API."""
    return [
        BrowserRoute("/skills/{id:path}", _lead_to_page),
        *_routes(site, READING | account.PAGES | publication.PAGES),
        *_routes(site, account.FORMS | publication.FORMS, "POST"),
        *publication.routes(site),
        *login.routes(site),
        *assets.routes(site.assets),
    ]


def create_ui_app(workspace: Workspace) -> Starlette:
    """Return the application of `skc ui`: the pages of the skills that a workspace has."""
    site = LocalSite(workspace)
    routes = [*_routes(site, {**READING, "/agents": show_agents}), *assets.routes(site.assets)]

    @asynccontextmanager
    async def live(app: Starlette) -> AsyncIterator[None]:
        preparation = asyncio.create_task(site.prepare())  # while the browser starts
        yield
        preparation.cancel()
        site.levels.close()

    app = Starlette(routes=routes, exception_handlers={HTTPException: refuse(site)}, lifespan=live)
    app.router.redirect_slashes = False
    return app


def refuse(site: Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return what answers an unknown path, or a method that a path does not take: a page for browsers."""

    async def respond(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if not prefers_html(request):
            return await refuse_route(request, error)
        return await show_missing(site, request, error)

    return respond


def _routes(site: Site, pages: Mapping[str, Page], method: str = "GET") -> list[BaseRoute]:
    return [Route(path, serve_page(site, page), methods=[method]) for path, page in pages.items()]


class BrowserRoute(Route):
    """The address of a skill in the API, for browsers alone: other clients get the next route."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if not prefers_html(Request(scope)):  # first, because it is false for almost all requests here
            return Match.NONE, {}
        match, values = super().matches(scope)
        if match is not Match.FULL:
            return Match.NONE, {}
        path = values["path_params"]["id"]
        is_below = "." in path or _PARTS.intersection(path.split("/")[1:])  # no ID has a dot
        return (Match.NONE, {}) if is_below else (match, values)


_PARTS = frozenset(("files", "versions", "tags"))


async def _lead_to_page(request: Request) -> Response:
    """Lead a browser from the address of a skill in the API to its page."""
    return RedirectResponse(f"/s/{quote_path(request.path_params['id'])}", 303)
