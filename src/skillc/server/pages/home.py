"""Show where to start: collections, skills, and the search for a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response

from skillc.errors import EmptyQuery, SkillcError, SkillNotFound
from skillc.index.skills import FoundSkill, FoundSkills, Scope
from skillc.registry.model import Skill, Version
from skillc.server.pages.local_catalog import is_own, list_overflows
from skillc.server.pages.markdown import PREFIX, slugify
from skillc.server.pages.visit import Visit
from skillc.skills import SkillId
from skillc.text import cut

PAGE = 40  # skills of a list
MAX_RESULTS = 12  # of a search, on one page: explaining each reads its file
MAX_FOUND = 100  # of a search, which are counted, filtered and sorted
MAX_FACETS = 12  # collections, and tags, that a search can be filtered by
MAX_QUERY = 500  # characters
MAX_WORDS = 8  # of a reason
MAX_COLLECTIONS = 60  # of a page; the others are counted


RELEVANCE, USED, UPDATED = "", "used", "updated"
SORTS = {RELEVANCE: "Best match", USED: "Most used", UPDATED: "Last updated"}


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
        skills=visit.catalog.mark(skills[:PAGE]),
        is_empty=not after and not (skills if visit.site.is_registry else list(filter(is_own, skills))),
        overflows=[] if visit.site.is_registry or path or after else list_overflows(visit),
        next_after=skills[PAGE - 1].id if len(skills) > PAGE else "",
        after=after,
    )


def _is_in(name: str, path: str) -> bool:
    return not path or name.startswith(f"{path}/")


def show_results(visit: Visit) -> Response:
    """Show the skills that fit a task, and why: a page, or only its results for a page that is typed into."""
    search = Search.read(visit)
    is_part = visit.query("part") == "results"
    template = "results.html" if is_part else "find.html"
    return visit.page(template, sorts=SORTS, **_find(visit, search))


@dataclass(frozen=True, slots=True)
class Search:
    """What a visitor looks for: a task, a collection and a tag that results must have, and their order."""

    query: str
    collection: str = ""
    tag: str = ""
    sort: str = ""
    start: int = 0

    @classmethod
    def read(cls, visit: Visit) -> Search:
        sort = visit.query("sort")
        return cls(
            visit.query("q").strip()[:MAX_QUERY],
            visit.query("collection").strip("/")[:MAX_QUERY],
            visit.query("tag")[:MAX_QUERY],
            sort if sort in SORTS else "",
            visit.number("start"),
        )

    def address(self, start: int = 0, **changes: str) -> str:
        """Return the address of this search, with another filter, order or first result."""
        search = replace(self, start=start, **changes)
        values = {"q": search.query, "collection": search.collection, "tag": search.tag, "sort": search.sort}
        values["start"] = str(search.start or "")
        return f"/find?{urlencode({name: value for name, value in values.items() if value})}"


def _find(visit: Visit, search: Search) -> dict[str, Any]:
    """Return the results of a search, how many there are, and what they can be filtered by."""
    try:
        scope = Scope(collection=search.collection, tag=search.tag)
        found = visit.catalog.find(search.query, MAX_FOUND, scope)
    except EmptyQuery:  # nothing yet, or no word in it
        found = FoundSkills()
    load = cache(partial(_load, visit))
    uses = dict(visit.catalog.usage().skills) if search.sort == USED else None
    chosen = found if search.sort == RELEVANCE else _sort(found, uses, load)
    depth = search.collection.count("/") + 1 if search.collection else 0
    deeper = (skill.id.split("/")[: depth + 1] for skill in found if skill.id.count("/") > depth)
    if search.start >= len(found):  # the address of a page that was there once
        search = replace(search, start=0)
    end = search.start + MAX_RESULTS
    shown = chosen[search.start : end]
    skills = visit.catalog.mark([skill for each in shown if (skill := load(each.id))])
    versions = {skill.id: _choose_version(skill) for skill in skills}
    return {
        "search": search,
        "results": [_describe(each, versions.get(SkillId(each.id)), uses) for each in shown],
        "total": len(found),
        "next_start": end if end < len(found) else 0,
        "corrections": found.corrections,
        "collections": Counter(map("/".join, deeper)).most_common(MAX_FACETS),
        "tags": Counter(tag for skill in found for tag in skill.tags).most_common(MAX_FACETS),
    }


def _load(visit: Visit, skill_id: str) -> Skill | None:
    """Return a skill that was found; none where it was taken away since."""
    try:
        return visit.catalog.skill(SkillId(skill_id))
    except SkillcError:
        return None


def _choose_version(skill: Skill) -> Version | None:
    return skill.latest or next(iter(skill.versions), None)


def _sort(
    found: FoundSkills, uses: dict[str, int] | None, load: Callable[[str], Skill | None]
) -> list[FoundSkill]:
    """Return results by use or by the time of their latest version, the best first where that is the same."""
    if uses is not None:
        return sorted(found, key=lambda skill: -uses.get(skill.id, 0))
    skills = filter(None, (load(each.id) for each in found))
    times = {skill.id: v.published_at.timestamp() for skill in skills if (v := _choose_version(skill))}
    return sorted(found, key=lambda each: times.get(SkillId(each.id), 0), reverse=True)


def _describe(found: FoundSkill, version: Version | None, uses: dict[str, int] | None) -> dict[str, Any]:
    return {
        "id": SkillId(found.id),
        "uses": uses and uses.get(found.id),
        "version": version,
        "description": cut(" ".join(found.description.split()), 300),
        "words": [word for word, _ in found.matched[:MAX_WORDS]],
        "fields": sorted({field for _, fields in found.matched for field in fields}),
        "section": found.section,
        "anchor": f"#{PREFIX}{slugify(found.section)}" if found.section and not found.file else "",
        "copies": [skill_id for _, skill_id in found.copies[:5]],
    }


PAGES = {"/": show_home, "/c/{path:path}": show_collection, "/find": show_results}
