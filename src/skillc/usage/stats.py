"""What agents used: counts from the access log, grouped and filtered (RFC-0003).

Whole days are read from the daily counts, the rest of the first and the last day from the log
itself, so that years of rows cost no more than the days they span.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillc.errors import InvalidFilter, InvalidQueryType
from skillc.usage import log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

    from skillc.library import Skill

MAX_DAYS = 366  # in a chart
GROUPS = ("summary", "sections", "files", "commands", "projects", "errors", "search")


@dataclass(frozen=True)
class Filters:
    """Which accesses count: from `since` to `until`, both inclusive, in any of `projects` or below."""

    since: str | None = None
    until: str | None = None
    projects: tuple[str, ...] = ()

    @classmethod
    def parse(cls, since: str | None, until: str | None, projects: Sequence[str], cwd: str) -> Filters:
        """Filters as they are given; raises InvalidFilter."""
        first = _second(since, up=True) if since is not None else None
        last = _second(until, up=False) if until is not None else None
        if first and last and first > last:
            raise InvalidFilter(f"since {since} is after until {until}")
        return cls(first, last, tuple(os.path.realpath(os.path.join(cwd, project)) for project in projects))

    def as_json(self) -> dict[str, Any]:
        return {"since": self.since, "until": self.until, "projects": list(self.projects)}


@dataclass(frozen=True)
class Stats:
    """An answer: `data` has the form of its `query`; `start` and `end` are the first and last access."""

    skill: str | None
    skill_path: str | None
    query: str
    filters: Filters
    start: str | None
    end: str | None
    data: Any

    def as_json(self) -> dict[str, Any]:
        return {
            "skill": self.skill,
            "skill_path": self.skill_path,
            "query": self.query,
            "filters": self.filters.as_json(),
            "period": {"start": self.start, "end": self.end},
            "data": self.data,
        }


def check_group(group: str) -> None:
    if group not in GROUPS:
        raise InvalidQueryType(group)


def stats_of(skill: Skill, group: str = "summary", filters: Filters = Filters()) -> Stats:  # noqa: B008 -- immutable
    """The accesses of one skill; none is an empty result."""
    check_group(group)
    with _Counts(filters) as counts:
        for path in logs_of(skill):
            counts.add(path)
        data = counts.grouped(group)
    return Stats(skill.name, skill.source, group, filters, counts.start, counts.end, data)


def stats_of_all(
    skills: Sequence[Skill],
    group: str = "summary",
    filters: Filters = Filters(),  # noqa: B008 -- immutable
) -> Stats:
    """The accesses of several skills together."""
    check_group(group)
    with _Counts(filters) as counts:
        for path in dict.fromkeys(path for skill in skills for path in logs_of(skill)):
            counts.add(path)
        data = counts.grouped(group)
    return Stats(None, None, group, filters, counts.start, counts.end, data)


def by_day(skills: Sequence[Skill], filters: Filters = Filters()) -> list[tuple[str, int]]:  # noqa: B008
    """Accesses on each day from the first to the last; at most the last MAX_DAYS."""
    counts: dict[str, int] = {}
    for path in dict.fromkeys(path for skill in skills for path in logs_of(skill)):
        connection = log.reading(path)
        if connection is not None:
            where, here = _in_projects(filters)
            rows = connection.execute(
                "SELECT substr(timestamp, 1, 10), count(*) FROM access_log"  # noqa: S608
                f" WHERE timestamp >= ? AND timestamp <= ? AND {where} GROUP BY 1",
                [filters.since or "", filters.until or "9999", *here],
            )
            for day, count in rows:
                counts[day] = counts.get(day, 0) + count
            connection.close()
    return _every_day(counts)


def _every_day(counts: dict[str, int]) -> list[tuple[str, int]]:
    """The days in a row, those without an access too."""
    days = sorted(counts)[-MAX_DAYS:]
    try:
        day = datetime.fromisoformat(days[0]) if days else None
        last = datetime.fromisoformat(days[-1]) if days else None
    except ValueError:  # rows that someone else wrote
        return [(day, counts[day]) for day in days]
    found = []
    while day and last and day <= last:
        name = day.strftime("%Y-%m-%d")
        found.append((name, counts.get(name, 0)))
        day += timedelta(days=1)
    return found[-MAX_DAYS:]


def logs_of(skill: Skill) -> list[str]:
    """The logs of a skill: it may have been built for the project and for all."""
    paths = [log.log_file(runtime) for runtime in skill.runtimes()]
    return [path for path in paths if os.path.exists(path)]


_TARGET = "CASE WHEN section <> '' THEN section WHEN query <> '' THEN query ELSE file END"
# For each group: the columns it counts by, and which rows count.
_BY = {
    "sections": ("section, file", "command = 'show' AND error = ''"),
    "files": ("file", "file <> '' AND error = ''"),
    "commands": ("command", "1"),
    "projects": ("cwd", "1"),
    "errors": (
        "CASE WHEN section <> '' THEN section WHEN query <> '' THEN query ELSE file END, command, error",
        "error <> ''",
    ),
    "search": ("query", "command = 'search'"),
}


class _Counts:
    """Counts over one log or several."""

    def __init__(self, filters: Filters) -> None:
        self.filters = filters
        self.start: str | None = None
        self.end: str | None = None
        self._connections: list[Connection] = []

    def __enter__(self) -> _Counts:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections:
            connection.close()

    def add(self, path: str) -> None:
        """Count what is in a log, too; one that can't be read counts nothing."""
        connection = log.reading(path)
        if connection is not None:
            self._connections.append(connection)
            first, last = _period(connection, self.filters)
            self.start = min(filter(None, (self.start, first)), default=None)
            self.end = max(filter(None, (self.end, last)), default=None)

    def grouped(self, group: str) -> Any:
        if group == "summary":
            return self._summary()
        counts = self._by(group)
        if group == "commands":
            return {command: count for (command,), count in _most_first(counts)}
        names = {
            "sections": ("section", "file"),
            "files": ("file",),
            "projects": ("project",),
            "errors": ("target", "command", "error"),
            "search": ("query",),
        }[group]
        return [dict(zip(names, key, strict=True), count=count) for key, count in _most_first(counts)]

    def _summary(self) -> dict[str, int]:
        return {
            "total_accesses": sum(self._by("commands").values()),
            "unique_sections": len(self._by("sections")),
            "unique_files": len(self._by("files")),
            "error_count": sum(self._by("errors").values()),
        }

    def _by(self, group: str) -> dict[tuple[str, ...], int]:
        columns, condition = _BY[group]
        counts: dict[tuple[str, ...], int] = {}
        for connection in self._connections:
            source, values = _counted(connection, self.filters)
            query = f"SELECT {columns}, sum(count) FROM ({source}) WHERE {condition}"  # noqa: S608
            numbers = ", ".join(str(number + 1) for number in range(columns.count(", ") + 1))
            for *key, count in connection.execute(f"{query} GROUP BY {numbers}", values):
                counts[tuple(key)] = counts.get(tuple(key), 0) + count
        return counts


