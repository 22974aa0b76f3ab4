"""Create the application of a registry: its own API, the protocols of others, sign-in, and pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Mount
from starlette.types import ASGIApp

from skillc.registry import Registry
from skillc.server import api
from skillc.server.responses import refuse_route
from skillc.server.service import ServerSettings, Service


def create_registry_app(
    registry: Registry,
    settings: ServerSettings | None = None,
    *,
    mounts: Mapping[str, ASGIApp] | None = None,
    number: int = 0,
) -> Starlette:
    """Return an ASGI application over a registry. `mounts` are applications of other surfaces, by path.

    `number` tells the processes of one server apart.
    """
    service = Service(registry, settings or ServerSettings(), number)
    routes = [*api.routes(service), *(Mount(path, app) for path, app in (mounts or {}).items())]

    @asynccontextmanager
    async def live(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for context in service.contexts:
                await stack.enter_async_context(context())
            yield

    app = Starlette(routes=routes, exception_handlers={HTTPException: refuse_route}, lifespan=live)
    app.router.redirect_slashes = False
    return app
