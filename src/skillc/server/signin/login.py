"""Sign in and out with a browser: GET and POST /login, GET /login/callback, GET and POST /logout."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import RegistryRefused, SignInRequired, unexpected
from skillc.registry import NewSession
from skillc.server.oidc.flow import CALLBACK, Flow, create_attempt
from skillc.server.requests import REQUEST_TIME, receive_body
from skillc.server.responses import RETRY_SECONDS, Refusal, explain, status_of
from skillc.server.service import Service
from skillc.server.sessions import (
    FIELD,
    check_form_token,
    check_origin,
    clear_cookie,
    local_path,
    make_form_token,
    read_cookie,
    set_cookie,
)
from skillc.server.signin.pages import Pages, redirect

ATTEMPT = "skillc-login"  # the cookie of a sign-in that was begun
ATTEMPT_TIME = 600  # seconds that a person has at the issuer
MAX_FORM = 16 << 10  # bytes
MAX_FIELDS = 20

Endpoint = Callable[[Request], Awaitable[Response]]


class Login:
    """The endpoints; `flow` is None where people sign in with tokens alone."""

    def __init__(self, service: Service, flow: Flow | None, pages: Pages) -> None:
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
        """Take a person that comes back from the issuer."""
        self._service.limit(request)
        if self._flow is None:
            raise Refusal(404, "there is no issuer to sign in with")
        attempt, _, encoded = read_cookie(request, self._url, ATTEMPT).partition(".")
        identity = await self._flow.finish(attempt, request.query_params)
        settings = self._flow.settings
        new = await self._service.call(
            self._registry.sessions.sign_in, identity, settings.role, settings.prefix
        )
        response = await self._enter(request, new, _decode(encoded))
        clear_cookie(response, self._url, ATTEMPT)
        return response

    async def sign_in(self, request: Request) -> Response:
        """Take a token from the form."""
        self._service.limit(request)
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

    async def ask(self, request: Request) -> Response:
        if not await self._service.visitor(request):
            return redirect("/")
        return self._pages.show_question(make_form_token(read_cookie(request, self._url)))

    async def sign_out(self, request: Request) -> Response:
        """End the session. Without one there is nothing to end."""
        if visitor := await self._service.visitor(request):
            check_origin(request, self._url)
            check_form_token(read_cookie(request, self._url), (await read_form(request)).get(FIELD, ""))
            await self._service.call(self._registry.sessions.sign_out, visitor.session)
        response = redirect("/")
        clear_cookie(response, self._url)
        return response

    async def _enter(self, request: Request, new: NewSession, target: str) -> Response:
        """Give the browser its new session; the one that it had ends."""
        if visitor := await self._service.visitor(request):
            await self._service.call(self._registry.sessions.sign_out, visitor.session)
        response = redirect(target)
        seconds = int((new.session.expires_at - new.session.created_at).total_seconds())
        set_cookie(response, self._url, new.secret, seconds)
        return response


def routes(service: Service, flow: Flow | None, pages: Pages) -> list[BaseRoute]:
    login = Login(service, flow, pages)

    def guard(endpoint: Endpoint) -> Endpoint:
        return _guard(endpoint, pages)

    return [
        Route("/login", guard(login.begin), methods=["GET"]),
        Route("/login", guard(login.sign_in), methods=["POST"]),
        Route(CALLBACK, guard(login.finish), methods=["GET"]),
        Route("/logout", guard(login.ask), methods=["GET"]),
        Route("/logout", guard(login.sign_out), methods=["POST"]),
    ]


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form without files; refuses one that is large."""
    data = bytearray()
    await receive_body(request, data.extend, MAX_FORM, REQUEST_TIME)
    try:
        return dict(parse_qsl(data.decode(), max_num_fields=MAX_FIELDS))
    except ValueError:
        raise Refusal(400, "the form can't be read") from None


def _decode(encoded: str) -> str:
    """Return the path that a sign-in was begun for."""
    try:
        return local_path(base64.urlsafe_b64decode(f"{encoded}===").decode())
    except ValueError:
        return "/"


def _guard(endpoint: Endpoint, pages: Pages) -> Endpoint:
    """Wrap an endpoint: an error becomes a page."""

    async def respond(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refusal as error:
            response = pages.show_problem(str(error), error.status)
            response.headers.update(error.headers or {})
            return response
        except RegistryRefused as error:
            return pages.show_problem(error.message, status_of(error))
        except Exception as error:
            status = status_of(error)
            message = f"{explain(request, error)} ({unexpected(error).code})"
            response = pages.show_problem(message, status)
            if status == 503:
                response.headers["Retry-After"] = str(RETRY_SECONDS)
            return response

    return respond
