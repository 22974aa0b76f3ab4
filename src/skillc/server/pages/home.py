"""Show where to start: collections, skills and the search."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import SkillNotFound
from skillc.server.pages.visit import Site, Visit, serve_page
from skillc.skills import SkillId

PAGE = 40  # skills of a list
MAX_COLLECTIONS = 60  # of a page; the others are counted


def routes(site: Site) -> list[BaseRoute]:
    return [
        Route("/", serve_page(site, show_home), methods=["GET"]),
        Route("/c/{path:path}", serve_page(site, show_collection), methods=["GET"]),
    ]


def show_home(visit: Visit) -> Response:
    return _show(visit, "", "home.html")


def show_collection(visit: Visit) -> Response:
    return _show(visit, SkillId(visit.request.path_params["path"].strip("/")), "collection.html")


def _show(visit: Visit, path: str, template: str) -> Response:
    """Show a collection: those right below it, and a page of the skills below it."""
    every = visit.shelf.collections()
    after = visit.query("after")
    skills = visit.shelf.skills(path, after, PAGE + 1)
    if path and path not in every and not skills:  # what waits for a review is listed, and not counted
        raise SkillNotFound(path, "there is no such collection")
    depth = path.count("/") + 1 if path else 0
    inside = {name: count for name, count in every.items() if name.count("/") == depth and _is_in(name, path)}
    return visit.page(
        template,
        path=path,
        collections=list(inside.items())[:MAX_COLLECTIONS],
        more_collections=max(0, len(inside) - MAX_COLLECTIONS),
        skills=skills[:PAGE],
        next_after=skills[PAGE - 1].id if len(skills) > PAGE else "",
        after=after,
    )


def _is_in(name: str, path: str) -> bool:
    return not path or name.startswith(f"{path}/")
