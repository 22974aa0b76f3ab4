"""Know visitors of a registry by a cookie, and let them sign in with a token and out again.

The cookie holds a token. It ends with the token: what is revoked or expired is signed out at once.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import SignInRequired
from skillc.registry import PUBLIC
from skillc.server.pages.assets import create_environment, read_assets
from skillc.server.pages.shelf import Audits, RegistryShelf
from skillc.server.pages.visit import NOT_KEPT, Visit, local_path, redirect, serve_page
from skillc.server.service import Service

COOKIE = "skillc_session"
LIFE = 12 * 3600  # seconds that a browser keeps it


class RegistrySite:
    """The pages of a registry."""

    is_registry = True

    def __init__(self, service: Service) -> None:
        self.service = service
        self.registry = service.registry
        self.url = service.settings.url
        self.assets = read_assets()
        self.environment = create_environment(self.assets)
        self._audits = Audits()

    async def open(self, request: Request) -> Visit:
        """Return the visit of a request, by its cookie; without one, visitors see what all may read."""
        session = request.cookies.get(COOKIE, "")
        caller = None
        if session:
            try:
                caller = await self.service.call(self.registry.accounts.authenticate, session)
            except SignInRequired:  # revoked or expired
                session = ""
        if caller is None and self.service.settings.public_read:
            caller = PUBLIC
        shelf = RegistryShelf(self.registry, caller, self._audits) if caller is not None else None
        return Visit(request, self, shelf, caller, session)


def routes(site: RegistrySite) -> list[BaseRoute]:
    def show(visit: Visit) -> Response:
        """Show the form; `next` is the page to go to afterwards."""
        return visit.page("sign-in.html", next=local_path(visit.query("next")), failed=False)

    def sign_in(visit: Visit) -> Response:
        target = local_path(visit.text("next"))
        token = visit.text("token")
        try:
            site.registry.accounts.authenticate(token)
        except SignInRequired:
            return visit.page("sign-in.html", 401, next=target, failed=True)
        response = redirect(target, NOT_KEPT)
        response.set_cookie(
            COOKIE,
            token,
            max_age=LIFE,
            httponly=True,
            samesite="lax",
            secure=visit.address.startswith("https:"),
            path="/",
        )
        return response

    def sign_out(visit: Visit) -> Response:
        response = redirect("/", NOT_KEPT)
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
        return response

    return [
        Route("/sign-in", serve_page(site, show), methods=["GET"]),
        Route("/sign-in", serve_page(site, sign_in), methods=["POST"]),
        Route("/sign-out", serve_page(site, sign_out), methods=["POST"]),
    ]
