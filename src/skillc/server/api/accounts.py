"""Show and change the accounts of a registry: the caller itself, tokens, grants, and the log of changes.

And what belongs to people and machines: sessions, trusted publishers of CI and their tokens, counts of use.
`/_/oidc/audience` and `/_/oidc/mint-token` are named as on PyPI.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import cast

from starlette.responses import Response

from skillc.contract import encode
from skillc.errors import RegistryRefused
from skillc.registry import Batch, Grant, Publication, Receipt, Role
from skillc.server.api.contracts import (
    Audience,
    ChangeList,
    GrantList,
    GrantRequest,
    Identity,
    MintedToken,
    MintRequest,
    NewTokenEntry,
    PermissionEntry,
    PersonList,
    PublisherEntry,
    PublisherList,
    PublisherRequest,
    RoleName,
    SessionList,
    TokenList,
    TokenRequest,
    UsageBatch,
    UsageSums,
    describe_usage,
    view,
)
from skillc.server.api.declaration import Call, Group, no_content
from skillc.server.requests import LIMIT, Parameter
from skillc.server.responses import Refusal, respond
from skillc.server.signin.claims import read_issuer, read_job

MAX_LIFE = 10 * 365 * 24 * 3600  # seconds of a token that expires
DEFAULT_CHANGES = 100
MAX_SEQUENCE = 2**63 - 1
MAX_MINT = 64 << 10  # bytes of a request for a token
SECRET = {"Cache-Control": "no-store"}  # what shows a token

accounts, identities, usage = Group("Accounts"), Group("Sign-in"), Group("Usage")


@accounts.operation("GET", "/whoami", Identity)
async def show_caller(call: Call) -> Response:
    """Say which caller a token makes."""
    caller = call.caller
    permissions = [
        PermissionEntry(cast(RoleName, each.role.label), each.prefix) for each in caller.permissions
    ]
    return respond(Identity(caller.subject, permissions, caller.token or None, caller.expires_at))


@accounts.operation("POST", "/tokens", NewTokenEntry, status=201, needs_token=True, body=TokenRequest)
async def create_token(call: Call) -> Response:
    """Make a token. It may do no more, and lasts no longer, than the one that makes it."""
    # Its secret is in this response and nowhere else.
    fields = await call.body(TokenRequest)
    new = await call.run(
        call.service.registry.accounts.create_token,
        Role.parse(fields.role),
        fields.prefix,
        label=fields.label or "token",
        owner=fields.owner,
        expires_at=_expiry(fields.expires_in),
    )
    return respond(view(NewTokenEntry, new.token, token=new.secret), 201, SECRET)


def _expiry(seconds: int | None) -> datetime | None:
    if seconds is None:
        return None
    if not 1 <= seconds <= MAX_LIFE:
        raise Refusal(422, f"'expires_in' must be a number of seconds from 1 to {MAX_LIFE}")
    return datetime.now(UTC) + timedelta(seconds=seconds)


@accounts.operation("GET", "/tokens", TokenList, needs_token=True)
async def list_tokens(call: Call) -> Response:
    """List the tokens that the caller may revoke, without their secrets."""
    return respond(TokenList(await call.run(call.service.registry.accounts.tokens)))


@accounts.operation("DELETE", "/tokens/{token}", status=204, needs_token=True)
async def revoke_token(call: Call) -> Response:
    """Revoke a token, and those that were made with it."""
    await call.run(call.service.registry.accounts.revoke_token, call.path["token"])
    return no_content()


@accounts.operation("GET", "/grants", GrantList, needs_token=True)
async def list_grants(call: Call) -> Response:
    """List the grants that the caller administers, and its own."""
    return respond(GrantList(await call.run(call.service.registry.accounts.grants)))


@accounts.operation("PUT", "/grants", Grant, role=Role.ADMIN, needs_token=True, body=GrantRequest)
async def set_grant(call: Call) -> Response:
    """Give a subject a role below a prefix, in place of the one it has there."""
    fields = await call.body(GrantRequest)
    grant = Grant(fields.subject, Role.parse(fields.role), fields.prefix)
    await call.run(call.service.registry.accounts.grant, grant)
    return respond(grant)


@accounts.operation(
    "DELETE",
    "/grants",
    status=204,
    role=Role.ADMIN,
    needs_token=True,
    parameters=(
        Parameter("subject", "The person or program."),
        Parameter("prefix", "The prefix of the grant; empty for the whole registry."),
    ),
)
async def remove_grant(call: Call) -> Response:
    """Take a grant back."""
    subject, prefix = call.query["subject"], call.query["prefix"]
    await call.run(call.service.registry.accounts.remove_grant, subject, prefix)
    return no_content()


@accounts.operation(
    "GET",
    "/audit-log",
    ChangeList,
    needs_token=True,
    parameters=(Parameter("since", "Only changes behind this number.", "integer", 0, MAX_SEQUENCE), LIMIT),
)
async def read_log(call: Call) -> Response:
    """List changes, oldest first: those that the caller administers, and its own."""
    since, limit = call.query["since"] or 0, call.query["limit"] or DEFAULT_CHANGES
    changes = await call.run(call.service.registry.changes, since, limit)
    caller = call.caller
    own = [
        change
        for change in changes
        if change.subject == caller.subject or caller.allows(Role.ADMIN, change.skill)
    ]
    more = {"next_since": changes[-1].sequence} if len(changes) == limit else {}
    return respond(ChangeList(own, **more))


# Sign-in


@identities.operation("GET", "/sessions", SessionList, needs_token=True)
async def list_sessions(call: Call) -> Response:
    """List the sessions that the caller may end; all of them for admins of the whole registry."""
    return respond(SessionList(await call.run(call.service.registry.sessions.sessions)))


@identities.operation("DELETE", "/sessions/{session}", status=204, needs_token=True)
async def end_session(call: Call) -> Response:
    """End a session."""
    await call.run(call.service.registry.sessions.revoke, call.path["session"])
    return no_content()


@identities.operation("GET", "/people", PersonList, role=Role.ADMIN, needs_token=True)
async def list_people(call: Call) -> Response:
    """List the people that signed in. It needs the role admin of the whole registry."""
    return respond(PersonList(await call.run(call.service.registry.sessions.people)))


@identities.operation(
    "DELETE",
    "/people",
    status=204,
    role=Role.ADMIN,
    needs_token=True,
    parameters=(Parameter("subject", "The person."),),
)
async def remove_person(call: Call) -> Response:
    """Forget a person: sessions and tokens end. It needs the role admin of the whole registry."""
    await call.run(call.service.registry.sessions.remove_person, call.query["subject"])
    return no_content()


@identities.operation("GET", "/trusted-publishers", PublisherList, role=Role.ADMIN, needs_token=True)
async def list_publishers(call: Call) -> Response:
    """List the trusted publishers below prefixes that the caller administers."""
    publishers = await call.run(call.service.registry.publishers.publishers)
    return respond(PublisherList([view(PublisherEntry, publisher) for publisher in publishers]))


@identities.operation(
    "POST",
    "/trusted-publishers",
    PublisherEntry,
    status=201,
    role=Role.ADMIN,
    needs_token=True,
    body=PublisherRequest,
)
async def trust(call: Call) -> Response:
    """Let the jobs of a workflow publish below a prefix, which the caller administers."""
    fields = await call.body(PublisherRequest)
    settings = call.service.settings.sign_in.publishing
    if not settings.kind(fields.issuer):
        issuers = ", ".join((*settings.github, *settings.gitlab))
        raise Refusal(422, f"'issuer' is one of {issuers}: registry.toml adds others")
    publisher = await call.run(call.service.registry.publishers.trust, **encode(fields))
    return respond(view(PublisherEntry, publisher), 201)


@identities.operation(
    "DELETE", "/trusted-publishers/{publisher}", status=204, role=Role.ADMIN, needs_token=True
)
async def distrust(call: Call) -> Response:
    """Trust a workflow no more; its tokens end at once."""
    await call.run(call.service.registry.publishers.distrust, call.path["publisher"])
    return no_content()


@identities.operation("GET", "/_/oidc/audience", Audience, role=None, failures=(404,))
async def show_audience(call: Call) -> Response:
    """Say which audience an ID token for this registry has."""
    return respond(Audience(_audience(call)))


@identities.operation(
    "POST", "/_/oidc/mint-token", MintedToken, role=None, body=MintRequest, failures=(403, 404)
)
async def mint_token(call: Call) -> Response:
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
    assert token.expires_at is not None
    minted = MintedToken(True, made.token.secret, token.expires_at, token.prefix, token.owner)
    return respond(minted, headers=SECRET)


def _audience(call: Call) -> str:
    """Return the audience of ID tokens: never the Host of the request, which its sender chooses."""
    settings = call.service.settings
    audience = settings.sign_in.publishing.audience or settings.url
    if not audience:
        raise Refusal(404, "this registry has no audience for ID tokens: it was started without --url")
    return audience


# Usage


@usage.operation("POST", "/usage", Receipt, needs_token=True, body=UsageBatch)
async def record_usage(call: Call) -> Response:
    """Take counts of use, by day; texts of searches only where a machine sends them."""
    # What is sent again counts once.
    batch = Batch.parse(encode(await call.body(UsageBatch)))
    return respond(await call.run(call.service.registry.usage.record, batch))


@usage.operation(
    "GET",
    "/stats",
    UsageSums,
    parameters=(
        Parameter("skill", "Only this skill, or those below this path."),
        Parameter("since", "Only from this day on, such as 2026-11-16."),
        LIMIT,
    ),
)
async def show_statistics(call: Call) -> Response:
    """Return sums of use: by day, skill, section and command, and searches that found nothing."""
    options = {"limit": limit} if (limit := call.query["limit"]) else {}
    since = _read_day(call.query["since"])
    statistics = await call.run(call.service.registry.usage.stats, call.query["skill"], since, **options)
    return respond(describe_usage(statistics))


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Refusal(400, "'since' must be a date such as 2026-11-16") from None
