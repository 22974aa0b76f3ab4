"""Show and end sessions, forget people, and let CI publish: trusted publishers and their tokens.

`/_/oidc/audience` and `/_/oidc/mint-token` are named as on PyPI.
"""

# No annotations from the future: which keys are not required is read from types, not from text.
from typing import NotRequired, TypedDict

from starlette.responses import Response

from skillc.contract import encode
from skillc.errors import RegistryRefused
from skillc.registry import Publication, Role
from skillc.server.api.declaration import Call, Operation, Parameter
from skillc.server.oidc.claims import read_issuer, read_job
from skillc.server.responses import HEADERS, Refusal, respond

MAX_MINT = 64 << 10  # bytes of a request for a token


class SessionEntry(TypedDict):
    id: str
    subject: str
    token: str
    created_at: str
    used_at: str
    expires_at: str
    revoked_at: str | None


class SessionList(TypedDict):
    sessions: list[SessionEntry]


class PersonEntry(TypedDict):
    subject: str
    issuer: str
    identity: str
    name: str
    email: str
    groups: list[str]
    created_at: str
    signed_in_at: str


class PersonList(TypedDict):
    people: list[PersonEntry]


class PublisherRequest(TypedDict):
    """A workflow to trust: for GitHub the name of its file, for GitLab the path of the configuration."""

    issuer: str
    repository: str
    workflow: str
    prefix: str
    ref: NotRequired[str]
    environment: NotRequired[str]


class PublisherEntry(TypedDict):
    id: str
    issuer: str
    repository: str
    workflow: str
    prefix: str
    ref: str
    environment: str
    pin: str
    created_at: str
    created_by: str
    subject: str


class PublisherList(TypedDict):
    publishers: list[PublisherEntry]


class Audience(TypedDict):
    audience: str


class MintRequest(TypedDict):
    """An ID token; `prefix` is what the token is for: a path at or below that of a trusted publisher."""

    token: str
    prefix: NotRequired[str]


class MintedToken(TypedDict):
    success: bool
    token: str
    expires_at: str
    prefix: str
    subject: str


async def list_sessions(call: Call) -> Response:
    sessions = await call.run(call.service.registry.sessions.sessions)
    return respond({"sessions": encode(sessions)})


async def end_session(call: Call) -> Response:
    await call.run(call.service.registry.sessions.revoke, call.path["session"])
    return Response(status_code=204, headers=HEADERS)


async def list_people(call: Call) -> Response:
    people = await call.run(call.service.registry.sessions.people)
    return respond({"people": encode(people)})


async def remove_person(call: Call) -> Response:
    await call.run(call.service.registry.sessions.remove_person, call.query["subject"])
    return Response(status_code=204, headers=HEADERS)


async def list_publishers(call: Call) -> Response:
    publishers = await call.run(call.service.registry.publishers.publishers)
    return respond({"publishers": encode(publishers)})


async def trust(call: Call) -> Response:
    fields = await call.body(PublisherRequest)
    settings = call.service.settings.sign_in.publishing
    if not settings.kind(fields["issuer"]):
        issuers = ", ".join((*settings.github, *settings.gitlab))
        raise Refusal(422, f"'issuer' is one of {issuers}: registry.toml adds others")
    patterns = {"ref": fields.get("ref", ""), "environment": fields.get("environment", "")}
    place = fields["issuer"], fields["repository"], fields["workflow"], fields["prefix"]
    publisher = await call.run(call.service.registry.publishers.trust, *place, **patterns)
    return respond(encode(publisher), 201)


async def distrust(call: Call) -> Response:
    await call.run(call.service.registry.publishers.distrust, call.path["publisher"])
    return Response(status_code=204, headers=HEADERS)


async def show_audience(call: Call) -> Response:
    return respond({"audience": _audience(call)})


async def mint_token(call: Call) -> Response:
    """Give a job a token for its ID token. Only issuers that a trusted publisher has are asked."""
    call.service.limit(call.request)
    audience = _audience(call)
    fields = await call.body(MintRequest, MAX_MINT)
    service = call.service
    url = read_issuer(fields["token"])
    kind = service.settings.sign_in.publishing.kind(url)
    if not kind or not await service.call(service.registry.publishers.has_issuer, url):
        raise RegistryRefused("the ID token is of an issuer that no trusted publisher has")
    claims = await service.issuers.get(url).verify(fields["token"], audience)
    job = read_job(claims, kind)
    made: Publication = await service.call(service.registry.publishers.admit, job, fields.get("prefix"))
    token = made.token.token
    assert token.expires_at is not None
    value = {"success": True, "token": made.token.secret, "expires_at": token.expires_at.isoformat()}
    value |= {"prefix": token.prefix, "subject": token.owner}
    return respond(value, headers={"Cache-Control": "no-store"})


def _audience(call: Call) -> str:
    """Return the audience of ID tokens: never the Host of the request, which its sender chooses."""
    settings = call.service.settings
    audience = settings.sign_in.publishing.audience or settings.url
    if not audience:
        raise Refusal(404, "this registry has no audience for ID tokens: it was started without --url")
    return audience


_TAGS = ("Sign-in",)
_BODY = (400, 408, 413, 422)
OPERATIONS = (
    Operation(
        "GET",
        "/sessions",
        "List the sessions that the caller may end; all of them for admins of the whole registry.",
        list_sessions,
        {200: SessionList},
        needs_token=True,
        tags=_TAGS,
    ),
    Operation(
        "DELETE",
        "/sessions/{session}",
        "End a session.",
        end_session,
        {204: None},
        needs_token=True,
        failures=(400,),
        tags=_TAGS,
    ),
    Operation(
        "GET",
        "/people",
        "List the people that signed in. It needs the role admin of the whole registry.",
        list_people,
        {200: PersonList},
        Role.ADMIN,
        needs_token=True,
        tags=_TAGS,
    ),
    Operation(
        "DELETE",
        "/people",
        "Forget a person: sessions and tokens end. It needs the role admin of the whole registry.",
        remove_person,
        {204: None},
        Role.ADMIN,
        needs_token=True,
        parameters=(Parameter("subject", "The person."),),
        failures=(400,),
        tags=_TAGS,
    ),
    Operation(
        "GET",
        "/trusted-publishers",
        "List the trusted publishers below prefixes that the caller administers.",
        list_publishers,
        {200: PublisherList},
        Role.ADMIN,
        needs_token=True,
        tags=_TAGS,
    ),
    Operation(
        "POST",
        "/trusted-publishers",
        "Let the jobs of a workflow publish below a prefix, which the caller administers.",
        trust,
        {201: PublisherEntry},
        Role.ADMIN,
        needs_token=True,
        body=PublisherRequest,
        failures=_BODY,
        tags=_TAGS,
    ),
    Operation(
        "DELETE",
        "/trusted-publishers/{publisher}",
        "Trust a workflow no more; its tokens end at once.",
        distrust,
        {204: None},
        Role.ADMIN,
        needs_token=True,
        failures=(400,),
        tags=_TAGS,
    ),
    Operation(
        "GET",
        "/_/oidc/audience",
        "Say which audience an ID token for this registry has.",
        show_audience,
        {200: Audience},
        None,
        failures=(404,),
        tags=_TAGS,
    ),
    Operation(
        "POST",
        "/_/oidc/mint-token",
        "Give a job of CI a token of 15 minutes for its ID token.",
        mint_token,
        {200: MintedToken},
        None,
        body=MintRequest,
        failures=(403, 404, *_BODY),
        tags=_TAGS,
    ),
)
