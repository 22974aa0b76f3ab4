"""Show where to start: collections, skills, and the search for a task."""

from __future__ import annotations

from itertools import islice
from typing import Any

from starlette.responses import Response

from skillc.errors import EmptyQuery, SkillNotFound
from skillc.server.pages.markdown import PREFIX, slugify
from skillc.server.pages.visit import Visit
from skillc.skills import SkillId
from skillc.text import cut

PAGE = 40  # skills of a list
MAX_RESULTS = 20  # of a search
MAX_QUERY = 500  # characters
MAX_WORDS = 8  # of a reason
MAX_COLLECTIONS = 60  # of a page; the others are counted


def show_home(visit: Visit) -> Response:
    return _show(visit, "", "home.html")


def show_collection(visit: Visit) -> Response:
    return _show(visit, SkillId(visit.request.path_params["path"].strip("/")), "collection.html")


def _show(visit: Visit, path: str, template: str) -> Response:
    """Show a collection: those right below it, and a page of the skills below it."""
    every = visit.catalog.collections()
    after = visit.query("after")
    skills = list(islice(visit.catalog.skills(path, after), PAGE + 1))
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


def show_results(visit: Visit) -> Response:
    """Show the skills that fit a task, and why: a page, or only its results for a page that is typed into."""
    query = visit.query("q").strip()[:MAX_QUERY]
    is_part = visit.query("part") == "results"
    results, corrections = _find(visit, query)
    template = "results.html" if is_part else "find.html"
    return visit.page(template, query=query, results=results, corrections=corrections)


def _find(visit: Visit, query: str) -> tuple[list[dict[str, Any]], dict[str, str]]:
    catalog = visit.catalog
    try:
        found = catalog.find(query, MAX_RESULTS)
    except EmptyQuery:  # nothing yet, or no word in it
        return [], {}
    results = [
        {
            "id": skill.id,
            "description": cut(" ".join(skill.description.split()), 300),
            "words": [word for word, _ in skill.matched[:MAX_WORDS]],
            "fields": sorted({field for _, fields in skill.matched for field in fields}),
            "section": skill.section,
            "anchor": f"#{PREFIX}{slugify(skill.section)}" if skill.section and not skill.file else "",
            "copies": [skill_id for _, skill_id in skill.copies[:5]],
        }
        for skill in found
    ]
    return results, dict(found.corrections)


PAGES = {"/": show_home, "/c/{path:path}": show_collection, "/find": show_results}
