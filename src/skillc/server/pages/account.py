"""Let visitors see their account, and make and revoke tokens. A token is shown once: when it is made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidParameter
from skillc.registry import Caller, NewToken, Role, Session
from skillc.server.pages.session import RegistrySite
from skillc.server.pages.visit import NOT_KEPT, Visit, redirect, serve_page

LIVES = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year", "": "no end"}
MAX_SESSIONS = 20  # of a list, the last used first
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

    def end_session(visit: Visit) -> Response:
        site.registry.sessions.revoke(visit.person, visit.text("id"))
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
            sessions=_own_sessions(person),
            session_id=visit.session.partition(".")[0],
            created=created,
            roles=roles,
            lives=LIVES,
            prefix=min((own.prefix for own in person.permissions), key=len, default=""),
        )

    def _own_sessions(person: Caller) -> list[Session]:
        sessions = [
            each for each in site.registry.sessions.sessions(person) if each.subject == person.subject
        ]
        return sorted(sessions, key=lambda session: session.used_at, reverse=True)[:MAX_SESSIONS]

    return [
        Route("/account", serve_page(site, show), methods=["GET"]),
        Route("/account/tokens", serve_page(site, create), methods=["POST"]),
        Route("/account/sessions/end", serve_page(site, end_session), methods=["POST"]),
        Route("/account/tokens/revoke", serve_page(site, revoke), methods=["POST"]),
    ]


def _parse_life(text: str) -> datetime | None:
    if text not in LIVES:
        raise InvalidParameter("life", "choose one of the periods")
    return datetime.now(UTC) + timedelta(days=int(text)) if text else None
