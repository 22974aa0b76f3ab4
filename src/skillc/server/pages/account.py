"""Let visitors see their account and make tokens; and let admins see people, grants, workflows and the log.

A token is shown once: when it is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from skillc.errors import InvalidParameter
from skillc.registry import NewToken, Role
from skillc.registry.model import Grant, Permission, Token
from skillc.server.pages.visit import NOT_KEPT, Visit, change, redirect

LIVES = {"7": "7 days", "30": "30 days", "90": "90 days", "365": "a year", "": "no end"}
MAX_SESSIONS = 20  # of a list, the last used first
MAX_TOKENS = 100  # of a list; those that are valid come first
MAX_GRANTS = 100  # of a page
MAX_CHANGES = 100  # of a page
MAX_PEOPLE = 40  # of a page
MAX_GROUPS = 5  # of a person, and so many grants
MAX_PUBLISHERS = 100
MAX_SUBJECT = 200  # characters


def show_account(visit: Visit, created: NewToken | None = None) -> Response:
    person, now = visit.person, datetime.now(UTC)
    tokens = sorted(
        visit.registry.accounts.tokens(person),
        key=lambda token: (not token.is_valid(now), -token.created_at.timestamp()),
    )
    tokens, more = tokens[:MAX_TOKENS], max(0, len(tokens) - MAX_TOKENS)
    own = [each for each in visit.registry.sessions.sessions(person) if each.subject == person.subject]
    return visit.page(
        "account.html",
        headers=NOT_KEPT,
        person=person,
        tokens=[*zip(tokens, visit.registry.accounts.abilities(tokens), strict=True)],
        is_met=_is_met,
        more=more,
        now=now,
        sessions=sorted(own, key=lambda session: session.used_at, reverse=True)[:MAX_SESSIONS],
        session_id=visit.session.partition(".")[0],
        created=created,
        roles=[role for role in Role if any(own.role >= role for own in person.permissions)],
        lives=LIVES,
        prefix=min((own.prefix for own in person.permissions), key=len, default=""),
    )


def _is_met(token: Token, abilities: Sequence[Permission]) -> bool:
    """Return whether a token may do all that its scope says."""
    return any(own.includes(token.role, token.prefix) for own in abilities)


def create_token(visit: Visit) -> Response:
    life = visit.text("life")
    if life not in LIVES:
        raise InvalidParameter("life", "choose one of the periods")
    token = visit.registry.accounts.create_token(
        visit.person,
        Role.parse(visit.text("role")),
        visit.text("prefix").strip("/"),
        label=visit.text("label") or "token",
        expires_at=datetime.now(UTC) + timedelta(days=int(life)) if life else None,
    )
    return show_account(visit, token)


# For admins


def show_grants(visit: Visit) -> Response:
    return visit.page(
        "grants.html",
        **visit.part("grants", visit.registry.accounts.grants(visit.person), MAX_GRANTS),
        roles=list(Role),
        can_grant=visit.has_role("admin"),
        subject=visit.query("subject")[:MAX_SUBJECT],
    )


def set_grant(visit: Visit) -> Response:
    prefix = visit.text("prefix").strip("/")
    grant = Grant(visit.text("subject"), Role.parse(visit.text("role")), prefix)
    visit.registry.accounts.grant(visit.person, grant)
    return redirect("/admin/grants")


def show_log(visit: Visit) -> Response:
    """Show changes, the last first; `before` is the number that a page ends at."""
    visit.person.require(Role.ADMIN, "")
    end = visit.number("before")
    last = end or visit.registry.revision() + 1
    changes = visit.registry.changes(visit.person, max(0, last - 1 - MAX_CHANGES), MAX_CHANGES)
    changes = [each for each in changes if each.sequence < last]
    older = changes[0].sequence if changes and changes[0].sequence > 1 else 0
    return visit.page("log.html", changes=changes[::-1], older=older, is_first=not end)


def show_people(visit: Visit) -> Response:
    """Show people that signed in with an issuer, and what they may do."""
    part = visit.part("people", visit.registry.sessions.people(visit.person), MAX_PEOPLE)
    grants: dict[str, list[Grant]] = {}
    for grant in visit.registry.accounts.grants(visit.person):
        grants.setdefault(grant.subject, []).append(grant)
    now = visit.registry.now()
    rows = [
        (
            person,
            person.current_groups(now),
            [g for name in person.subjects(now) for g in grants.get(name, ())],
        )
        for person in part["people"]
    ]
    return visit.page("people.html", **part | {"people": rows}, max_groups=MAX_GROUPS)


def show_publishers(visit: Visit) -> Response:
    """Show the workflows of CI that may publish."""
    person, settings = visit.person, visit.settings.sign_in.publishing
    person.require_anywhere(Role.ADMIN)
    publishers = visit.registry.publishers.publishers(person)
    own = [permission.prefix for permission in person.permissions if permission.role is Role.ADMIN]
    return visit.page(
        "publishers.html",
        publishers=publishers[:MAX_PUBLISHERS],
        more=max(0, len(publishers) - MAX_PUBLISHERS),
        issuers=(*settings.github, *settings.gitlab),
        has_audience=bool(settings.audience or visit.site.url),
        prefix=min(own, key=len, default=""),
    )


def trust_publisher(visit: Visit) -> Response:
    if not visit.settings.sign_in.publishing.kind(visit.text("issuer")):
        raise InvalidParameter("issuer", "it is none of those in registry.toml")
    names = ("issuer", "repository", "workflow", "ref", "environment")
    fields = {name: visit.text(name) for name in names}
    visit.registry.publishers.trust(visit.person, **fields, prefix=visit.text("prefix").strip("/"))
    return redirect("/admin/publishers")


PAGES = {
    "/account": show_account,
    "/admin/grants": show_grants,
    "/admin/log": show_log,
    "/admin/people": show_people,
    "/admin/publishers": show_publishers,
}
FORMS = {
    "/account/tokens": create_token,
    "/account/tokens/revoke": change("/account", lambda registry: registry.accounts.revoke_token, "id"),
    "/account/sessions/end": change("/account", lambda registry: registry.sessions.revoke, "id"),
    "/admin/grants": set_grant,
    "/admin/grants/remove": change(
        "/admin/grants", lambda registry: registry.accounts.remove_grant, "subject", "prefix"
    ),
    "/admin/people/remove": change(
        "/admin/people", lambda registry: registry.sessions.remove_person, "subject"
    ),
    "/admin/publishers": trust_publisher,
    "/admin/publishers/remove": change(
        "/admin/publishers", lambda registry: registry.publishers.distrust, "id"
    ),
}
