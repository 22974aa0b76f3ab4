"""Declare endpoints: where one is, which role it needs, what it takes and what it gives.

    @operation("Reading", "GET", "/skills/{id:skill}/versions", {"versions": [VersionEntry]}, failures=(404,))
    def read_versions(call: Call) -> Any:
        \"\"\"List the versions of a skill, last published first.\"\"\"

The routes and the OpenAPI document come from these declarations, so that neither forgets an endpoint.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any
from urllib.parse import unquote

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from skillc.errors import SignInRequired
from skillc.registry import PUBLIC, Registry, Role
from skillc.registry.model import Caller
from skillc.server.requests import Parameter, read_body, read_parameters
from skillc.server.responses import HEADERS, Endpoint, guard, respond, respond_value, run
from skillc.server.service import Service
from skillc.skills import SkillId

SKILL = "/skills/{id:skill}"
VERSION = Parameter("version", "A version by its number, also one that was yanked.")
TAG = Parameter("tag", "The version that a tag points at; `latest` by default.")
IF_MATCH = Parameter("If-Match", "The ETag of what is to be replaced.", is_header=True)
IF_NONE_MATCH = Parameter("If-None-Match", "ETags of what the client has.", is_header=True)
NO_CALLER = Caller("")


@dataclass(frozen=True, slots=True)
class Call:
    """A request to an operation: its caller, and its parameters and its body as the operation declares them.

    `body` is not read for an operation that is a coroutine.
    """

    service: Service
    request: Request
    caller: Caller
    query: Mapping[str, Any]
    body: Any = None

    @property
    def path(self) -> Mapping[str, str]:
        return self.request.path_params

    @property
    def registry(self) -> Registry:
        return self.service.registry


Handler = Callable[[Call], Awaitable[Any]] | Callable[[Call], Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """An endpoint. `role` is needed for the skill that its path names, or for any where it names none.

    `handle` may block, as it runs in a thread; a coroutine is for what answers at once, or reads as it goes.
    Without a role it is open to all. With `needs_token` it is not for readers without a token, even where
    reading is public. `result` is what is sent: a class, or `{"key": [Class]}`; None is no body, a text is
    the media type of one that is not JSON. `failures` are the statuses of errors, beside those of all.
    """

    tag: str
    handle: Handler
    method: str
    path: str
    result: Any = None
    status: int = 200
    role: Role | None = Role.READER
    needs_token: bool = False
    parameters: tuple[Parameter, ...] = ()
    body: Any = None
    media_types: tuple[str, ...] = ()
    failures: tuple[int, ...] = ()

    async def respond(self, service: Service, request: Request) -> Response:
        """Answer a request with what the operation returns: a value, or a response that is more than that."""
        caller = await self._identify(service, request)
        query = read_parameters(request, self.parameters)
        is_left = self.body is None or iscoroutinefunction(self.handle)
        body = None if is_left else await read_body(request, self.body)
        value = await run(self.handle, Call(service, request, caller, query, body))
        if isinstance(value, Response):
            return value
        if self.result is None:
            return Response(status_code=self.status, headers=HEADERS)
        is_tagged = IF_NONE_MATCH in self.parameters
        return respond_value(request, value) if is_tagged else respond(value, self.status)

    async def _identify(self, service: Service, request: Request) -> Caller:
        """Return the caller, which is checked before anything is looked up or read."""
        if self.role is None:
            return NO_CALLER
        caller = await service.caller(request)
        if self.needs_token and caller is PUBLIC:
            raise SignInRequired
        if "id" in request.path_params and "{id:skill}" in self.path:
            skill_id = request.path_params["id"] = SkillId(request.path_params["id"])
            caller.require(self.role, skill_id)
        else:
            caller.require_anywhere(self.role)
        return caller


def operation(
    tag: str, method: str, path: str, result: Any = None, **options: Any
) -> Callable[[Handler], Operation]:
    """Declare a function as an operation; its first line of documentation is the summary."""
    return lambda handle: Operation(tag, handle, method, path, result, **options)


def make_route(service: Service, operations: Iterable[Operation]) -> Route:
    """Return one route for the operations of a path, so that a refused method is told which there are."""
    by_method = {operation.method: operation for operation in operations}
    if "GET" in by_method:
        by_method["HEAD"] = by_method["GET"]

    async def respond(request: Request) -> Response:
        return await by_method[request.method].respond(service, request)

    path = next(iter(by_method.values())).path
    return RawRoute(path, guard(respond), methods=list(by_method))


class SkillConvertor(Convertor[str]):
    """The ID of a skill in a path, as short as the rest of the path allows.

    Its slashes may be written as `%2F`, and must be where a segment is also the name of an endpoint:
    `/skills/tools%2Fversions` is a skill, `/skills/tools/versions` are the versions of another.
    """

    regex = "[^/]+(?:/[^/]+)*?"

    def convert(self, value: str) -> str:
        return value

    to_string = convert


register_url_convertor("skill", SkillConvertor())


# What follows the ID of a skill in paths of endpoints, also of other protocols: with slashes as they
# are, it belongs to no ID.
_BELOW = re.compile(
    r"/skills/[^/]+(?:/[^/]+)*?/"
    r"(?:versions(?:/[^/]+/(?:yank|unyank|review|attestation))?|files(?:/.*)?|tags/[^/]+|restore|audit|archive\.tar\.gz"
    r")|/skills/(?:.*/)?(?:\.|marketplace\.git/).*"
)


class RawRoute(Route):
    """A route that is compared with the path as it was sent, so that `%2F` is no slash.

    Its endpoint raises nothing, so it needs none of the wrappers that Starlette has for exceptions.
    """

    def __init__(self, path: str, endpoint: Endpoint, methods: list[str]) -> None:
        super().__init__(path, endpoint, methods=methods)

        async def respond(scope: Scope, receive: Receive, send: Send) -> None:
            response = await endpoint(Request(scope, receive, send))
            await response(scope, receive, send)

        self.app = respond

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        raw = scope.get("raw_path")
        path = scope["path"] if raw is None else raw.partition(b"?")[0].decode("latin-1")
        found = self.path_regex.match(path)
        # A path below a skill is none of the skill's own, so that a method which it does not take is 405.
        if found is None or (self.path == SKILL and _BELOW.fullmatch(path)):
            return Match.NONE, {}
        parameters = {key: unquote(text) for key, text in found.groupdict().items()}
        child = {"endpoint": self.endpoint, "path_params": parameters}
        return (Match.FULL if scope["method"] in (self.methods or ()) else Match.PARTIAL), child
