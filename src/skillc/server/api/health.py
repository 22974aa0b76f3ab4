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


async def show_metrics(call: Call) -> Response:
    """Return the numbers of all processes of this server, for Prometheus."""
    service = call.service
    service.metrics.lag = max(0, service.registry.feed.sequence - service.finder.sequence)
    return Response(await service.call(service.metrics.text), media_type=PROMETHEUS)


PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
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
    Operation(
        "GET",
        "/metrics",
        "Return numbers of requests, times and uploads for Prometheus.",
        show_metrics,
        {200: "text/plain"},
        needs_token=True,
        tags=_TAGS,
    ),
)