def _most_first(counts: dict[tuple[str, ...], int]) -> list[tuple[tuple[str, ...], int]]:
    """By count, downwards; then by file and section, or whatever the key ends in."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0][::-1]))


def _counted(connection: Connection, filters: Filters) -> tuple[str, list[str]]:
    """A query for the counted rows that pass the filters, and its values."""
    where, here = _in_projects(filters)
    columns = "command, cwd, section, file, query, error, count"
    if not log.has_daily_counts(connection):
        raw, values = _raw(filters.since, filters.until)
        return f"SELECT * FROM ({raw}) WHERE {where}", [*values, *here]  # noqa: S608
    first, last = _whole_days(filters)
    parts = [f"SELECT {columns} FROM access_daily WHERE day >= ? AND day <= ?"]  # noqa: S608
    values = [first, last]
    for since, until in _rest_of_days(filters, first, last):
        raw, bounds = _raw(since, until)
        parts.append(raw)
        values += bounds
    union = " UNION ALL ".join(parts)
    return f"SELECT * FROM ({union}) WHERE {where}", [*values, *here]  # noqa: S608


def _raw(since: str | None, until: str | None) -> tuple[str, list[str]]:
    """Rows of the log itself, in the form of the daily counts."""
    section, file, query = log.subjects("args")
    sql = (
        f"SELECT command, cwd, {section} AS section, {file} AS file, {query} AS query,"  # noqa: S608
        " coalesce(error, '') AS error, 1 AS count FROM access_log WHERE timestamp >= ? AND timestamp <= ?"
    )
    return sql, [since or "", until or "9999"]


def _whole_days(filters: Filters) -> tuple[str, str]:
    """The first and the last day that count from their beginning to their end."""
    first, last = "", "9999"
    if filters.since:
        first = filters.since[:10] if filters.since.endswith("T00:00:00Z") else _day_after(filters.since)
    if filters.until:
        last = _day_before(filters.until)
    return first, last


def _rest_of_days(filters: Filters, first: str, last: str) -> list[tuple[str, str]]:
    """The stretches of time that pass the filters and are not whole days."""
    if filters.since and filters.until and filters.since[:10] == filters.until[:10]:
        return [(filters.since, filters.until)]
    rest = []
    if filters.since and first > filters.since[:10]:
        rest.append((filters.since, f"{filters.since[:10]}T23:59:59Z"))
    if filters.until:
        rest.append((f"{filters.until[:10]}T00:00:00Z", filters.until))
    return rest


def _in_projects(filters: Filters) -> tuple[str, list[str]]:
    """A condition on cwd: one of the projects, or below it."""
    if not filters.projects:
        return "1", []
    conditions, values = [], []
    for project in filters.projects:
        below = project if project.endswith(os.sep) else project + os.sep
        conditions.append("cwd = ? OR substr(cwd, 1, ?) = ?")
        values += [project, str(len(below)), below]
    return f"({' OR '.join(conditions)})", values


def _period(connection: Connection, filters: Filters) -> tuple[str | None, str | None]:
    where, here = _in_projects(filters)
    ends = []
    for order in ("ASC", "DESC"):
        row = connection.execute(
            f"SELECT timestamp FROM access_log WHERE timestamp >= ? AND timestamp <= ? AND {where}"  # noqa: S608
            f" ORDER BY timestamp {order} LIMIT 1",
            [filters.since or "", filters.until or "9999", *here],
        ).fetchone()
        ends.append(row[0] if row else None)
    return ends[0], ends[1]


def _second(text: str, *, up: bool) -> str:
    """RFC 3339 or a date as the log writes times; a part of a second is rounded into the period."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidFilter(
            f"{text} is neither a date (2026-03-02) nor a time (2026-03-02T10:00:00Z)"
        ) from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    try:
        moment = moment.astimezone(UTC)
        if up and moment.microsecond:
            moment += timedelta(seconds=1)
    except OverflowError:
        raise InvalidFilter(f"{text} is out of range") from None
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)


def _day_after(timestamp: str) -> str:
    return (datetime.fromisoformat(timestamp[:10]) + timedelta(days=1)).strftime("%Y-%m-%d")


def _day_before(timestamp: str) -> str:
    return (datetime.fromisoformat(timestamp[:10]) - timedelta(days=1)).strftime("%Y-%m-%d")
