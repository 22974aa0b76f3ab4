"""Make HTTP responses: JSON with an ETag, and errors as `{"error": {"code", "message"}}`."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from skillc import errors
from skillc.startup import sha256_hex
from skillc.text import one_line

# Errors about what the client asked for: it gets their message. Others may name paths of this machine.
MISTAKES = (
    errors.SkillNotFound,
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
    (errors.StaleVersion, 412),
    (errors.Conflict, 409),
)
OUTAGES = (errors.RepositoryUnavailable, errors.RegistryUnavailable)
RETRY_SECONDS = 5  # what a client is asked to wait for in an outage
HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
CLOSE = {"Connection": "close"}
UNREAD = (408, 413)  # the rest of the request may still arrive; closing ends it

log = logging.getLogger("skillc.server")
Endpoint = Callable[[Request], Awaitable[Response]]


class Refusal(Exception):
    """A request that is answered with this status and this error."""

    def __init__(self, status: int, message: str, code: str = errors.InvalidOption.code) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def respond(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response; lone surrogates become question marks."""
    content = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return Response(content, status, HEADERS | (headers or {}), "application/json")


def respond_tagged(request: Request, value: Any) -> Response:
    """Return a JSON response with an ETag, or 304 where the client has it already."""
    response = respond(value)
    etag = f'"{sha256_hex(bytes(response.body))[:32]}"'
    header = request.headers.get("If-None-Match", "")
    tags = [tag.strip().removeprefix("W/") for tag in header.split(",")]  # weak tags count for reading
    if header.strip() == "*" or etag in tags:
        return Response(status_code=304, headers=HEADERS | {"ETag": etag})
    response.headers["ETag"] = etag
    return response


def failure(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> Response:
    return respond({"error": {"code": code, "message": message}}, status, headers)


def explain(request: Request, error: Exception) -> str:
    """Return what a client may know of an error; what else there is to say goes to the log."""
    if isinstance(error, MISTAKES):
        return error.message
    what = one_line(f"{request.method} {request.url.path}")
    log.error("%s: %s", what, errors.unexpected(error).line())
    if isinstance(error, errors.RegistryUnavailable):
        return "the registry is unavailable; try again in a moment"
    unavailable = isinstance(error, errors.RepositoryUnavailable)
    return f"{'a repository is unavailable' if unavailable else 'internal error'}; the server's log says more"


def fail(request: Request, error: Exception) -> Response:
    """Return the response for an error that an endpoint raised."""
    status = _status(error)
    headers = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": str(RETRY_SECONDS)}}.get(status)
    return failure(status, errors.unexpected(error).code, explain(request, error), headers)


def _status(error: Exception) -> int:
    if isinstance(error, MISTAKES):
        return next((status for kind, status in STATUS if isinstance(error, kind)), 400)
    return 503 if isinstance(error, OUTAGES) else 500


def guard(endpoint: Endpoint) -> Endpoint:
    """Wrap an endpoint: an error becomes a response, and one that is not the client's is logged."""

    @wraps(endpoint)
    async def respond_safely(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refusal as error:
            return failure(error.status, error.code, str(error), CLOSE if error.status in UNREAD else None)
        except Exception as error:
            return fail(request, error)

    return respond_safely


async def refuse_route(request: Request, error: Exception) -> Response:
    """Answer what the router refuses: an unknown path, or a method that a path does not take."""
    assert isinstance(error, HTTPException)
    words = {404: "no such path", 405: f"{request.method} is not allowed here"}
    message = words.get(error.status_code, error.detail)
    headers = dict(error.headers) if error.headers else None
    return failure(error.status_code, errors.InvalidOption.code, f"{request.url.path}: {message}", headers)
