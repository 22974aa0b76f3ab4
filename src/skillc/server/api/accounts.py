"""Show and change the accounts of a registry: the caller itself, tokens, grants, and the log of changes.

And what belongs to people and machines: sessions, trusted publishers of CI and their tokens, counts of use.
`/_/oidc/audience` and `/_/oidc/mint-token` are named as on PyPI.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from skillc.contract import encode
from skillc.errors import RegistryRefused
from skillc.registry import Batch, Receipt, Role, Statistics
from skillc.registry.model import Grant, Permission, Person, Session
from skillc.server.api.contracts import (
    ChangeList,
    MintRequest,
    NewTokenEntry,
    PublisherEntry,
    PublisherRequest,
    TokenEntry,
    TokenRequest,
    UsageBatch,
    view,
)
from skillc.server.api.declaration import Call, operation
from skillc.server.requests import LIMIT, Parameter, read_body
from skillc.server.responses import Refusal, respond
from skillc.server.signin.claims import read_issuer, read_job

MAX_LIFE = 10 * 365 * 24 * 3600  # seconds of a token that expires
DEFAULT_CHANGES = 100
MAX_SEQUENCE = 2**63 - 1
MAX_MINT = 64 << 10  # bytes of a request for a token
SECRET = {"Cache-Control": "no-store"}  # what shows a token
ADMINS: dict[str, Any] = {"role": Role.ADMIN, "needs_token": True}
IDENTITY = {
    "subject": str,
    "permissions": [Permission],
    "token": str | None,
    "expires_at": datetime | None,
}
MINTED = {"success": bool, "token": str, "expires_at": datetime, "prefix": str, "subject": str}


@operation("Accounts", "GET", "/whoami", IDENTITY)
def show_caller(call: Call) -> Any:
    """Say which caller a token makes."""
    caller = call.caller
    return {name: getattr(caller, name) for name in IDENTITY} | {"token": caller.token or None}


@operation("Accounts", "POST", "/tokens", NewTokenEntry, status=201, needs_token=True, body=TokenRequest)
def create_token(call: Call) -> Any:
    """Make a token. It may do no more, and lasts no longer, than the one that makes it."""
    # Its secret is in this response and nowhere else.
    fields, accounts = call.body, call.registry.accounts
    expires_at, label = _expiry(fields.expires_in), fields.label or "token"
    scope = fields.role, fields.prefix
    new = accounts.create_token(call.caller, *scope, label=label, owner=fields.owner, expires_at=expires_at)
    (permissions,) = accounts.abilities([new.token])
    return respond(view(NewTokenEntry, new.token, token=new.secret, permissions=permissions), 201, SECRET)


def _expiry(seconds: int | None) -> datetime | None:
    if seconds is None:
        return None
    if not 1 <= seconds <= MAX_LIFE:
        raise Refusal(422, f"'expires_in' must be a number of seconds from 1 to {MAX_LIFE}")
    return datetime.now(UTC) + timedelta(seconds=seconds)


@operation("Accounts", "GET", "/tokens", {"tokens": [TokenEntry]}, needs_token=True)
def list_tokens(call: Call) -> Any:
    """List the tokens that the caller may revoke, without their secrets."""
    tokens = call.registry.accounts.tokens(call.caller)
    pairs = zip(tokens, call.registry.accounts.abilities(tokens), strict=True)
    return {"tokens": [view(TokenEntry, token, permissions=permissions) for token, permissions in pairs]}


@operation("Accounts", "DELETE", "/tokens/{token}", status=204, needs_token=True, failures=(404,))
def revoke_token(call: Call) -> None:
    """Revoke a token, and those that were made with it."""
    call.registry.accounts.revoke_token(call.caller, call.path["token"])


@operation("Accounts", "GET", "/grants", {"grants": [Grant]}, needs_token=True)
def list_grants(call: Call) -> Any:
    """List the grants that the caller administers, and its own."""
    return {"grants": call.registry.accounts.grants(call.caller)}


@operation("Accounts", "PUT", "/grants", Grant, **ADMINS, body=Grant)
def set_grant(call: Call) -> Any:
    """Give a subject a role below a prefix, in place of the one it has there."""
    call.registry.accounts.grant(call.caller, call.body)
    return call.body


SUBJECT = Parameter("subject", "The person or program.")
PREFIX = Parameter("prefix", "The prefix of the grant; empty for the whole registry.")


@operation(
    "Accounts", "DELETE", "/grants", status=204, **ADMINS, parameters=(SUBJECT, PREFIX), failures=(404,)
)
def remove_grant(call: Call) -> None:
    """Take a grant back."""
    call.registry.accounts.remove_grant(call.caller, **call.query)


SINCE = Parameter("since", "Only changes behind this number.", "integer", 0, MAX_SEQUENCE)


@operation("Accounts", "GET", "/audit-log", ChangeList, needs_token=True, parameters=(SINCE, LIMIT))
def read_log(call: Call) -> Any:
    """List changes, oldest first: those that the caller administers, and its own."""
    since, limit = call.query["since"] or 0, call.query["limit"] or DEFAULT_CHANGES
    changes = call.registry.changes(call.caller, since, limit)
    subject, allows = call.caller.subject, call.caller.allows
    own = [each for each in changes if each.subject == subject or allows(Role.ADMIN, each.skill)]
    more = {"next_since": changes[-1].sequence} if len(changes) == limit else {}
    return ChangeList(own, **more)


# Sign-in


@operation("Sign-in", "GET", "/sessions", {"sessions": [Session]}, needs_token=True)
def list_sessions(call: Call) -> Any:
    """List the sessions that the caller may end; all of them for admins of the whole registry."""
    return {"sessions": call.registry.sessions.sessions(call.caller)}


@operation("Sign-in", "DELETE", "/sessions/{session}", status=204, needs_token=True, failures=(404,))
def end_session(call: Call) -> None:
    """End a session."""
    call.registry.sessions.revoke(call.caller, call.path["session"])


@operation("Sign-in", "GET", "/people", {"people": [Person]}, **ADMINS)
def list_people(call: Call) -> Any:
    """List the people that signed in. It needs the role admin of the whole registry."""
    return {"people": call.registry.sessions.people(call.caller)}


PERSON = Parameter("subject", "The person.")


@operation("Sign-in", "DELETE", "/people", status=204, **ADMINS, parameters=(PERSON,), failures=(404,))
def remove_person(call: Call) -> None:
    """Forget a person: sessions and tokens end. It needs the role admin of the whole registry."""
    call.registry.sessions.remove_person(call.caller, call.query["subject"])


@operation("Sign-in", "GET", "/trusted-publishers", {"publishers": [PublisherEntry]}, **ADMINS)
def list_publishers(call: Call) -> Any:
    """List the trusted publishers below prefixes that the caller administers."""
    return {"publishers": call.registry.publishers.publishers(call.caller)}


@operation(
    "Sign-in", "POST", "/trusted-publishers", PublisherEntry, status=201, **ADMINS, body=PublisherRequest
)
def trust(call: Call) -> Any:
    """Let the jobs of a workflow publish below a prefix, which the caller administers."""
    settings = call.service.settings.sign_in.publishing
    if not settings.kind(call.body.issuer):
        issuers = ", ".join((*settings.github, *settings.gitlab))
        raise Refusal(422, f"'issuer' is one of {issuers}: registry.toml adds others")
    return call.registry.publishers.trust(call.caller, **encode(call.body))


@operation("Sign-in", "DELETE", "/trusted-publishers/{publisher}", status=204, **ADMINS, failures=(404,))
def distrust(call: Call) -> None:
    """Trust a workflow no more; its tokens end at once."""
    call.registry.publishers.distrust(call.caller, call.path["publisher"])


@operation("Sign-in", "GET", "/_/oidc/audience", {"audience": str}, role=None, failures=(404,))
def show_audience(call: Call) -> Any:
    """Say which audience an ID token for this registry has."""
    return {"audience": _audience(call)}


@operation("Sign-in", "POST", "/_/oidc/mint-token", MINTED, role=None, body=MintRequest, failures=(403, 404))
async def mint_token(call: Call) -> Any:
    """Give a job of CI a token of 15 minutes for its ID token."""
    # Only issuers that a trusted publisher has are asked.
    service, publishers = call.service, call.registry.publishers
    service.limit(call.request)
    audience = _audience(call)
    fields = await read_body(call.request, MintRequest, MAX_MINT)
    url = read_issuer(fields.token)
    kind = service.settings.sign_in.publishing.kind(url)
    if not kind or not await service.call(publishers.has_issuer, url):
        raise RegistryRefused("the ID token is of an issuer that no trusted publisher has")
    claims = await service.issuers.get(url).verify(fields.token, audience)
    made = await service.call(publishers.admit, read_job(claims, kind), fields.prefix)
    token = made.token.token
    minted = {"success": True, "token": made.token.secret, "expires_at": token.expires_at}
    return respond(minted | {"prefix": token.prefix, "subject": token.owner}, headers=SECRET)


def _audience(call: Call) -> str:
    """Return the audience of ID tokens: never the Host of the request, which its sender chooses."""
    settings = call.service.settings
    audience = settings.sign_in.publishing.audience or settings.url
    if not audience:
        raise Refusal(404, "this registry has no audience for ID tokens: it was started without --url")
    return audience


# Usage


@operation("Usage", "POST", "/usage", Receipt, needs_token=True, body=UsageBatch)
def record_usage(call: Call) -> Any:
    """Take counts of use, by day; texts of searches only where a machine sends them."""
    # What is sent again counts once.
    return call.registry.usage.record(call.caller, Batch.parse(encode(call.body)))


IN_USE = (
    Parameter("skill", "Only this skill, or those below this path."),
    Parameter("since", "Only from this day on, such as 2026-11-16."),
    LIMIT,
)


@operation("Usage", "GET", "/stats", Statistics, parameters=IN_USE)
def show_statistics(call: Call) -> Any:
    """Return sums of use: by day, skill, section and command, and searches that found nothing."""
    options = {"limit": limit} if (limit := call.query["limit"]) else {}
    since = _read_day(call.query["since"])
    return call.registry.usage.stats(call.caller, call.query["skill"], since, **options)


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Refusal(400, "'since' must be a date such as 2026-11-16") from None
