"""Let admins see and change grants, and read the log of all changes."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.registry import Grant, Role
from skillc.server.pages.session import RegistrySite
from skillc.server.pages.visit import Visit, redirect, serve_page

MAX_GRANTS = 100  # of a page
MAX_SUBJECT = 200  # characters
PAGE = 100  # changes of a page


def routes(site: RegistrySite) -> list[BaseRoute]:
    registry = site.registry

    def show_grants(visit: Visit) -> Response:
        grants = registry.accounts.grants(visit.person)
        start = read_number(visit.query("start"))
        return visit.page(
            "grants.html",
            grants=grants[start : start + MAX_GRANTS],
            start=start,
            next_start=start + MAX_GRANTS if len(grants) > start + MAX_GRANTS else 0,
            roles=list(Role),
            can_grant=visit.has_role("admin"),
            subject=visit.query("subject")[:MAX_SUBJECT],
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
        end = read_number(visit.query("before"))
        last = end or registry.revision() + 1
        changes = registry.changes(visit.person, max(0, last - 1 - PAGE), PAGE)
        changes = [change for change in changes if change.sequence < last]
        return visit.page(
            "log.html",
            changes=changes[::-1],
            older=changes[0].sequence if changes and changes[0].sequence > 1 else 0,
            is_first=not end,
        )

    return [
        Route("/admin/grants", serve_page(site, show_grants), methods=["GET"]),
        Route("/admin/grants", serve_page(site, set_grant), methods=["POST"]),
        Route("/admin/grants/remove", serve_page(site, remove_grant), methods=["POST"]),
        Route("/admin/log", serve_page(site, show_log), methods=["GET"]),
    ]


def read_number(text: str) -> int:
    """Return a number from an address; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0
