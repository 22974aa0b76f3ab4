"""List, read and publish skills."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.server.responses import guard, respond_tagged
from skillc.server.service import Service


def routes(service: Service) -> list[BaseRoute]:
    async def versions(request: Request) -> Response:
        """Return the versions of a skill, newest first."""
        caller = await service.caller(request)
        skill = await service.call(service.registry.skill, caller, request.path_params["id"])
        return respond_tagged(request, skill.as_json())

    return [Route("/skills/{id:path}/versions", guard(versions))]
