"""Adapt the protocols of others to a registry: who asks, for what prefix, and which skills there are for it.

Clients of other protocols know a skill by one name without slashes, which the store keeps for good: for the
list of each prefix, and of the whole. A caller that may read below one prefix alone gets the names of that
prefix's list, so that they tell nothing of other skills.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import islice

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from skillc.errors import InvalidSkillId, SignInRequired, SkillNotFound
from skillc.registry import Registry, Role
from skillc.registry.model import APPROVED, Caller, Skill, Version
from skillc.server.responses import Endpoint, Fail, Refusal, fail, guard, run
from skillc.server.service import Service
from skillc.skills import SkillId

# What answers a request of a caller. It may block, as it runs in a thread, unless it is a coroutine.
Handler = Callable[[Request, Caller], Awaitable[Response]] | Callable[[Request, Caller], Response]
MAX_SKILLS = 20_000  # in a list that has no pages
MAX_DESCRIPTION = 1024  # characters, which is what the format allows
PAGES = ("s", "skills")  # what precedes the ID in the address of a skill's page, and of its JSON


async def find_caller(service: Service, request: Request) -> Caller:
    """Return the caller of a request, by a Bearer token or by one that is the password of Basic.

    git, and `skc add https://name:token@host`, know Basic alone. The name does not matter; where there is no
    password, the name is the token.
    """
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return await service.caller(request)
    try:
        name, _, password = base64.b64decode(text.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        raise SignInRequired from None
    token = (password or name).encode("ascii", "replace")
    others = [(key, value) for key, value in request.scope["headers"] if key != b"authorization"]
    request.scope["headers"] = [*others, (b"authorization", b"Bearer " + token)]
    return await service.caller(Request(request.scope))


def find_address(service: Service, request: Request) -> str:
    """Return the address of the server as clients know it, without a slash at the end."""
    return service.settings.url.rstrip("/") or str(request.base_url).rstrip("/")


def find_prefix(request: Request) -> str:
    """Return the prefix that a request is about; raises Refusal where the path is none."""
    words = request.path_params.get("prefix", "").split("/")
    text = "/".join(words[1:] if words[0] in PAGES else words)
    try:
        return str(SkillId(text)) if text else ""
    except InvalidSkillId:
        raise Refusal(404, f"'{text[:200]}' is not the ID of a skill or the beginning of one") from None


def parse_limit(request: Request, default: int, most: int) -> int:
    """Return the number in `limit`; one that is too large becomes the largest."""
    text = request.query_params.get("limit", "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text)):
        raise Refusal(400, "'limit' must be a number from 1")
    return min(int(text), most)


def serve(service: Service, handle: Handler, fail: Fail = fail) -> Endpoint:
    """Return the endpoint that gives a request with its caller to a function; `fail` answers errors."""

    async def respond(request: Request) -> Response:
        return await run(handle, request, await find_caller(service, request))

    return guard(respond, fail)


def fail_plainly(request: Request, error: Exception) -> Response:
    """Return an error as plain text, as clients of some protocols show it."""
    response = fail(request, error)
    text = json.loads(bytes(response.body))["error"]["message"]
    if isinstance(error, SkillNotFound):  # the words that clients look for, and why if it is about a version
        text = "Skill not found" if "@" not in error.skill else f"Version not found: {error.reason}"
    headers = {name: value for name, value in response.headers.items() if not name.startswith("content-")}
    return PlainTextResponse(text, response.status_code, headers)


@dataclass(frozen=True, slots=True)
class Entry:
    """The latest version of a skill, under a name; `since` is when the skill was first published."""

    version: Version
    name: str
    since: float = 0

    @property
    def description(self) -> str:
        text = " ".join(str(self.version.frontmatter.get("description", "")).split())
        return text[:MAX_DESCRIPTION] or self.version.skill.name


def list_entries(registry: Registry, caller: Caller, prefix: str = "") -> list[Entry]:
    """Return the skills below a prefix by ID, each with a name of its own.

    Those without a version to choose are left out, and those for which no name is left.
    """
    skills = [skill for skill in read_skills(registry, caller, prefix) if skill.latest]
    readable = caller.narrow_prefix(Role.READER, prefix)
    place = readable[0] if len(readable) == 1 else prefix
    names = registry.read_names(place, [skill.id for skill in skills])
    return [
        Entry(skill.latest, names[skill.id], _find_start(skill))
        for skill in skills
        if skill.latest and skill.id in names
    ]


def read_skills(registry: Registry, caller: Caller, prefix: str = "") -> list[Skill]:
    """Return the skills that a caller may read, by ID: as many as a list may have."""
    return list(islice(registry.source(caller).skills(prefix), MAX_SKILLS))


def _find_start(skill: Skill) -> float:
    """Return when a skill was first published, the same for all its readers: what waits does not count."""
    return min(v.published_at for v in skill.versions if v.status == APPROVED).timestamp()
