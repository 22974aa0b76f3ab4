"""Show and change the accounts of a registry: the caller itself, tokens, grants, and the log of changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from starlette.responses import Response

from skillc.contract import encode
from skillc.registry import Grant, Role
from skillc.server.api.declaration import LIMIT, Call, Operation, Parameter
from skillc.server.api.shapes import (
    ChangeList,
    GrantEntry,
    GrantList,
    GrantRequest,
    Identity,
    NewTokenEntry,
    TokenList,
    TokenRequest,
)
from skillc.server.responses import HEADERS, Refusal, respond

MAX_LIFE = 10 * 365 * 24 * 3600  # seconds of a token that expires
DEFAULT_CHANGES = 100
MAX_SEQUENCE = 2**63 - 1


async def show_caller(call: Call) -> Response:
    caller = call.caller
    permissions = [{"role": p.role.label, "prefix": p.prefix} for p in caller.permissions]
    expires_at = caller.expires_at.isoformat() if caller.expires_at else None
    value = {"subject": caller.subject, "permissions": permissions, "token": caller.token or None}
    return respond(value | {"expires_at": expires_at})


async def create_token(call: Call) -> Response:
    """Make a token; its secret is in this response and nowhere else."""
    fields = await call.body(TokenRequest)
    token = await call.run(
        call.service.registry.accounts.create_token,
        Role.parse(fields.get("role", Role.READER.label)),
        fields.get("prefix", ""),
        label=fields.get("label") or "token",
        owner=fields.get("owner") or "",
        expires_at=_expiry(fields.get("expires_in")),
    )
    return respond(token.as_json(), 201, {"Cache-Control": "no-store"})


def _expiry(seconds: int | None) -> datetime | None:
    if seconds is None:
        return None
    if not 1 <= seconds <= MAX_LIFE:
        raise Refusal(422, f"'expires_in' must be a number of seconds from 1 to {MAX_LIFE}")
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def list_tokens(call: Call) -> Response:
    tokens = await call.run(call.service.registry.accounts.tokens)
    return respond({"tokens": encode(tokens)})


async def revoke_token(call: Call) -> Response:
    await call.run(call.service.registry.accounts.revoke_token, call.path["token"])
    return Response(status_code=204, headers=HEADERS)


async def list_grants(call: Call) -> Response:
    grants = await call.run(call.service.registry.accounts.grants)
    return respond({"grants": encode(grants)})


async def set_grant(call: Call) -> Response:
    fields = await call.body(GrantRequest)
    grant = Grant(fields["subject"], Role.parse(fields["role"]), fields.get("prefix", ""))
    await call.run(call.service.registry.accounts.grant, grant)
    return respond(encode(grant))


async def remove_grant(call: Call) -> Response:
    subject, prefix = call.query["subject"], call.query["prefix"]
    await call.run(call.service.registry.accounts.remove_grant, subject, prefix)
    return Response(status_code=204, headers=HEADERS)


async def read_log(call: Call) -> Response:
    """Return changes, oldest first: those that the caller administers, and its own."""
    since, limit = call.query["since"] or 0, call.query["limit"] or DEFAULT_CHANGES
    changes = await call.run(call.service.registry.changes, since, limit)
    caller = call.caller
    entries = [
        encode(change)
        for change in changes
        if change.subject == caller.subject or caller.allows(Role.ADMIN, change.skill)
    ]
    more = {"next_since": changes[-1].sequence} if len(changes) == limit else {}
    return respond({"changes": entries, **more})


_TAGS = ("Accounts",)
_BODY = (400, 408, 413, 422)
OPERATIONS = (
    Operation("GET", "/whoami", "Say which caller a token makes.", show_caller, {200: Identity}, tags=_TAGS),
    Operation(
        "POST",
        "/tokens",
        "Make a token. It may do no more, and lasts no longer, than the one that makes it.",
        create_token,
        {201: NewTokenEntry},
        needs_token=True,
        body=TokenRequest,
        failures=_BODY,
        tags=_TAGS,
    ),
    Operation(
        "GET",
        "/tokens",
        "List the tokens that the caller may revoke, without their secrets.",
        list_tokens,
        {200: TokenList},
        needs_token=True,
        tags=_TAGS,
    ),
    Operation(
        "DELETE",
        "/tokens/{token}",
        "Revoke a token, and those that were made with it.",
        revoke_token,
        {204: None},
        needs_token=True,
        failures=(400,),
        tags=_TAGS,
    ),
    Operation(
        "GET",
        "/grants",
        "List the grants that the caller administers, and its own.",
        list_grants,
        {200: GrantList},
        needs_token=True,
        tags=_TAGS,
    ),
    Operation(
        "PUT",
        "/grants",
        "Give a subject a role below a prefix, in place of the one it has there.",
        set_grant,
        {200: GrantEntry},
        Role.ADMIN,
        needs_token=True,
        body=GrantRequest,
        failures=_BODY,
        tags=_TAGS,
    ),
    Operation(
        "DELETE",
        "/grants",
        "Take a grant back.",
        remove_grant,
        {204: None},
        Role.ADMIN,
        needs_token=True,
        parameters=(
            Parameter("subject", "The person or program."),
            Parameter("prefix", "The prefix of the grant; empty for the whole registry."),
        ),
        failures=(400,),
        tags=_TAGS,
    ),
    Operation(
        "GET",
        "/audit-log",
        "List changes, oldest first: those that the caller administers, and its own.",
        read_log,
        {200: ChangeList},
        needs_token=True,
        parameters=(
            Parameter("since", "Only changes behind this number.", "integer", 0, MAX_SEQUENCE),
            LIMIT,
        ),
        failures=(400,),
        tags=_TAGS,
    ),
)
