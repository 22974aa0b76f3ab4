"""Tell operators how the server is: /healthz and /readyz."""

from __future__ import annotations

from starlette.responses import Response

from skillc.server.api.declaration import Call, Operation
from skillc.server.api.shapes import Status
from skillc.server.responses import respond


async def show_health(call: Call) -> Response:
    return respond({"status": "ok"})


async def show_readiness(call: Call) -> Response:
    """Ask the store for one row, which fails with 503 while it can't be reached."""
    await call.service.call(call.service.registry.log.find_end)
    return respond({"status": "ready"})


_TAGS = ("Operation",)
OPERATIONS = (
    Operation("GET", "/healthz", "Say that the process runs.", show_health, {200: Status}, None, tags=_TAGS),
    Operation(
        "GET",
        "/readyz",
        "Say that the store answers.",
        show_readiness,
        {200: Status},
        None,
        tags=_TAGS,
    ),
)
