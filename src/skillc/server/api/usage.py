"""Take counts of use from many machines, and tell their sums."""

from __future__ import annotations

from datetime import date

from starlette.responses import Response

from skillc.contract import encode
from skillc.registry import Batch
from skillc.server.api.declaration import LIMIT, Call, Operation, Parameter
from skillc.server.api.shapes import Statistics, UsageBatch, UsageReceipt
from skillc.server.responses import Refusal, respond


async def record_usage(call: Call) -> Response:
    """Take what a machine counted. What is sent again counts once."""
    batch = Batch.parse(await call.body(UsageBatch))
    receipt = await call.run(call.service.registry.usage.record, batch)
    return respond(encode(receipt))


async def show_statistics(call: Call) -> Response:
    options = {"limit": limit} if (limit := call.query["limit"]) else {}
    since = _read_day(call.query["since"])
    statistics = await call.run(call.service.registry.usage.stats, call.query["skill"], since, **options)
    return respond(statistics.as_json())


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Refusal(400, "'since' must be a date such as 2026-11-16") from None


_TAGS = ("Usage",)
OPERATIONS = (
    Operation(
        "POST",
        "/usage",
        "Take counts of use, by day; texts of searches only where a machine sends them.",
        record_usage,
        {200: UsageReceipt},
        needs_token=True,
        body=UsageBatch,
        failures=(400, 408, 413, 422),
        tags=_TAGS,
    ),
    Operation(
        "GET",
        "/stats",
        "Return sums of use: by day, skill, section and command, and searches that found nothing.",
        show_statistics,
        {200: Statistics},
        parameters=(
            Parameter("skill", "Only this skill, or those below this path."),
            Parameter("since", "Only from this day on, such as 2026-11-16."),
            LIMIT,
        ),
        failures=(400,),
        tags=_TAGS,
    ),
)
