"""Show and change the accounts of a registry: the caller itself, tokens, grants, and the log of changes.

And what belongs to people and machines: sessions, trusted publishers of CI and their tokens, counts of use.
`/_/oidc/audience` and `/_/oidc/mint-token` are named as on PyPI.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from skillc.contract import encode
from skillc.errors import RegistryRefused
from skillc.registry import (
    Batch,
    Grant,
    Permission,
    Person,
    Publication,
    Receipt,
    Role,
    Session,
)
from skillc.server.api.contracts import (
    USAGE,
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
from skillc.server.api.declaration import Call, Group
from skillc.server.requests import LIMIT, Parameter
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

accounts, identities, usage = Group("Accounts"), Group("Sign-in"), Group("Usage")


@accounts.operation("GET", "/whoami", IDENTITY)
async def show_caller(call: Call) -> Any:
    """Say which caller a token makes."""
    caller = call.caller
    return {name: getattr(caller, name) for name in IDENTITY} | {"token": caller.token or None}


@accounts.operation("POST", "/tokens", NewTokenEntry, status=201, needs_token=True, body=TokenRequest)
async def create_token(call: Call) -> Any:
    """Make a token. It may do no more, and lasts no longer, than the one that makes it."""
    # Its secret is in this response and nowhere else.
    fields = await call.body(TokenRequest)
    new = await call.run(
        call.service.registry.accounts.create_token,
        fields.role,
        fields.prefix,
        label=fields.label or "token",
        owner=fields.owner,
        expires_at=_expiry(fields.expires_in),
    )
    (permissions,) = await call.service.call(call.service.registry.accounts.abilities, [new.token])
    return respond(view(NewTokenEntry, new.token, token=new.secret, permissions=permissions), 201, SECRET)


def _expiry(seconds: int | None) -> datetime | None:
    if seconds is None:
        return None
    if not 1 <= seconds <= MAX_LIFE:
        raise Refusal(422, f"'expires_in' must be a number of seconds from 1 to {MAX_LIFE}")
    return datetime.now(UTC) + timedelta(seconds=seconds)


@accounts.operation("GET", "/tokens", {"tokens": [TokenEntry]}, needs_token=True)
async def list_tokens(call: Call) -> Any:
    """List the tokens that the caller may revoke, without their secrets."""
    tokens = await call.run(call.service.registry.accounts.tokens)
    abilities = await call.service.call(call.service.registry.accounts.abilities, tokens)
    return {
        "tokens": [
            view(TokenEntry, token, permissions=permissions)
            for token, permissions in zip(tokens, abilities, strict=True)
        ]
    }


@accounts.operation("DELETE", "/tokens/{token}", status=204, needs_token=True, failures=(404,))
async def revoke_token(call: Call) -> None:
    """Revoke a token, and those that were made with it."""
    await call.run(call.service.registry.accounts.revoke_token, call.path["token"])


@accounts.operation("GET", "/grants", {"grants": [Grant]}, needs_token=True)
async def list_grants(call: Call) -> Any:
    """List the grants that the caller administers, and its own."""
    return {"grants": await call.run(call.service.registry.accounts.grants)}


@accounts.operation("PUT", "/grants", Grant, **ADMINS, body=Grant)
async def set_grant(call: Call) -> Any:
    """Give a subject a role below a prefix, in place of the one it has there."""
    grant = await call.body(Grant)
    await call.run(call.service.registry.accounts.grant, grant)
    return grant


SUBJECT = Parameter("subject", "The person or program.")
PREFIX = Parameter("prefix", "The prefix of the grant; empty for the whole registry.")


@accounts.operation("DELETE", "/grants", status=204, **ADMINS, parameters=(SUBJECT, PREFIX), failures=(404,))
async def remove_grant(call: Call) -> None:
    """Take a grant back."""
    await call.run(call.service.registry.accounts.remove_grant, call.query["subject"], call.query["prefix"])


SINCE = Parameter("since", "Only changes behind this number.", "integer", 0, MAX_SEQUENCE)


@accounts.operation("GET", "/audit-log", ChangeList, needs_token=True, parameters=(SINCE, LIMIT))
async def read_log(call: Call) -> Any:
    """List changes, oldest first: those that the caller administers, and its own."""
    since, limit = call.query["since"] or 0, call.query["limit"] or DEFAULT_CHANGES
    changes = await call.run(call.service.registry.changes, since, limit)
    subject, allows = call.caller.subject, call.caller.allows
    own = [each for each in changes if each.subject == subject or allows(Role.ADMIN, each.skill)]
    more = {"next_since": changes[-1].sequence} if len(changes) == limit else {}
    return ChangeList(own, **more)


# Sign-in


@identities.operation("GET", "/sessions", {"sessions": [Session]}, needs_token=True)
async def list_sessions(call: Call) -> Any:
    """List the sessions that the caller may end; all of them for admins of the whole registry."""
    return {"sessions": await call.run(call.service.registry.sessions.sessions)}


@identities.operation("DELETE", "/sessions/{session}", status=204, needs_token=True, failures=(404,))
async def end_session(call: Call) -> None:
    """End a session."""
    await call.run(call.service.registry.sessions.revoke, call.path["session"])


@identities.operation("GET", "/people", {"people": [Person]}, **ADMINS)
async def list_people(call: Call) -> Any:
    """List the people that signed in. It needs the role admin of the whole registry."""
    return {"people": await call.run(call.service.registry.sessions.people)}


PERSON = Parameter("subject", "The person.")


@identities.operation("DELETE", "/people", status=204, **ADMINS, parameters=(PERSON,), failures=(404,))
async def remove_person(call: Call) -> None:
    """Forget a person: sessions and tokens end. It needs the role admin of the whole registry."""
    await call.run(call.service.registry.sessions.remove_person, call.query["subject"])


@identities.operation("GET", "/trusted-publishers", {"publishers": [PublisherEntry]}, **ADMINS)
async def list_publishers(call: Call) -> Any:
    """List the trusted publishers below prefixes that the caller administers."""
    return {"publishers": await call.run(call.service.registry.publishers.publishers)}


@identities.operation(
    "POST", "/trusted-publishers", PublisherEntry, status=201, **ADMINS, body=PublisherRequest
)
async def trust(call: Call) -> Any:
    """Let the jobs of a workflow publish below a prefix, which the caller administers."""
    fields = await call.body(PublisherRequest)
    settings = call.service.settings.sign_in.publishing
    if not settings.kind(fields.issuer):
        issuers = ", ".join((*settings.github, *settings.gitlab))
        raise Refusal(422, f"'issuer' is one of {issuers}: registry.toml adds others")
    return await call.run(call.service.registry.publishers.trust, **encode(fields))


@identities.operation("DELETE", "/trusted-publishers/{publisher}", status=204, **ADMINS, failures=(404,))
async def distrust(call: Call) -> None:
    """Trust a workflow no more; its tokens end at once."""
    await call.run(call.service.registry.publishers.distrust, call.path["publisher"])


@identities.operation("GET", "/_/oidc/audience", {"audience": str}, role=None, failures=(404,))
async def show_audience(call: Call) -> Any:
    """Say which audience an ID token for this registry has."""
    return {"audience": _audience(call)}


@identities.operation("POST", "/_/oidc/mint-token", MINTED, role=None, body=MintRequest, failures=(403, 404))
async def mint_token(call: Call) -> Any:
    """Give a job of CI a token of 15 minutes for its ID token."""
    # Only issuers that a trusted publisher has are asked.
    call.service.limit(call.request)
    audience = _audience(call)
    fields = await call.body(MintRequest, MAX_MINT)
    service = call.service
    url = read_issuer(fields.token)
    kind = service.settings.sign_in.publishing.kind(url)
    if not kind or not await service.call(service.registry.publishers.has_issuer, url):
        raise RegistryRefused("the ID token is of an issuer that no trusted publisher has")
    claims = await service.issuers.get(url).verify(fields.token, audience)
    job = read_job(claims, kind)
    made: Publication = await service.call(service.registry.publishers.admit, job, fields.prefix)
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


@usage.operation("POST", "/usage", Receipt, needs_token=True, body=UsageBatch)
async def record_usage(call: Call) -> Any:
    """Take counts of use, by day; texts of searches only where a machine sends them."""
    # What is sent again counts once.
    batch = Batch.parse(encode(await call.body(UsageBatch)))
    return await call.run(call.service.registry.usage.record, batch)


IN_USE = (
    Parameter("skill", "Only this skill, or those below this path."),
    Parameter("since", "Only from this day on, such as 2026-11-16."),
    LIMIT,
)


@usage.operation("GET", "/stats", USAGE, parameters=IN_USE)
async def show_statistics(call: Call) -> Any:
    """Return sums of use: by day, skill, section and command, and searches that found nothing."""
    options = {"limit": limit} if (limit := call.query["limit"]) else {}
    since = _read_day(call.query["since"])
    sums = await call.run(call.service.registry.usage.stats, call.query["skill"], since, **options)
    return {name: _name_columns(shape, getattr(sums, name)) for name, shape in USAGE.items()}


def _name_columns(shape: Any, value: Any) -> Any:
    """Return rows with a key for each column; any other value as it is."""
    return [dict(zip(shape[0], row, strict=True)) for row in value] if isinstance(shape, list) else value


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Refusal(400, "'since' must be a date such as 2026-11-16") from None
