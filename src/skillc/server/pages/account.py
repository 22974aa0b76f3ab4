"""Let visitors see their account, and make and revoke tokens. A token is shown once: when it is made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidParameter
from skillc.registry import NewToken, Role
from skillc.server.pages.session import RegistrySite
from skillc.server.pages.visit import NOT_KEPT, Visit, redirect, serve_page

LIVES = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year", "": "no end"}
MAX_TOKENS = 100  # of a list; those that are valid come first


def routes(site: RegistrySite) -> list[BaseRoute]:
    accounts = site.registry.accounts

    def show(visit: Visit) -> Response:
        return _show(visit)

    def create(visit: Visit) -> Response:
        role = Role.parse(visit.text("role"))
        expires_at = _parse_life(visit.text("life"))
        label = visit.text("label") or "token"
        prefix = visit.text("prefix").strip("/")
        token = accounts.create_token(visit.person, role, prefix, label=label, expires_at=expires_at)
        return _show(visit, token)

    def revoke(visit: Visit) -> Response:
        accounts.revoke_token(visit.person, visit.text("id"))
        return redirect("/account")

    def _show(visit: Visit, created: NewToken | None = None) -> Response:
        person = visit.person
        now = datetime.now(UTC)
        tokens = sorted(
            accounts.tokens(person), key=lambda t: (not t.is_valid(now), -t.created_at.timestamp())
        )
        roles = [role for role in Role if any(own.role >= role for own in person.permissions)]
        return visit.page(
            "account.html",
            headers=NOT_KEPT,
            person=person,
            tokens=tokens[:MAX_TOKENS],
            more=max(0, len(tokens) - MAX_TOKENS),
            now=now,
            created=created,
            roles=roles,
            lives=LIVES,
            prefix=min((own.prefix for own in person.permissions), key=len, default=""),
        )

    return [
        Route("/account", serve_page(site, show), methods=["GET"]),
        Route("/account/tokens", serve_page(site, create), methods=["POST"]),
        Route("/account/tokens/revoke", serve_page(site, revoke), methods=["POST"]),
    ]


def _parse_life(text: str) -> datetime | None:
    if text not in LIVES:
        raise InvalidParameter("life", "choose one of the periods")
    return datetime.now(UTC) + timedelta(days=int(text)) if text else None
