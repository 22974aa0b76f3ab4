"""Make HTTP responses: JSON with an ETag, and errors.

An error is a problem of RFC 9457 (`application/problem+json`) with one more member,
`{"error": {"code", "message"}}`, which has our code.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import Any, TypeVar, cast

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from skillc import errors
from skillc.contract import encode
from skillc.startup import sha256_hex
from skillc.text import one_line

# Errors about what the client asked for: it gets their message. Others may name paths of this machine.
MISTAKES = (
    errors.SkillNotFound,
    errors.EntryNotFound,
    errors.FileNotFound,
    errors.InvalidSkillId,
    errors.InvalidOption,
    errors.InvalidParameter,
    errors.EmptyQuery,
    errors.RegistryRefused,
    errors.SkillExists,
    errors.VersionExists,
)
STATUS: tuple[tuple[type[errors.SkillcError], int], ...] = (  # the first that fits
    (errors.NotFound, 404),
    (errors.SignInRequired, 401),
    (errors.RegistryRefused, 403),
    (errors.VersionTooLarge, 422),
    (errors.StaleVersion, 412),
    (errors.Conflict, 409),
)
OUTAGES = (errors.RepositoryUnavailable, errors.RegistryUnavailable)
RETRY_SECONDS = 5  # what a client is asked to wait for in an outage
PROBLEM = "application/problem+json"
HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
CLOSE = {"Connection": "close"}
UNREAD = (408, 413)  # the rest of the request may still arrive; closing ends it

log = logging.getLogger("skillc.server")
T = TypeVar("T")
Endpoint = Callable[[Request], Awaitable[Response]]
Fail = Callable[[Request, Exception], Response]


class Refusal(Exception):
    """A request that is answered with this status and this error."""

    def __init__(
        self,
        status: int,
        message: str,
        code: str = errors.InvalidOption.code,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers or (CLOSE if status in UNREAD else None)


@dataclass(frozen=True, slots=True)
class Fault:
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """An error: a problem of RFC 9457, with our code."""

    type: str
    title: str
    status: int
    detail: str
    error: Fault


def respond(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return the JSON of a result as a response; lone surrogates become question marks."""
    text = json.dumps(value, default=encode, ensure_ascii=False, separators=(",", ":"))
    content = text.encode("utf-8", "replace")
    return Response(content, status, HEADERS | (headers or {}), "application/json")


def respond_value(request: Request, value: Any) -> Response:
    """Return the JSON of a result with an ETag, or 304 where the client has it already."""
    data = bytes(respond(value).body)
    return respond_tagged(request, etag_of(data), data)


def respond_tagged(
    request: Request,
    etag: str,
    data: bytes | Callable[[], bytes],
    headers: dict[str, str] = HEADERS,
    media_type: str = "application/json",
) -> Response:
    """Return bytes with their ETag, or 304 where the client has them already: then they are not read."""
    if not_modified := unchanged(request, etag, headers):
        return not_modified
    content = data if isinstance(data, bytes) else data()
    return Response(content, 200, headers | {"ETag": etag}, media_type)


def etag_of(data: bytes) -> str:
    return f'"{sha256_hex(data)[:32]}"'


def unchanged(request: Request, etag: str, headers: dict[str, str] = HEADERS) -> Response | None:
    """Return 304 where the client has what an ETag names; weak tags count, because this is for reading."""
    header = request.headers.get("If-None-Match", "")
    if not header or (header.strip() != "*" and etag.removeprefix("W/") not in read_etags(header)):
        return None
    return Response(status_code=304, headers=headers | {"ETag": etag})


def read_etags(header: str) -> list[str]:
    """Return the ETags of a header, weak ones as if they were strong."""
    return [tag.strip().removeprefix("W/") for tag in header.split(",")]


def failure(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    """Return an error: a problem of RFC 9457 that has our code, too."""
    problem = Problem("about:blank", HTTPStatus(status).phrase, status, message, Fault(code, message))
    response = respond(problem, status, headers)
    response.headers["Content-Type"] = PROBLEM
    return response


def explain(request: Request, error: Exception) -> str:
    """Return what a client may know of an error; what else there is to say goes to the log."""
    if isinstance(error, MISTAKES):
        return error.message
    what = one_line(f"{request.method} {request.url.path}")
    log.error("%s: %s", what, errors.unexpected(error).line())
    if isinstance(error, errors.IssuerUnavailable):
        return "the issuer does not answer; try again in a moment"
    if isinstance(error, errors.RegistryUnavailable):
        return "the registry is unavailable; try again in a moment"
    unavailable = isinstance(error, errors.RepositoryUnavailable)
    return f"{'a repository is unavailable' if unavailable else 'internal error'}; the server's log says more"


def fail(request: Request, error: Exception) -> Response:
    """Return the response for an error that an endpoint raised."""
    if isinstance(error, Refusal):
        return failure(error.status, error.code, str(error), error.headers)
    status = status_of(error)
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": str(RETRY_SECONDS)}}.get(status)
    return failure(status, errors.unexpected(error).code, explain(request, error), headers)


def status_of(error: Exception) -> int:
    if isinstance(error, MISTAKES):
        return next((status for kind, status in STATUS if isinstance(error, kind)), 400)
    return 503 if isinstance(error, OUTAGES) else 500


def guard(endpoint: Endpoint, fail: Fail = fail) -> Endpoint:
    """Wrap an endpoint: an error becomes a response, and one that is not the client's is logged."""

    @wraps(endpoint)
    async def respond_safely(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Exception as error:
            return fail(request, error)

    return respond_safely


async def run(handle: Callable[..., T | Awaitable[T]], /, *arguments: Any) -> T:
    """Return what a function returns. It may block, as it runs in a thread, unless it is a coroutine."""
    if iscoroutinefunction(handle):
        return cast("T", await handle(*arguments))
    return cast("T", await run_in_threadpool(handle, *arguments))


async def refuse_route(request: Request, error: Exception) -> Response:
    """Answer what the router refuses: an unknown path, or a method that a path does not take."""
    assert isinstance(error, HTTPException)
    words = {404: "no such path", 405: f"{request.method} is not allowed here"}
    message = words.get(error.status_code, error.detail)
    headers = dict(error.headers) if error.headers else None
    return failure(error.status_code, errors.InvalidOption.code, f"{request.url.path}: {message}", headers)
