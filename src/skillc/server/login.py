"""Sign in and out with a browser: GET and POST /login, GET /login/callback, GET and POST /logout."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidOption, IssuerUnavailable, RegistryRefused, SignInRequired, unexpected
from skillc.registry import NewSession
from skillc.server.pages import Problem, SignInPages
from skillc.server.requests import REQUEST_TIME, receive_body
from skillc.server.responses import RETRY_SECONDS, Refusal, explain, status_of
from skillc.server.service import Service
from skillc.server.signin.flow import CALLBACK, Flow, create_attempt
from skillc.server.signin.sessions import (
    FIELD,
    check_form_token,
    check_origin,
    clear_cookie,
    local_path,
    make_form_token,
    read_cookie,
    set_cookie,
)

MAX_FORM = 16 << 10  # bytes
MAX_FIELDS = 20
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",  # the address of a callback has a code, which is for us alone
    "X-Content-Type-Options": "nosniff",
}
Endpoint = Callable[[Request], Awaitable[Response]]
_ASK = "Sign in with another account, or ask the operators of this server."
_LATER = "Try again in a moment. Meanwhile a token signs in, too, and who is signed in stays so."
_UNKNOWN = "Try again in a moment. If it happens again, tell the operators of this server the code."
ATTEMPT = "skillc-login"  # the cookie of a sign-in that was begun
ATTEMPT_TIME = 600  # seconds that a person has at the issuer


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form without files; refuses one that is large."""
    data = bytearray()
    await receive_body(request, data.extend, MAX_FORM, REQUEST_TIME)
    try:
        return dict(parse_qsl(data.decode(), max_num_fields=MAX_FIELDS))
    except ValueError:
        raise Refusal(400, "the form can't be read") from None


def redirect(url: str) -> Response:
    return RedirectResponse(url, 303, HEADERS)


def fail(request: Request, error: Exception, pages: SignInPages, target: str = "/") -> Response:
    """Return the page for an error; `target` is where the person wants to go."""
    problem = _describe(request, error)
    response = pages.show_problem(problem, target)
    if isinstance(error, Refusal):
        response.headers.update(error.headers or {})
    elif problem.status == 503:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def guard(endpoint: Endpoint, service: Service, pages: SignInPages) -> Endpoint:
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


class Login:
    """The endpoints; `flow` is None where people sign in with tokens alone."""

    def __init__(self, service: Service, flow: Flow | None, pages: SignInPages) -> None:
        self._service = service
        self._registry = service.registry
        self._url = service.settings.url
        self._flow = flow
        self._pages = pages

    async def begin(self, request: Request) -> Response:
        """Lead to the issuer, and with `?token` or without an issuer show the form for a token."""
        target = local_path(request.query_params.get("next", ""))
        if await self._service.visitor(request):
            return redirect(target)
        if self._flow is None or "token" in request.query_params:
            return self._pages.show_form(target)
        attempt = create_attempt()
        response = redirect(await self._flow.begin(attempt))
        value = f"{attempt}.{base64.urlsafe_b64encode(target.encode()).decode().rstrip('=')}"
        set_cookie(response, self._url, value, ATTEMPT_TIME, ATTEMPT)
        return response

    async def finish(self, request: Request) -> Response:
        """Take a person that comes back from the issuer. An attempt is good once, however it ends."""
        if self._flow is None:
            raise Refusal(404, "there is no issuer to sign in with")
        attempt, _, encoded = read_cookie(request, self._url, ATTEMPT).partition(".")
        self._flow.check(attempt, request.query_params)
        target = _decode(encoded)
        try:
            response = await self._welcome(request, self._flow, attempt, target)
        except Exception as error:
            response = fail(request, error, self._pages, target)
        clear_cookie(response, self._url, ATTEMPT)
        return response

    async def _welcome(self, request: Request, flow: Flow, attempt: str, target: str) -> Response:
        identity = await flow.finish(attempt, request.query_params)
        settings = flow.settings
        new = await self._service.call(
            self._registry.sessions.sign_in, identity, settings.role, settings.prefix
        )
        return await self._enter(request, new, target)

    async def sign_in(self, request: Request) -> Response:
        """Take a token from the form."""
        check_origin(request, self._url)
        form = await read_form(request)
        target = local_path(form.get("next", ""))
        try:
            token = form.get("token", "").strip()
            caller = await self._service.call(self._registry.accounts.authenticate, token)
        except SignInRequired:
            return self._pages.show_form(target, "This token is not valid.", 401)
        new = await self._service.call(self._registry.sessions.sign_in_with_token, caller)
        return await self._enter(request, new, target)

    async def _enter(self, request: Request, new: NewSession, target: str) -> Response:
        """Give the browser its new session; the one that it had ends."""
        if visitor := await self._service.visitor(request):
            await self._service.call(self._registry.sessions.sign_out, visitor.session)
        response = redirect(target)
        session = new.session
        seconds = int((session.expires_at - session.created_at).total_seconds())
        set_cookie(response, self._url, new.secret, seconds)
        return response

    async def ask(self, request: Request) -> Response:
        """Ask whether to sign out."""
        if not await self._service.visitor(request):
            return redirect("/")
        return self._pages.show_question(make_form_token(read_cookie(request, self._url)))

    async def sign_out(self, request: Request) -> Response:
        """End the session. Without one there is nothing to end."""
        check_origin(request, self._url)
        visitor = await self._service.visitor(request)
        if visitor:
            check_form_token(read_cookie(request, self._url), (await read_form(request)).get(FIELD, ""))
            await self._service.call(self._registry.sessions.sign_out, visitor.session)
        response = redirect("/")
        clear_cookie(response, self._url)
        return response


def routes(service: Service, pages: SignInPages) -> list[BaseRoute]:
    """Return all routes; raises InvalidOption or MissingExtra where the configured issuer can't be used."""
    login = Login(service, _create_flow(service), pages)
    return [
        Route("/login", guard(login.begin, service, pages), methods=["GET"]),
        Route("/login", guard(login.sign_in, service, pages), methods=["POST"]),
        Route(CALLBACK, guard(login.finish, service, pages), methods=["GET"]),
        Route("/logout", guard(login.ask, service, pages), methods=["GET"]),
        Route("/logout", guard(login.sign_out, service, pages), methods=["POST"]),
    ]


def _create_flow(service: Service) -> Flow | None:
    settings = service.settings
    oidc = settings.sign_in.oidc
    if oidc is None:
        return None
    if not settings.url:
        raise InvalidOption("with an OpenID Connect issuer, --url is needed: people are led back there")
    return Flow(oidc, service.issuers, settings.url)


def _decode(encoded: str) -> str:
    """Return the path that a sign-in was begun for."""
    try:
        return local_path(base64.urlsafe_b64decode(f"{encoded}===").decode())
    except ValueError:
        return "/"
