"""Tell operators how the server is: /healthz and /readyz."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.registry import SYSTEM
from skillc.server.responses import guard, respond
from skillc.server.service import Service


def routes(service: Service) -> list[BaseRoute]:
    async def health(request: Request) -> Response:
        return respond({"status": "ok"})

    async def ready(request: Request) -> Response:
        """Ask the store for one row, which fails with 503 while it can't be reached."""
        await service.call(service.registry.skills, SYSTEM, limit=1)
        return respond({"status": "ready"})

    return [Route("/healthz", guard(health)), Route("/readyz", guard(ready))]
