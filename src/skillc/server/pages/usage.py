"""Show what agents used: over time, by skill, sections that none read, searches that found nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import Response

from skillc import usage
from skillc.server.pages.subject import describe_skill, find_subject
from skillc.server.pages.visit import Visit

PERIODS = {"30": "30 days", "90": "90 days", "365": "a year", "": "all time"}
MAX_ROWS = 25  # of a chart
MAX_UNREAD = 150  # headings


def show_usage(visit: Visit) -> Response:
    return visit.page("statistics.html", **_describe(visit, ""))


def show_skill_usage(visit: Visit) -> Response:
    subject = find_subject(visit)
    return visit.page(
        "skill-statistics.html",
        **describe_skill(visit, subject, "usage"),
        **_describe(visit, subject.skill.id),
    )


def _describe(visit: Visit, skill_id: str) -> dict[str, Any]:
    period = visit.query("days") if visit.query("days") in PERIODS else ""
    since = f"{datetime.now(UTC).date() - timedelta(days=int(period))}" if period else ""
    counts = visit.catalog.usage(skill_id, since)
    unread = [(file, level, heading) for file, entries in counts.unread.items() for level, heading in entries]
    return {
        "usage": counts,
        "period": period,
        "periods": PERIODS,
        "columns": usage.group_days(counts.days),
        "max_rows": MAX_ROWS,
        "unread": unread[:MAX_UNREAD],
        "more_unread": max(0, len(unread) - MAX_UNREAD),
    }


PAGES = {"/statistics": show_usage, "/statistics/{rest:path}": show_skill_usage}
