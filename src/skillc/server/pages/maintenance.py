"""Let visitors change what is published: tags, yanks, deletion, each with its undoing, and reviews."""

from __future__ import annotations

from starlette.responses import Response

from skillc.errors import InvalidParameter, RegistryRefused
from skillc.registry import Version
from skillc.server.pages.visit import Page, Visit, redirect
from skillc.skills import SkillId
from skillc.versions import LATEST

MAX_DELETIONS = 100
MAX_QUEUE = 50


def _change(operation: str, *fields: str) -> Page:
    """Return what takes a form that changes a skill: an operation of the registry, with some fields."""

    def change(visit: Visit) -> Response:
        skill_id = _read_id(visit)
        getattr(visit.registry, operation)(visit.person, skill_id, *map(visit.text, fields))
        return redirect(f"/versions/{skill_id}")

    return change


def delete(visit: Visit) -> Response:
    skill_id = _read_id(visit)
    if visit.text("confirmation") != skill_id:
        raise InvalidParameter("confirmation", f"type the ID of the skill to delete it: {skill_id}")
    visit.registry.delete(visit.person, skill_id)
    return redirect("/deleted")


def show_deletions(visit: Visit) -> Response:
    person = visit.person
    if not visit.has_role("maintainer"):
        raise RegistryRefused("deleted skills are for maintainers")
    deletions = visit.registry.deletions(person, MAX_DELETIONS + 1)
    has_more = len(deletions) > MAX_DELETIONS
    return visit.page("deleted.html", deletions=deletions[:MAX_DELETIONS], has_more=has_more)


def show_queue(visit: Visit) -> Response:
    """Show maintainers what waits for a review, and publishers what became of theirs."""
    person = visit.person
    if not visit.has_role("publisher"):
        raise RegistryRefused("the queue is for publishers and maintainers")
    queue = visit.registry.queue(person, MAX_QUEUE + 1)
    entries = [(version, _before(visit, version)) for version in queue[:MAX_QUEUE]]
    return visit.page("review.html", entries=entries, has_more=len(queue) > MAX_QUEUE)


def _before(visit: Visit, version: Version) -> str:
    """Return the version that is installed today instead of one that waits; empty where there is none."""
    skill = visit.catalog.skill(version.skill)
    latest = skill.latest
    return latest.version if latest is not None and LATEST in skill.tags else ""


def decide(visit: Visit) -> Response:
    approve = visit.text("decision") == "approve"
    visit.registry.review(visit.person, _read_id(visit), visit.text("version"), approve, visit.text("reason"))
    return redirect("/review")


def _read_id(visit: Visit) -> SkillId:
    return SkillId(visit.text("id"))


PAGES = {"/deleted": show_deletions, "/review": show_queue}
FORMS = {
    "/yank": _change("yank", "version", "reason"),
    "/unyank": _change("unyank", "version"),
    "/tag": _change("set_tag", "tag", "version"),
    "/untag": _change("remove_tag", "tag"),
    "/restore": _change("restore"),
    "/delete": delete,
    "/review": decide,
}
