"""The registry's own HTTP API. Each module has the endpoints of one kind of thing, and `routes`."""

from __future__ import annotations

from starlette.routing import BaseRoute

from skillc.server.api import accounts, operations, skills
from skillc.server.service import Service


def routes(service: Service) -> list[BaseRoute]:
    """Return all routes, the most special first."""
    return [*operations.routes(service), *accounts.routes(service), *skills.routes(service)]
