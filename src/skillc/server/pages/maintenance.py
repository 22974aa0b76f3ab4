"""Let visitors change what is published: tags, yanks, deletion, each with its undoing, and reviews."""

from __future__ import annotations

from starlette.responses import Response

from skillc.errors import InvalidParameter, RegistryRefused
from skillc.registry import Version
from skillc.server.pages.visit import Visit, change, redirect
from skillc.skills import SkillId
from skillc.versions import LATEST

MAX_DELETIONS = 100
MAX_QUEUE = 50


def delete(visit: Visit) -> Response:
    skill_id = SkillId(visit.text("id"))
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
    fields = (visit.text("id"), visit.text("version"), approve, visit.text("reason"))
    visit.registry.review(visit.person, *fields)
    return redirect("/review")


PAGES = {"/deleted": show_deletions, "/review": show_queue}
_VERSIONS = "/versions/{id}"
FORMS = {
    "/yank": change(_VERSIONS, lambda registry: registry.yank, "id", "version", "reason"),
    "/unyank": change(_VERSIONS, lambda registry: registry.unyank, "id", "version"),
    "/tag": change(_VERSIONS, lambda registry: registry.set_tag, "id", "tag", "version"),
    "/untag": change(_VERSIONS, lambda registry: registry.remove_tag, "id", "tag"),
    "/restore": change(_VERSIONS, lambda registry: registry.restore, "id"),
    "/delete": delete,
    "/review": decide,
}
