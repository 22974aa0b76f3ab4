"""Show the skills that fit a task, and why: a page, or only its results for a page that is typed into."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import EmptyQuery
from skillc.server.pages.markdown import PREFIX, slugify
from skillc.server.pages.visit import Site, Visit, serve_page
from skillc.text import cut

LIMIT = 20
MAX_QUERY = 500  # characters
MAX_WORDS = 8  # of a reason


def routes(site: Site) -> list[BaseRoute]:
    return [Route("/find", serve_page(site, show_results), methods=["GET"])]


def show_results(visit: Visit) -> Response:
    query = visit.query("q").strip()[:MAX_QUERY]
    is_part = visit.query("part") == "results"
    results, corrections = _find(visit, query)
    template = "results.html" if is_part else "find.html"
    return visit.page(template, query=query, results=results, corrections=corrections)


def _find(visit: Visit, query: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    shelf = visit.shelf
    try:
        found = shelf.find(query, LIMIT)
    except EmptyQuery:  # nothing yet, or no word in it
        return [], {}
    results = [
        {
            "id": skill.id,
            "description": cut(" ".join(skill.description.split()), 300),
            "words": [word for word, _ in skill.matched[:MAX_WORDS]],
            "fields": sorted({field for _, fields in skill.matched for field in fields}),
            "section": skill.section,
            "anchor": f"#{PREFIX}{slugify(skill.section)}" if skill.section else "",
            "copies": [skill_id for _, skill_id in skill.copies[:5]],
        }
        for skill in found
    ]
    return results, dict(found.corrections)
