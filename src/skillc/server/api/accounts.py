"""Show and change the accounts of a registry: the caller itself, tokens and grants."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.server.responses import guard, respond
from skillc.server.service import Service


def routes(service: Service) -> list[BaseRoute]:
    async def whoami(request: Request) -> Response:
        caller = await service.caller(request)
        permissions = [{"role": p.role.label, "prefix": p.prefix} for p in caller.permissions]
        return respond({"subject": caller.subject, "permissions": permissions})

    return [Route("/whoami", guard(whoami))]
