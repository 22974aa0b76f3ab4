"""Show what agents used: over time, by skill, sections that none read, searches that found nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from starlette.responses import Response

from skillc.server.pages.skill import describe_skill, find_subject
from skillc.server.pages.visit import Visit

PERIODS = {"30": "30 days", "90": "90 days", "365": "a year", "": "all time"}
MAX_ROWS = 25  # of a chart
MAX_UNREAD = 150  # headings
MAX_DAYS, MAX_WEEK_DAYS = 92, 800  # that are shown by day, and by week; more are shown by month


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
    usage = visit.shelf.usage(skill_id, since)
    unread = [(file, level, heading) for file, entries in usage.unread.items() for level, heading in entries]
    return {
        "usage": usage,
        "period": period,
        "periods": PERIODS,
        "columns": group_days(usage.days),
        "max_rows": MAX_ROWS,
        "unread": unread[:MAX_UNREAD],
        "more_unread": max(0, len(unread) - MAX_UNREAD),
    }


def group_days(days: tuple[tuple[str, int], ...]) -> dict[str, Any]:
    """Return a column for each day, week or month.

    >>> group_days((("2026-01-01", 2), ("2026-01-02", 4)))["columns"]
    [('2026-01-01', 2, 50.0), ('2026-01-02', 4, 100.0)]
    """
    unit = "day" if len(days) <= MAX_DAYS else "week" if len(days) <= MAX_WEEK_DAYS else "month"
    counts: dict[str, int] = {}
    for day, count in days:
        year, week, _ = date.fromisoformat(day).isocalendar()
        name = {"day": day, "week": f"{year}, week {week}", "month": day[:7]}[unit]
        counts[name] = counts.get(name, 0) + count
    highest = max(counts.values(), default=0) or 1
    columns = [(name, count, round(100 * count / highest, 1)) for name, count in counts.items()]
    return {"unit": unit, "highest": highest, "columns": columns}


PAGES = {"/statistics": show_usage, "/statistics/{rest:path}": show_skill_usage}
