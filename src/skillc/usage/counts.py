"""Count what was used of skills on one day, as a registry wants it: numbers, and names within the skill.

A registry keeps the higher of two counts for the same day and thing, so a day can be sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from skillc.library import Skill
from skillc.usage.query import Filters, Logs
from skillc.usage.stats import Access, list_accesses

MAX_FILE, MAX_SECTION, MAX_QUERY = 1024, 300, 500  # characters; longer names are not sent
SEARCH = "search"


@dataclass(frozen=True, slots=True)
class DayCounts:
    """What was used on one day: (command, file, section) and how often; searches without results by query."""

    reads: dict[tuple[str, str, str], int]
    misses: dict[str, int]


def count_day(skills: Sequence[Skill], day: date) -> DayCounts:
    """Count what commands did with these folders of one skill on a day (UTC); failures are left out."""
    filters = Filters(f"{day.isoformat()}T00:00:00Z", f"{day.isoformat()}T23:59:59Z")
    reads: dict[tuple[str, str, str], int] = {}
    misses: dict[str, int] = {}
    with Logs(skills, filters) as logs:
        for access in list_accesses(logs, *sorted(logs.totals("command"))):
            key = access.command, *_place(access)
            reads[key] = reads.get(key, 0) + access.count
            if access.command == SEARCH and access.arguments.get("result_count") == 0:
                query = _short(access.text("query"), MAX_QUERY)
                misses[query] = misses.get(query, 0) + access.count
    return DayCounts(reads, misses)


def _place(access: Access) -> tuple[str, str]:
    """Return the file and the section that a command read."""
    file = access.text("file") or (access.text("path") if access.command == "open" else "")
    section = access.text("section") if access.command == "show" else ""
    return _short(file, MAX_FILE), _short(section, MAX_SECTION)


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit and text.isprintable() else ""
