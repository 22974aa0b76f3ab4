"""Sign in and out with a browser: with an OpenID Connect issuer, or with a token."""

from __future__ import annotations

from starlette.routing import BaseRoute

from skillc.errors import InvalidOption
from skillc.server.oidc.flow import Flow
from skillc.server.service import Service
from skillc.server.signin import login
from skillc.server.signin.pages import Pages


def routes(service: Service, pages: Pages) -> list[BaseRoute]:
    """Return all routes; raises InvalidOption or MissingExtra where the configured issuer can't be used."""
    return login.routes(service, _create_flow(service), pages)


def _create_flow(service: Service) -> Flow | None:
    settings = service.settings
    oidc = settings.sign_in.oidc
    if oidc is None:
        return None
    if not settings.url:
        raise InvalidOption("with an OpenID Connect issuer, --url is needed: people are led back there")
    return Flow(oidc, service.issuers, settings.url)
