"""The registry's own HTTP API. Each module declares the operations on some kinds of things."""

from __future__ import annotations

from starlette.routing import BaseRoute

from skillc.server.api import accounts, openapi, publication, skills
from skillc.server.api.declaration import SKILL, Operation, make_route
from skillc.server.service import Service

GROUPS = (
    skills.reading,
    publication.publishing,
    skills.reviewing,
    skills.finding,
    accounts.usage,
    accounts.accounts,
    accounts.identities,
    skills.operating,
)
_OPERATIONS = tuple(operation for group in GROUPS for operation in group.operations)
OPERATIONS: tuple[Operation, ...] = (*_OPERATIONS, openapi.make_operation(_OPERATIONS))


def routes(service: Service) -> list[BaseRoute]:
    """Return a route for each path, that of a skill first."""
    paths: dict[str, list[Operation]] = {SKILL: []}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    return [make_route(service, operations) for operations in paths.values()]
