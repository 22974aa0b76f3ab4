"""Put applications of other surfaces into the one of a registry, each at its own path.

`CallerGuard` signs in their requests; the application finds the caller with `caller_of`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from skillc.errors import SignInRequired
from skillc.registry import Caller
from skillc.server.responses import fail
from skillc.server.service import Service

_KEY = "skillc.caller"


class CallerGuard:
    """Middleware that refuses requests without a caller (401), and passes the others on with theirs."""

    def __init__(self, app: Starlette, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            scope[_KEY] = await self._service.caller(request)
        except Exception as error:
            await fail(request, error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def run(self) -> AbstractAsyncContextManager[object]:
        """Return what runs as long as the application does."""
        return self._app.router.lifespan_context(self._app)


def caller_of(request: Request | None) -> Caller:
    """Return the caller of a request that passed `CallerGuard`; raises SignInRequired for any other."""
    caller = request.scope.get(_KEY) if request is not None else None
    if not isinstance(caller, Caller):
        raise SignInRequired
    return caller


def routes(mounts: Mapping[str, ASGIApp]) -> list[BaseRoute]:
    """Return a route for each application, which gets the path as it is."""
    return [Route(path, app) for path, app in mounts.items()]


def lifespan(mounts: Iterable[ASGIApp]) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return a lifespan in which that of each application runs, too."""

    @asynccontextmanager
    async def run(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in mounts:
                if isinstance(app, CallerGuard):
                    await stack.enter_async_context(app.run())
            yield

    return run
