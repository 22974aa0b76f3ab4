"""Sign in the requests for an application of another surface, which finds their callers with `caller_of`."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from skillc.errors import SignInRequired
from skillc.registry import Caller
from skillc.server.protocols.request import find_caller
from skillc.server.responses import Refusal, fail, failure
from skillc.server.service import Service

_KEY = "skillc.mounts.caller"


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
        except Refusal as error:
            await failure(error.status, error.code, str(error), error.headers)(scope, receive, send)
            return
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
