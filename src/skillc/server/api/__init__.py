"""The registry's own HTTP API. Each module declares the operations on one kind of thing."""

from __future__ import annotations

from starlette.routing import BaseRoute

from skillc.server.api import (
    accounts,
    health,
    identities,
    openapi,
    publication,
    reviews,
    search,
    skills,
    usage,
)
from skillc.server.api.declaration import SKILL, Operation, make_route
from skillc.server.service import Service

_OPERATIONS = (
    *skills.OPERATIONS,
    *publication.OPERATIONS,
    *reviews.OPERATIONS,
    *search.OPERATIONS,
    *usage.OPERATIONS,
    *accounts.OPERATIONS,
    *identities.OPERATIONS,
    *health.OPERATIONS,
)
OPERATIONS: tuple[Operation, ...] = (*_OPERATIONS, openapi.make_operation(_OPERATIONS))


def routes(service: Service) -> list[BaseRoute]:
    """Return a route for each path."""
    paths: dict[str, list[Operation]] = {SKILL: []}  # first, because most requests are for it
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    return [make_route(service, operations) for operations in paths.values()]
