"""Sign in and out with a browser: GET and POST /login, GET /login/callback, GET and POST /logout."""

from __future__ import annotations

import base64

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import SignInRequired
from skillc.registry import NewSession
from skillc.server.oidc.flow import CALLBACK, Flow, create_attempt
from skillc.server.responses import Refusal
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
from skillc.server.signin.forms import read_form
from skillc.server.signin.pages import Pages, fail, guard, redirect

ATTEMPT = "skillc-login"  # the cookie of a sign-in that was begun
ATTEMPT_TIME = 600  # seconds that a person has at the issuer


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


def routes(service: Service, flow: Flow | None, pages: Pages) -> list[BaseRoute]:
    login = Login(service, flow, pages)
    return [
        Route("/login", guard(login.begin, service, pages), methods=["GET"]),
        Route("/login", guard(login.sign_in, service, pages), methods=["POST"]),
        Route(CALLBACK, guard(login.finish, service, pages), methods=["GET"]),
        Route("/logout", guard(login.ask, service, pages), methods=["GET"]),
        Route("/logout", guard(login.sign_out, service, pages), methods=["POST"]),
    ]


def _decode(encoded: str) -> str:
    """Return the path that a sign-in was begun for."""
    try:
        return local_path(base64.urlsafe_b64decode(f"{encoded}===").decode())
    except ValueError:
        return "/"
