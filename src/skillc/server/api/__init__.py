"""The registry's own HTTP API. Each module declares the operations on some kinds of things."""

from __future__ import annotations

from starlette.routing import BaseRoute

from skillc.server.api import accounts, openapi, publication, skills
from skillc.server.api.declaration import SKILL, Operation, make_route
from skillc.server.service import Service

# The order of the OpenAPI document.
TAGS = ("Reading", "Publishing", "Reviews", "Finding", "Usage", "Accounts", "Sign-in", "Operation")
_EVERY = [each for module in (skills, publication, accounts) for each in vars(module).values()]
_DECLARED = [each for each in _EVERY if isinstance(each, Operation)]
OPERATIONS = openapi.add_document(sorted(_DECLARED, key=lambda each: TAGS.index(each.tag)))


def routes(service: Service) -> list[BaseRoute]:
    """Return a route for each path, that of a skill first."""
    paths: dict[str, list[Operation]] = {SKILL: []}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    return [make_route(service, operations) for operations in paths.values()]
