"""Let admins see people that signed in with an issuer, what they may do, and forget them."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.registry import GROUP, Grant
from skillc.server.pages.admin import read_number
from skillc.server.pages.session import RegistrySite
from skillc.server.pages.visit import Visit, redirect, serve_page

PAGE = 40  # people of a page
MAX_GROUPS = 5  # of a person, and so many grants


def routes(site: RegistrySite) -> list[BaseRoute]:
    registry = site.registry

    def show(visit: Visit) -> Response:
        people = registry.sessions.people(visit.person)
        grants: dict[str, list[Grant]] = {}
        for grant in registry.accounts.grants(visit.person):
            grants.setdefault(grant.subject, []).append(grant)
        start = read_number(visit.query("start"))
        rows = []
        for person in people[start : start + PAGE]:
            groups = person.current_groups(registry.now())
            names = (person.subject, *(f"{GROUP}{group}" for group in groups))
            rows.append((person, groups, [grant for name in names for grant in grants.get(name, ())]))
        next_start = start + PAGE if len(people) > start + PAGE else 0
        return visit.page(
            "people.html", people=rows, start=start, next_start=next_start, max_groups=MAX_GROUPS
        )

    def remove(visit: Visit) -> Response:
        registry.sessions.remove_person(visit.person, visit.text("subject"))
        return redirect("/admin/people")

    return [
        Route("/admin/people", serve_page(site, show), methods=["GET"]),
        Route("/admin/people/remove", serve_page(site, remove), methods=["POST"]),
    ]
