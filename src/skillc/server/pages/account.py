"""Let visitors see their account and make tokens; and let admins see people, grants, workflows and the log.

A token is shown once: when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from skillc.errors import InvalidParameter
from skillc.registry import GROUP, Grant, NewToken, Permission, Role, Token
from skillc.server.pages.visit import NOT_KEPT, Page, Visit, redirect

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
    grants = visit.registry.accounts.grants(visit.person)
    start = _read_number(visit.query("start"))
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
    visit.registry.accounts.grant(visit.person, grant)
    return redirect("/admin/grants")


def show_log(visit: Visit) -> Response:
    """Show changes, the last first; `before` is the number that a page ends at."""
    visit.person.require(Role.ADMIN, "")
    end = _read_number(visit.query("before"))
    last = end or visit.registry.revision() + 1
    changes = visit.registry.changes(visit.person, max(0, last - 1 - MAX_CHANGES), MAX_CHANGES)
    changes = [change for change in changes if change.sequence < last]
    older = changes[0].sequence if changes and changes[0].sequence > 1 else 0
    return visit.page("log.html", changes=changes[::-1], older=older, is_first=not end)


def show_people(visit: Visit) -> Response:
    """Show people that signed in with an issuer, and what they may do."""
    people = visit.registry.sessions.people(visit.person)
    grants: dict[str, list[Grant]] = {}
    for grant in visit.registry.accounts.grants(visit.person):
        grants.setdefault(grant.subject, []).append(grant)
    start = _read_number(visit.query("start"))
    rows = []
    for person in people[start : start + MAX_PEOPLE]:
        groups = person.current_groups(visit.registry.now())
        names = (person.subject, *(f"{GROUP}{group}" for group in groups))
        rows.append((person, groups, [grant for name in names for grant in grants.get(name, ())]))
    next_start = start + MAX_PEOPLE if len(people) > start + MAX_PEOPLE else 0
    return visit.page("people.html", people=rows, start=start, next_start=next_start, max_groups=MAX_GROUPS)


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


def _change(path: str, operation: Callable[[Visit], Callable[..., object]], *fields: str) -> Page:
    """Return what takes a form with the fields that an operation needs, and leads to a page then."""

    def change(visit: Visit) -> Response:
        operation(visit)(visit.person, *map(visit.text, fields))
        return redirect(path)

    return change


def _read_number(text: str) -> int:
    """Return a number from an address; 0 for what is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 0


PAGES = {
    "/account": show_account,
    "/admin/grants": show_grants,
    "/admin/log": show_log,
    "/admin/people": show_people,
    "/admin/publishers": show_publishers,
}
FORMS = {
    "/account/tokens": create_token,
    "/account/tokens/revoke": _change("/account", lambda visit: visit.registry.accounts.revoke_token, "id"),
    "/account/sessions/end": _change("/account", lambda visit: visit.registry.sessions.revoke, "id"),
    "/admin/grants": set_grant,
    "/admin/grants/remove": _change(
        "/admin/grants", lambda visit: visit.registry.accounts.remove_grant, "subject", "prefix"
    ),
    "/admin/people/remove": _change(
        "/admin/people", lambda visit: visit.registry.sessions.remove_person, "subject"
    ),
    "/admin/publishers": trust_publisher,
    "/admin/publishers/remove": _change(
        "/admin/publishers", lambda visit: visit.registry.publishers.distrust, "id"
    ),
}
