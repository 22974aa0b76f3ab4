"""Let visitors change what is published: tags, yanks and deletion, each with its undoing."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidParameter, RegistryRefused
from skillc.server.pages.session import RegistrySite
from skillc.server.pages.visit import Visit, redirect, serve_page
from skillc.skills import SkillId

MAX_DELETIONS = 100


def routes(site: RegistrySite) -> list[BaseRoute]:
    registry = site.registry

    def yank(visit: Visit) -> Response:
        skill_id = _read_id(visit)
        registry.yank(visit.person, skill_id, visit.text("version"), visit.text("reason"))
        return _show_versions(skill_id)

    def unyank(visit: Visit) -> Response:
        skill_id = _read_id(visit)
        registry.unyank(visit.person, skill_id, visit.text("version"))
        return _show_versions(skill_id)

    def set_tag(visit: Visit) -> Response:
        skill_id = _read_id(visit)
        registry.set_tag(visit.person, skill_id, visit.text("tag"), visit.text("version"))
        return _show_versions(skill_id)

    def remove_tag(visit: Visit) -> Response:
        skill_id = _read_id(visit)
        registry.remove_tag(visit.person, skill_id, visit.text("tag"))
        return _show_versions(skill_id)

    def delete(visit: Visit) -> Response:
        skill_id = _read_id(visit)
        if visit.text("confirmation") != skill_id:
            raise InvalidParameter("confirmation", f"type the ID of the skill to delete it: {skill_id}")
        registry.delete(visit.person, skill_id)
        return redirect("/deleted")

    def restore(visit: Visit) -> Response:
        skill_id = _read_id(visit)
        registry.restore(visit.person, skill_id)
        return _show_versions(skill_id)

    def show_deletions(visit: Visit) -> Response:
        person = visit.person
        if not visit.has_role("maintainer"):
            raise RegistryRefused("deleted skills are for maintainers")
        deletions = registry.deletions(person, MAX_DELETIONS + 1)
        has_more = len(deletions) > MAX_DELETIONS
        return visit.page("deleted.html", deletions=deletions[:MAX_DELETIONS], has_more=has_more)

    forms = {"/yank": yank, "/unyank": unyank, "/tag": set_tag, "/untag": remove_tag}
    forms |= {"/delete": delete, "/restore": restore}
    return [
        Route("/deleted", serve_page(site, show_deletions), methods=["GET"]),
        *(Route(path, serve_page(site, page), methods=["POST"]) for path, page in forms.items()),
    ]


def _read_id(visit: Visit) -> SkillId:
    return SkillId(visit.text("id"))


def _show_versions(skill_id: SkillId) -> Response:
    return redirect(f"/versions/{skill_id}")
