"""Let admins see the workflows of CI that may publish, trust another one, or one no more."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidParameter
from skillc.registry import Role
from skillc.server.pages.session import RegistrySite
from skillc.server.pages.visit import Visit, redirect, serve_page

MAX_PUBLISHERS = 100


def routes(site: RegistrySite) -> list[BaseRoute]:
    registry = site.registry
    settings = site.service.settings.sign_in.publishing

    def show(visit: Visit) -> Response:
        person = visit.person
        person.require_anywhere(Role.ADMIN)
        publishers = registry.publishers.publishers(person)
        own = [permission.prefix for permission in person.permissions if permission.role is Role.ADMIN]
        return visit.page(
            "publishers.html",
            publishers=publishers[:MAX_PUBLISHERS],
            more=max(0, len(publishers) - MAX_PUBLISHERS),
            issuers=(*settings.github, *settings.gitlab),
            has_audience=bool(settings.audience or site.url),
            prefix=min(own, key=len, default=""),
        )

    def trust(visit: Visit) -> Response:
        if not settings.kind(visit.text("issuer")):
            raise InvalidParameter("issuer", "it is none of those in registry.toml")
        registry.publishers.trust(
            visit.person,
            visit.text("issuer"),
            visit.text("repository"),
            visit.text("workflow"),
            visit.text("prefix").strip("/"),
            ref=visit.text("ref"),
            environment=visit.text("environment"),
        )
        return redirect("/admin/publishers")

    def distrust(visit: Visit) -> Response:
        registry.publishers.distrust(visit.person, visit.text("id"))
        return redirect("/admin/publishers")

    return [
        Route("/admin/publishers", serve_page(site, show), methods=["GET"]),
        Route("/admin/publishers", serve_page(site, trust), methods=["POST"]),
        Route("/admin/publishers/remove", serve_page(site, distrust), methods=["POST"]),
    ]
