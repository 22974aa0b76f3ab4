"""Know visitors of a registry by their session, and show the pages of sign-in."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from skillc.registry import PUBLIC
from skillc.server.pages.assets import create_environment, read_assets
from skillc.server.pages.registry_catalog import RegistryData, RegistryShelf
from skillc.server.pages.visit import NOT_KEPT, Visit
from skillc.server.request_log import CALLER
from skillc.server.service import Service
from skillc.server.sessions import read_cookie
from skillc.server.signin.pages import Problem


class RegistrySite:
    """The pages of a registry."""

    is_registry = True

    def __init__(self, service: Service) -> None:
        self.service = service
        self.registry = service.registry
        self.url = service.settings.url
        self.assets = read_assets()
        self.environment = create_environment(self.assets)
        self._data = RegistryData(service)

    async def open(self, request: Request) -> Visit:
        """Return the visit of a request, by its cookie; without one, visitors see what all may read."""
        self.service.limit(request)
        signed_in = await self.service.visitor(request)
        caller = signed_in.caller if signed_in else PUBLIC if self.service.settings.public_read else None
        request.scope[CALLER] = caller.token or caller.subject if caller else None
        shelf = RegistryShelf(self._data, caller) if caller is not None else None
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

    def show_problem(self, problem: Problem, target: str) -> Response:
        values = {"problem": problem, "next": target, "has_issuer": self._has_issuer}
        return self._visit.page("sign-in-problem.html", problem.status, NOT_KEPT, **values)


_NO_REQUEST = Request({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []})
