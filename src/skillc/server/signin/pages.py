"""Say which pages sign-in shows: others make them. A failure is a page that says what to do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from skillc.errors import IssuerUnavailable, RegistryRefused, unexpected
from skillc.server.responses import RETRY_SECONDS, Refusal, explain, status_of
from skillc.server.service import Service
from skillc.server.sessions import local_path

HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # the address of a callback has a code, which is for us alone
    "X-Content-Type-Options": "nosniff",
}

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Problem:
    """A sign-in that failed: what happened, and what the person can do."""

    status: int
    code: str
    message: str
    advice: str


class Pages(Protocol):
    """The pages of sign-in."""

    def show_form(self, target: str, problem: str = "", status: int = 200) -> Response:
        """Show the form for a token; `target` is where to go afterwards."""
        ...

    def show_question(self, form_token: str) -> Response:
        """Ask whether to sign out."""
        ...

    def show_problem(self, problem: Problem, target: str) -> Response: ...


def redirect(url: str) -> Response:
    return RedirectResponse(url, 303, HEADERS)


def fail(request: Request, error: Exception, pages: Pages, target: str = "/") -> Response:
    """Return the page for an error; `target` is where the person wants to go."""
    problem = _describe(request, error)
    response = pages.show_problem(problem, target)
    if isinstance(error, Refusal):
        response.headers.update(error.headers or {})
    elif problem.status == 503:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def guard(endpoint: Endpoint, service: Service, pages: Pages) -> Endpoint:
    """Wrap an endpoint: an address asks so often and no more, and an error becomes a page."""

    async def respond(request: Request) -> Response:
        try:
            service.limit(request)
            return await endpoint(request)
        except Exception as error:
            return fail(request, error, pages, local_path(request.query_params.get("next", "")))

    return respond


def _describe(request: Request, error: Exception) -> Problem:
    if isinstance(error, Refusal):
        advice = "Wait a moment, then try again." if error.status == 429 else "Go back, and start again."
        return Problem(error.status, error.code, str(error), advice)
    status, code, message = status_of(error), unexpected(error).code, explain(request, error)
    if isinstance(error, RegistryRefused):
        message = message.removeprefix("the registry refused: ")
        return Problem(status, code, message, error.details or _ASK)
    if isinstance(error, IssuerUnavailable):
        return Problem(status, code, "the sign-in of your organisation does not answer", _LATER)
    return Problem(status, code, message, _UNKNOWN)


_ASK = "Sign in with another account, or ask the operators of this server."
_LATER = "Try again in a moment. Meanwhile a token signs in, too, and who is signed in stays so."
_UNKNOWN = "Try again in a moment. If it happens again, tell the operators of this server the code."
