"""Know visitors of a registry by their session, and show the pages of sign-in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from skillc.registry import PUBLIC
from skillc.server.pages.assets import create_environment, read_assets
from skillc.server.pages.shelf import Audits, RegistryShelf
from skillc.server.pages.visit import NOT_KEPT, Visit
from skillc.server.service import Service
from skillc.server.sessions import read_cookie


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
        signed_in = await self.service.visitor(request)
        caller = signed_in.caller if signed_in else PUBLIC if self.service.settings.public_read else None
        shelf = RegistryShelf(self.registry, caller, self._audits) if caller is not None else None
        session = read_cookie(request, self.url) if signed_in else ""
        return Visit(request, self, shelf, caller, session, name=signed_in.name if signed_in else "")


class SignInPages:
    """The pages that signing in and out shows, each for a visitor of whom nothing is known."""

    def __init__(self, site: RegistrySite) -> None:
        self._visit = Visit(_NO_REQUEST, site)
        self._has_issuer = site.service.settings.sign_in.oidc is not None

    def show_form(self, target: str, problem: str = "", status: int = 200) -> Response:
        values = {"next": target, "problem": problem, "has_issuer": self._has_issuer}
        return self._visit.page("sign-in.html", status, NOT_KEPT, **values)

    def show_question(self, form_token: str) -> Response:
        return self._visit.page("sign-out.html", 200, NOT_KEPT, form_token=form_token)

    def show_problem(self, message: str, status: int) -> Response:
        advice = "Sign in again. If it happens again, ask the operator of this server."
        values = {"code": "E090", "message": message, "advice": advice, "number": status}
        return self._visit.page("error.html", status, NOT_KEPT, **values)


_NO_REQUEST = Request({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []})
