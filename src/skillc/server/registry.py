"""Create the application of a registry: its own API, the protocols of others, sign-in, and pages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from skillc.errors import SignInRequired
from skillc.registry import Registry
from skillc.registry.model import Caller
from skillc.server import api, pages, protocols
from skillc.server.protocols.adapter import find_caller
from skillc.server.request_log import RequestLog
from skillc.server.responses import fail
from skillc.server.service import Service
from skillc.server.settings import ServerSettings

_KEY = "skillc.mounts.caller"
MIN_GZIP = 1024  # bytes of a response
GZIP_LEVEL = 5
_PACKED = (
    *DEFAULT_EXCLUDED_CONTENT_TYPES,
    "application/octet-stream",
    "application/x-git-upload-pack-advertisement",
    "application/x-git-upload-pack-result",
)


def create_registry_app(
    registry: Registry,
    settings: ServerSettings | None = None,
    *,
    mounts: Callable[[Service], Mapping[str, ASGIApp]] = lambda service: {},
    middleware: Sequence[Middleware] = (),
    number: int = 0,
) -> Starlette:
    """Return an ASGI application over a registry. `mounts` gives applications of other surfaces, by path.

    `middleware` sees all requests before they are routed; `number` tells the processes of one server apart.
    """
    settings = settings or ServerSettings()
    service = Service(registry, settings, number)
    site = pages.RegistrySite(service)
    browser, *others = pages.routes(site)  # a page for the address of a skill
    skill, *operations = api.routes(service)
    routes = [
        browser,
        skill,  # first, because most requests are for it
        *protocols.routes(service),
        *others,
        *operations,
        *(Route(path, app) for path, app in mounts(service).items()),
    ]
    # By what the scope of a request has as its endpoint when a route took it.
    names = {route.endpoint: route.path for route in routes if isinstance(route, Route)}
    request_log = Middleware(
        RequestLog,
        metrics=service.metrics,
        routes=names,
        proxies=service.proxies,
        with_tls=settings.url.startswith("https:"),
    )

    @asynccontextmanager
    async def live(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for context in service.contexts:
                await stack.enter_async_context(context())
            yield

    app = Starlette(
        routes=routes,
        exception_handlers={HTTPException: pages.refuse(site)},
        middleware=[request_log, *middleware, Middleware(Compression)],
        lifespan=live,
    )
    app.router.redirect_slashes = False
    return app


class Compression:
    """Middleware that compresses text with gzip. Pages are left alone where the client has a cookie.

    A page may hold a secret of a session; its size, compressed with what another site chose, would tell it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._all = GZipMiddleware(app, MIN_GZIP, GZIP_LEVEL, exclude_content_types=_PACKED)
        others = (*_PACKED, "text/html")
        self._without_pages = GZipMiddleware(app, MIN_GZIP, GZIP_LEVEL, exclude_content_types=others)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        headers = dict(scope.get("headers", ()))
        if b"gzip" in headers.get(b"accept-encoding", b""):
            app = self._without_pages if b"cookie" in headers else self._all
        await app(scope, receive, send)


class CallerGuard:
    """Middleware that refuses requests without a caller (401), and passes the others on with theirs.

    The lifespan of the application is run as long as the server runs.
    """

    def __init__(self, app: Starlette, service: Service) -> None:
        self._app = app
        self._service = service
        service.contexts.append(lambda: app.router.lifespan_context(app))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            scope[_KEY] = await find_caller(self._service, request)
        except Exception as error:
            await fail(request, error)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def caller_of(request: Request | None) -> Caller:
    """Return the caller of a request that passed `CallerGuard`; raises SignInRequired for any other."""
    caller = request.scope.get(_KEY) if request is not None else None
    if not isinstance(caller, Caller):
        raise SignInRequired
    return caller
