"""Let admins see and change grants, and read the log of all changes."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.registry import Grant, Role
from skillc.server.pages.session import RegistrySite
from skillc.server.pages.visit import Visit, redirect, serve_page

MAX_GRANTS = 300
PAGE = 100  # changes of a page
LOOKAHEAD = 1000  # changes that are read to fill one


def routes(site: RegistrySite) -> list[BaseRoute]:
    registry = site.registry

    def show_grants(visit: Visit) -> Response:
        grants = registry.accounts.grants(visit.person)
        return visit.page(
            "grants.html",
            grants=grants[:MAX_GRANTS],
            more=max(0, len(grants) - MAX_GRANTS),
            roles=list(Role),
            can_grant=visit.has_role("admin"),
        )

    def set_grant(visit: Visit) -> Response:
        prefix = visit.text("prefix").strip("/")
        grant = Grant(visit.text("subject"), Role.parse(visit.text("role")), prefix)
        registry.accounts.grant(visit.person, grant)
        return redirect("/admin/grants")

    def remove_grant(visit: Visit) -> Response:
        registry.accounts.remove_grant(visit.person, visit.text("subject"), visit.text("prefix"))
        return redirect("/admin/grants")

    def show_log(visit: Visit) -> Response:
        """Show changes, the last first; `before` is the number that a page ends at."""
        visit.person.require(Role.ADMIN, "")
        before = visit.query("before")
        end = int(before) if before.isascii() and before.isdigit() and len(before) < 18 else 0
        last = end or _last_sequence(visit) + 1
        changes = registry.changes(visit.person, max(0, last - 1 - PAGE), PAGE)
        changes = [change for change in changes if change.sequence < last]
        return visit.page(
            "log.html",
            changes=changes[::-1],
            older=changes[0].sequence if changes and changes[0].sequence > 1 else 0,
            is_first=not end,
        )

    def _last_sequence(visit: Visit) -> int:
        """Return the number of the last change. They have no gaps, so that halves find it."""
        low, high = 0, 1
        while registry.changes(visit.person, high - 1, 1):
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if registry.changes(visit.person, middle - 1, 1) else (low, middle)
        return low

    return [
        Route("/admin/grants", serve_page(site, show_grants), methods=["GET"]),
        Route("/admin/grants", serve_page(site, set_grant), methods=["POST"]),
        Route("/admin/grants/remove", serve_page(site, remove_grant), methods=["POST"]),
        Route("/admin/log", serve_page(site, show_log), methods=["GET"]),
    ]
