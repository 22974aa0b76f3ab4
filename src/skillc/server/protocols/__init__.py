"""The protocols of others over a registry. Each module speaks one, and has `routes`.

All of them read as the caller of the request: what it may not read is not there, yanked versions are never
chosen, and deleted skills are gone.
"""

from __future__ import annotations

from starlette.routing import BaseRoute

from skillc.server.protocols import clawhub, clawhub_publish, marketplaces, wellknown
from skillc.server.service import Service


def routes(service: Service) -> list[BaseRoute]:
    """Return all routes. None of them is in the way of an ID: no segment of one has a dot."""
    modules = (wellknown, marketplaces, clawhub_publish, clawhub)
    return [route for module in modules for route in module.routes(service)]
