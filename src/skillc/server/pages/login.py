"""Let visitors sign in and out: GET and POST /login, GET /login/callback, GET and POST /logout."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidOption, IssuerUnavailable, RegistryRefused, SignInRequired
from skillc.registry import NewSession
from skillc.server.pages.registry_catalog import RegistrySite
from skillc.server.pages.visit import NOT_KEPT, FormLimits, Visit, redirect, serve_page, show_error
from skillc.server.responses import Refusal
from skillc.server.signin.flow import CALLBACK, Flow, create_attempt
from skillc.server.signin.sessions import clear_cookie, local_path, read_cookie, set_cookie

_ASK = "Sign in with another account, or ask the operators of this server."
_LATER = "Try again in a moment. Meanwhile a token signs in, too, and who is signed in stays so."
_UNKNOWN = "Try again in a moment. If it happens again, tell the operators of this server the code."
ATTEMPT = "skillc-login"  # the cookie of a sign-in that was begun
MAX_FORM = 16 << 10  # bytes
ATTEMPT_TIME = 600  # seconds that a person has at the issuer


def routes(site: RegistrySite) -> list[BaseRoute]:
    """Return all routes; raises InvalidOption or MissingExtra where the configured issuer can't be used."""
    login = Login(site)
    serve = partial(serve_page, site, fail=login.show_problem)
    return [
        Route("/login", serve(login.begin), methods=["GET"]),
        Route("/login", serve(login.sign_in, _receive_token), methods=["POST"]),
        Route(CALLBACK, serve(login.finish), methods=["GET"]),
        Route("/logout", serve(login.ask), methods=["GET"]),
        Route("/logout", serve(login.sign_out), methods=["POST"]),
    ]


@asynccontextmanager
async def _receive_token(visit: Visit) -> AsyncIterator[FormLimits]:
    """Allow a form of no session, which a page shows that nobody signed in for."""
    yield FormLimits(MAX_FORM, is_of_session=False)


class Login:
    """The pages. Without an issuer, people sign in with tokens alone."""

    def __init__(self, site: RegistrySite) -> None:
        self._registry = site.service.registry
        self._url = site.url
        oidc = site.service.settings.sign_in.oidc
        if oidc is not None and not site.url:
            raise InvalidOption("with an OpenID Connect issuer, --url is needed: people are led back there")
        self._flow = Flow(oidc, site.service.issuers, site.url) if oidc is not None else None

    async def begin(self, visit: Visit) -> Response:
        """Lead to the issuer, and with `?token` or without an issuer show the form for a token."""
        target = local_path(visit.query("next"))
        if visit.signed_in:
            return redirect(target, NOT_KEPT)
        if self._flow is None or "token" in visit.request.query_params:
            return self._show_form(visit, target)
        attempt = create_attempt()
        response = redirect(await self._flow.begin(attempt), NOT_KEPT)
        value = f"{attempt}.{base64.urlsafe_b64encode(target.encode()).decode().rstrip('=')}"
        set_cookie(response, self._url, value, ATTEMPT_TIME, ATTEMPT)
        return response

    async def finish(self, visit: Visit) -> Response:
        """Take a person that comes back from the issuer. An attempt is good once, however it ends."""
        if self._flow is None:
            raise Refusal(404, "there is no issuer to sign in with")
        attempt, _, encoded = read_cookie(visit.request, self._url, ATTEMPT).partition(".")
        query, settings = visit.request.query_params, self._flow.settings
        self._flow.check(attempt, query)
        target = _decode(encoded)
        try:
            identity = await self._flow.finish(attempt, query)
            welcome = partial(self._registry.sessions.sign_in, identity, settings.role, settings.prefix)
            response = await run_in_threadpool(lambda: self._enter(visit, welcome(), target))
        except Exception as error:
            response = self.show_problem(visit, error, target)
        clear_cookie(response, self._url, ATTEMPT)
        return response

    def sign_in(self, visit: Visit) -> Response:
        """Take a token from the form."""
        target = local_path(visit.text("next"))
        try:
            caller = self._registry.accounts.authenticate(visit.text("token"))
        except SignInRequired:
            return self._show_form(visit, target, "This token is not valid.", 401)
        return self._enter(visit, self._registry.sessions.sign_in_with_token(caller), target)

    def _enter(self, visit: Visit, new: NewSession, target: str) -> Response:
        """Give the browser its new session; the one that it had ends."""
        if visit.signed_in:
            self._registry.sessions.sign_out(visit.signed_in.session)
        response = redirect(target, NOT_KEPT)
        session = new.session
        seconds = int((session.expires_at - session.created_at).total_seconds())
        set_cookie(response, self._url, new.secret, seconds)
        return response

    def ask(self, visit: Visit) -> Response:
        """Ask whether to sign out."""
        return visit.page("sign-out.html", headers=NOT_KEPT) if visit.signed_in else redirect("/", NOT_KEPT)

    def sign_out(self, visit: Visit) -> Response:
        """End the session. Without one there is nothing to end."""
        if visit.signed_in:
            self._registry.sessions.sign_out(visit.signed_in.session)
        response = redirect("/", NOT_KEPT)
        clear_cookie(response, self._url)
        return response

    def _show_form(self, visit: Visit, target: str, problem: str = "", status: int = 200) -> Response:
        """Show the form for a token; `target` is where to go afterwards."""
        values = {"next": target, "problem": problem, "has_issuer": self._flow is not None}
        return visit.page("sign-in.html", status, NOT_KEPT, **values)

    def show_problem(self, visit: Visit, error: Exception, target: str = "") -> Response:
        """Show what happened, what the person can do, and the ways to sign in."""
        values: dict[str, Any] = {"advice": _UNKNOWN}
        if isinstance(error, Refusal):
            is_limit = error.status == 429
            values["advice"] = "Wait a moment, then try again." if is_limit else "Go back, and start again."
        elif isinstance(error, RegistryRefused):
            message = error.message.removeprefix("the registry refused: ")
            values = {"message": message, "advice": error.details or _ASK}
        elif isinstance(error, IssuerUnavailable):
            values = {"message": "the sign-in of your organisation does not answer", "advice": _LATER}
        target = target or local_path(visit.query("next"))
        values |= {"next": target, "has_issuer": self._flow is not None}
        return show_error(visit, error, NOT_KEPT, **values)


def _decode(encoded: str) -> str:
    """Return the path that a sign-in was begun for."""
    try:
        return local_path(base64.urlsafe_b64decode(f"{encoded}===").decode())
    except ValueError:
        return "/"
