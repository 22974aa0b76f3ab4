"""Sign out with a browser: GET and POST /logout, and where the issuer offers it, out there, too.

    POST /logout  ->  a page  ->  GET /logout/issuer  ->  the issuer  ->  GET /logout/callback

The page in between is needed: after a form, browsers follow no redirect to a site that the policy of our
pages does not name. The ID token, which tells the issuer who signs out, is in a cookie for these paths alone:
the store has none.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import IssuerUnavailable
from skillc.registry import Session
from skillc.server.oidc.configuration import HERE, ISSUER
from skillc.server.oidc.flow import SIGNED_OUT, Flow, create_attempt
from skillc.server.service import Service
from skillc.server.sessions import (
    FIELD,
    check_form_token,
    check_origin,
    clear_cookie,
    make_form_token,
    read_cookie,
    set_cookie,
)
from skillc.server.signin.forms import read_form
from skillc.server.signin.pages import Pages, guard, redirect

PATH = "/logout"
TO_ISSUER = "/logout/issuer"
HINT = "skillc-id"  # the cookie with the ID token of a session
ATTEMPT = "skillc-logout"  # the cookie of a sign-out that was begun
ATTEMPT_TIME = 600  # seconds that a person has at the issuer
MAX_HINT = 3500  # characters; browsers keep no cookie over 4096


class Logout:
    """The endpoints; `flow` is None where people sign in with tokens alone."""

    def __init__(self, service: Service, flow: Flow | None, pages: Pages) -> None:
        self._service = service
        self._url = service.settings.url
        self._flow = flow
        self._pages = pages

    async def ask(self, request: Request) -> Response:
        if not await self._service.visitor(request):
            return redirect("/")
        return self._pages.show_question(make_form_token(read_cookie(request, self._url)))

    async def sign_out(self, request: Request) -> Response:
        """End the session. Without one there is nothing to end."""
        check_origin(request, self._url)
        visitor = await self._service.visitor(request)
        if visitor:
            check_form_token(read_cookie(request, self._url), (await read_form(request)).get(FIELD, ""))
            await self._service.call(self._service.registry.sessions.sign_out, visitor.session)
        if visitor and await self._goes_on(visitor.session):
            response = self._lead()
        else:
            response = redirect("/")
            clear_cookie(response, self._url, HINT, PATH)
        clear_cookie(response, self._url)
        return response

    async def _goes_on(self, session: Session) -> bool:
        """Return whether signing out goes on at the issuer; while that is down, it ends here."""
        if self._flow is None or self._flow.settings.sign_out == HERE or session.token:
            return False
        try:
            return await self._flow.can_end()
        except IssuerUnavailable:
            return False

    def _lead(self) -> Response:
        """Return the page that leads to the issuer: by a link or, if so configured, by itself."""
        assert self._flow is not None
        response = self._pages.show_end(self._issuer, TO_ISSUER)
        set_cookie(response, self._url, create_attempt(), ATTEMPT_TIME, ATTEMPT, PATH)
        if self._flow.settings.sign_out == ISSUER:
            response.headers["Refresh"] = f"0; url={TO_ISSUER}"
        return response

    async def end(self, request: Request) -> Response:
        """Lead to the issuer, once after signing out here: no other page can have it done."""
        attempt = read_cookie(request, self._url, ATTEMPT, PATH)
        if self._flow is None or not attempt or await self._service.visitor(request):
            return redirect("/")
        response = redirect(await self._flow.end(attempt, read_cookie(request, self._url, HINT, PATH)))
        clear_cookie(response, self._url, HINT, PATH)
        return response

    async def finish(self, request: Request) -> Response:
        """Take a person that comes back from the issuer; one that was not sent there is led home."""
        attempt = read_cookie(request, self._url, ATTEMPT, PATH)
        if self._flow is None or not self._flow.has_ended(attempt, request.query_params):
            return redirect("/")
        response = self._pages.show_end(self._issuer)
        clear_cookie(response, self._url, ATTEMPT, PATH)
        return response

    @property
    def _issuer(self) -> str:
        return urlsplit(self._flow.settings.issuer).netloc if self._flow else ""


def keep_hint(response: Response, url: str, id_token: str, seconds: int) -> None:
    """Let the browser keep the ID token of its session, for signing out; one that is too long it can't.

    That of an earlier session goes in any case.
    """
    fits = len(id_token) <= MAX_HINT
    set_cookie(response, url, id_token if fits else "", seconds if fits else 0, HINT, PATH)


def routes(service: Service, flow: Flow | None, pages: Pages) -> list[BaseRoute]:
    logout = Logout(service, flow, pages)
    return [
        Route(PATH, guard(logout.ask, service, pages), methods=["GET"]),
        Route(PATH, guard(logout.sign_out, service, pages), methods=["POST"]),
        Route(TO_ISSUER, guard(logout.end, service, pages), methods=["GET"]),
        Route(SIGNED_OUT, guard(logout.finish, service, pages), methods=["GET"]),
    ]
