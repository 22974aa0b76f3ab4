"""Let maintainers decide what waits for a review, and publishers see what became of theirs."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import RegistryRefused
from skillc.registry import LATEST, Version
from skillc.server.pages.session import RegistrySite
from skillc.server.pages.visit import Visit, redirect, serve_page
from skillc.skills import SkillId

MAX_QUEUE = 50


def routes(site: RegistrySite) -> list[BaseRoute]:
    registry = site.registry

    def show(visit: Visit) -> Response:
        person = visit.person
        if not visit.has_role("publisher"):
            raise RegistryRefused("the queue is for publishers and maintainers")
        queue = registry.queue(person, MAX_QUEUE + 1)
        entries = [(version, _before(visit, version)) for version in queue[:MAX_QUEUE]]
        return visit.page("review.html", entries=entries, has_more=len(queue) > MAX_QUEUE)

    def decide(visit: Visit) -> Response:
        approve = visit.text("decision") == "approve"
        skill_id, version = SkillId(visit.text("id")), visit.text("version")
        registry.review(visit.person, skill_id, version, approve, visit.text("reason"))
        return redirect("/review")

    return [
        Route("/review", serve_page(site, show), methods=["GET"]),
        Route("/review", serve_page(site, decide), methods=["POST"]),
    ]


def _before(visit: Visit, version: Version) -> str:
    """Return the version that is installed today instead of one that waits; empty where there is none."""
    skill = visit.shelf.skill(version.skill)
    latest = skill.latest
    return latest.version if latest is not None and LATEST in skill.tags else ""
