"""Create the application of a registry: its own API, the protocols of others, sign-in, and pages."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from skillc.registry import Registry
from skillc.server import api, protocols
from skillc.server.mounts import lifespan, routes as mount_routes
from skillc.server.responses import refuse_route
from skillc.server.service import ServerSettings, Service


def create_registry_app(
    registry: Registry,
    settings: ServerSettings | None = None,
    *,
    mounts: Mapping[str, ASGIApp] | None = None,
) -> Starlette:
    """Return an ASGI application over a registry. `mounts` are applications of other surfaces, by path."""
    service = Service(registry, settings or ServerSettings())
    routes = [
        *protocols.routes(service),
        *api.routes(service),
        *mount_routes(mounts or {}),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: refuse_route},
        lifespan=lifespan((mounts or {}).values()),
    )
    app.router.redirect_slashes = False
    return app
