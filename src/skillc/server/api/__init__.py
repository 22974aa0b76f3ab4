"""The registry's own HTTP API. Each module declares the operations on one kind of thing."""

from __future__ import annotations

from starlette.routing import BaseRoute

from skillc.server.api import accounts, health, publication, search, skills
from skillc.server.api.declaration import Operation
from skillc.server.service import Service

# The most special paths of a module come first: the first route that fits is taken.
OPERATIONS: tuple[Operation, ...] = (
    *skills.OPERATIONS,
    *publication.OPERATIONS,
    *search.OPERATIONS,
    *accounts.OPERATIONS,
    *health.OPERATIONS,
)


def routes(service: Service) -> list[BaseRoute]:
    """Return a route for each operation."""
    return [operation.route(service) for operation in OPERATIONS]
