"""Query access logs through filters (RFC-0003).

Whole days and weeks come from the tables of counts; the rest, and all of a log that has no counts,
comes from the rows.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict

from skillc.contract import Result, hidden
from skillc.errors import InvalidFilter, SkillcError, warning
from skillc.library import resolve
from skillc.paths import is_inside
from skillc.startup import sqlite
from skillc.text import utf8_text
from skillc.usage import schema
from skillc.usage.log import OFFER, TERMINAL, log_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from sqlite3 import Connection

    from skillc.errors import Diagnostic
    from skillc.library import Skill

    Period = tuple[str | None, str | None]
    Split = tuple[int, int, list[Period]]

DAY, WEEK = 86_400, 604_800  # seconds
FAILED = ""  # the topic of failures
EVER = 1 << 40  # more days than a date can count
READS = ("show", "open", "search", "outline", "sources")  # commands that follow an offer
READ_SECONDS = 3600  # in which they do
_AUTHORS = ("build", "lint", "stats")  # commands that only people who write skills have a use for

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # the range of dates
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d:)(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d))?", re.ASCII)


class FilterOptions(TypedDict, total=False):
    """The texts of options that filters are made of."""

    since: str | None
    until: str | None
    projects: Sequence[str]
    every: bool


@dataclass(frozen=True)
class Filters(Result):
    """A filter of accesses: from `since` to `until`, both inclusive, in any of `projects` or below.

    What an author types is not use: commands that no agent needs, and any at a terminal. `every` counts it.

    >>> Filters.parse("/", "2026-03-01", "2026-03-02T12:00:00+02:00").as_json()
    {'since': '2026-03-01T00:00:00Z', 'until': '2026-03-02T10:00:00Z', 'projects': []}
    """

    since: str | None = None
    until: str | None = None
    projects: tuple[str, ...] = ()
    every: bool = hidden(False)

    @classmethod
    def parse(
        cls,
        cwd: str,
        since: str | None = None,
        until: str | None = None,
        projects: Sequence[str] = (),
        *,
        every: bool = False,
    ) -> Filters:
        """Return filters from the texts of options; raise InvalidFilter."""
        first = None if since is None else format_time(_parse_filter_time(since, up=True))
        last = None if until is None else format_time(_parse_filter_time(until, up=False))
        if any(not project or "\0" in project for project in projects):
            raise InvalidFilter("a project is a directory, not nothing")
        # A directory as the log writes it; it need not exist any more.
        directories = (os.path.realpath(os.path.join(cwd, project)) for project in projects)
        return cls(first, last, tuple(map(utf8_text, directories)), every)

    def covers(self, time: str, cwd: str) -> bool:
        """Return whether a time and a directory are in it."""
        is_in = any(is_inside(cwd, project) for project in self.projects)
        return (self.since or "") <= time <= (self.until or "~") and (is_in or not self.projects)

    def split(self, unit: int) -> Split:
        """Split the time between `since` and `until` into whole units of `unit` seconds, and the rest.

        Return the first and the last unit, counted from 1970-01-01, and the periods that are left, in order.
        There is no whole unit if the last is before the first.

        >>> Filters("1970-01-01T00:00:00Z", "1970-01-03T09:59:59Z").split(DAY)
        (0, 1, [('1970-01-03T00:00:00Z', '1970-01-03T09:59:59Z')])
        """
        since = None if self.since is None else parse_time(self.since)
        until = None if self.until is None else parse_time(self.until)
        first = -EVER if since is None else -(-since // unit)
        last = EVER if until is None else (until + 1) // unit - 1
        if first > last:
            return 0, -1, [(self.since, self.until)]
        rest: list[Period] = []
        if since is not None and since % unit != 0:
            rest.append((self.since, format_time(first * unit - 1)))
        if until is not None and (until + 1) % unit != 0:
            rest.append((format_time((last + 1) * unit), self.until))
        return first, last, rest


def parse_time(time: str) -> int:
    """Return a time of the log in seconds from 1970-01-01."""
    return int((datetime.fromisoformat(time) - _EPOCH).total_seconds())


def format_time(seconds: int) -> str:
    """Return a time as the log writes it, limited to the range of dates."""
    time = _EPOCH + timedelta(seconds=min(max(seconds, _FIRST_SECOND), _LAST_SECOND))
    return time.isoformat().replace("+00:00", "Z")


def _parse_filter_time(text: str, *, up: bool) -> int:
    """Return the second of an RFC 3339 time or a date; a fraction is rounded `up` or down."""
    match = _TIME.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        day, minute, seconds, fraction, zone = match.groups()
        is_leap = seconds == "60"  # clocks don't have it: take the next second
        time = f"{minute or '00:00:'}{'59' if is_leap else seconds or '00'}{(zone or 'Z').upper()}"
        second = parse_time(f"{day}T{time}") + is_leap
        second += up and bool((fraction or "").strip("0"))
        if not _FIRST_SECOND <= second <= _LAST_SECOND:
            raise ValueError
    except (ValueError, OverflowError):
        hint = "hint: write a date (2026-03-02), or a time with its zone (2026-03-02T10:00:00Z)"
        raise InvalidFilter(text, hint) from None
    return second


def find_logs(skill: Skill) -> list[str]:
    """Return the logs of a skill: it may have been built for the project and globally."""
    paths = [log_file(runtime) for runtime in skill.runtimes()]
    return [path for path in paths if os.path.exists(path)]


class Logs(ExitStack):
    """The logs of skills, seen through filters; a log that can't be read is skipped and reported."""

    def __init__(self, skills: Sequence[Skill], filters: Filters) -> None:
        super().__init__()
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._logs: list[_Log] = []
        # Folders outside the stores share the global log of their name, also with a project's skill that
        # was built globally: a log may be read for several folders, and be the own log of one of them.
        folders: dict[str, set[str]] = {}
        own = set()
        for skill in skills:
            for path in find_logs(skill):
                folders.setdefault(path, set()).add(utf8_text(skill.source))
            if skill.is_stored:
                own.add(log_file(skill.runtime()))
        for path in folders:
            connection = schema.open_log(path)
            if connection is None:
                self.diagnostics += (warning("W005", path, "it can't be read as an access log"),)
            else:
                self.callback(connection.close)
                self._logs.append(_Log(path, connection, filters, folders[path], path in own))

    def period(self) -> Period:
        """Return the times of the first and the last access."""
        first = min(filter(None, (log.end("min") for log in self._logs)), default=None)
        return first, max(filter(None, (log.end("max") for log in self._logs)), default=None)

    def totals(self, by: str) -> dict[Any, tuple[int, int]]:
        """Count accesses and failures by `command`, `cwd` or `day`."""
        totals: dict[Any, tuple[int, int]] = {}
        for log in self._logs:
            for key, count, failures in log.totals(by):
                before = totals.get(key, (0, 0))
                totals[key] = (before[0] + count, before[1] + failures)
        return totals

    def kinds(self, *topics: str) -> Iterator[tuple[str, str, str, int]]:
        """Yield command, arguments, error and count; topics are commands that succeeded, or FAILED.

        The error of a success is empty. A kind may come more than once.
        """
        for log in self._logs:
            yield from log.kinds(topics)

    def offers(self) -> Iterator[tuple[str, str, int, int]]:
        """Yield day, arguments, how often hooks offered the skill, and how often it was read soon after."""
        for log in self._logs:
            yield from log.offers()


class _Log:
    def __init__(
        self, path: str, connection: Connection, filters: Filters, folders: set[str], own: bool
    ) -> None:
        self._connection = connection
        self._path = path
        self._filters = filters
        self._has_counts = schema.begin_query(connection)  # all queries see the log at one moment
        about = ("IN", sorted(folders))
        if own:  # also accesses of a folder that is gone, from which the skill may have moved
            table = "access_place" if self._has_counts else "access_log"
            skills = self._query(f"SELECT DISTINCT skill_path FROM {table}", [])  # noqa: S608
            about = ("NOT IN", [path for (path,) in skills if path not in folders and _is_skill(path)])
        self._where, self._values = _condition(filters.projects, *about)
        self._use = "1" if filters.every else _USE
        inside = places = 0  # places that match, and all
        if self._has_counts:
            query = f"SELECT coalesce(sum({self._where}), 0), count(*) FROM access_place r"  # noqa: S608
            inside, places = next(self._query(query, self._values))
        self._everywhere = self._has_counts and inside == places
        # Add up the places that match, or subtract the others from the total if they are fewer.
        self._matches = f"SELECT r.id FROM access_place r WHERE {self._where}"  # noqa: S608
        self._place, self._count, self._failures = f"place IN ({self._matches})", "count", "failed"
        if places - inside < inside:
            others = f"SELECT r.id FROM access_place r WHERE NOT ({self._where})"  # noqa: S608
            self._place = f"place IN (SELECT 0 UNION ALL {others})"
            self._count, self._failures = "iif(place, -count, count)", "iif(place, -failed, failed)"

    def _split(self, unit: int) -> Split:
        if self._has_counts:
            return self._filters.split(unit)
        return 0, -1, [(self._filters.since, self._filters.until)]

    def totals(self, by: str) -> Iterator[tuple[Any, int, int]]:
        """Yield accesses and failures by `command`, `cwd` or `day`; a key may come more than once."""
        first, last, rest = self._split(DAY)
        if first <= last:
            query = (
                f"SELECT {by}, sum({self._count}) AS n, sum({self._failures}) FROM access_day"  # noqa: S608
                f" WHERE {self._place} AND day BETWEEN ? AND ? AND {self._use} GROUP BY 1 HAVING n > 0"
            )
            if by == "cwd":
                query = (
                    "SELECT r.cwd, sum(count), sum(failed) FROM access_day, access_place r"  # noqa: S608
                    f" WHERE place = r.id AND {self._where} AND day BETWEEN ? AND ? AND {self._use}"
                    " GROUP BY 1"
                )
            yield from self._query(query, [*self._values, first, last])
        key = schema.ROW_DAY if by == "day" else f"r.{by}"
        columns = f"{key}, count(*), sum({schema.ROW_FAILURE})"
        for period in rest:
            yield from self._rows(columns, period, "GROUP BY 1")

    def kinds(self, topics: Sequence[str]) -> Iterator[tuple[str, str, str, int]]:
        first, last, rest = self._split(WEEK)
        topics = (*topics, *(f"{TERMINAL}{topic}" for topic in topics if topic))
        marks = ", ".join("?" * len(topics))
        if first <= last:
            yield from self._query(
                "SELECT command, args, error, n FROM access_kind JOIN ("  # noqa: S608
                f" SELECT kind, sum({self._count}) AS n FROM access_week WHERE {self._place}"
                f" AND topic IN ({marks}) AND week BETWEEN ? AND ? GROUP BY kind HAVING n > 0) ON id = kind"
                f" WHERE {self._use}",
                [*self._values, *topics, first, last],
            )
        columns = "r.command, r.args, coalesce(r.error, ''), count(*)"
        tail = f"AND {schema.ROW_TOPIC} IN ({marks}) GROUP BY 1, 2, 3"
        for period in rest:
            yield from self._rows(columns, period, tail, *topics)

    def offers(self) -> Iterator[tuple[str, str, int, int]]:
        since, until = self._filters.since, self._filters.until
        # A read answers the last offer before it.
        read = (
            "SELECT 1 FROM access_log x WHERE x.timestamp >= r.timestamp AND x.timestamp <="  # noqa: S608
            f" strftime('%Y-%m-%dT%H:%M:%SZ', r.timestamp, '{READ_SECONDS} seconds')"
            f" AND x.command IN {READS} AND coalesce(x.error, '') = '' AND NOT EXISTS ("
            " SELECT 1 FROM access_log y WHERE y.command = r.command AND y.id > r.id"
            " AND y.timestamp >= r.timestamp AND y.timestamp <= x.timestamp AND y.id < x.id)"
        )
        return self._query(
            f"SELECT substr(r.timestamp, 1, 10), r.args, count(*), sum(EXISTS ({read})) FROM access_log r"  # noqa: S608
            f" WHERE r.command = '{OFFER}' AND r.timestamp >= ? AND r.timestamp <= ? AND {self._where}"
            " GROUP BY 1, 2",
            [since[:-1] if since else "", until or chr(0x10FFFF), *self._values],
        )

    def end(self, function: str) -> str | None:
        """Return the time of the first (`min`) or the last (`max`) access."""
        column = f"{function}(r.timestamp)"
        times = (time for period in self._periods(function) for (time,) in self._rows(column, period))
        return next((str(time) for time in times if time is not None), None)

    def _periods(self, function: str) -> list[Period]:
        """Return the periods to search for the first or the last access, in that order; none is long."""
        if (self._everywhere and self._filters.every) or not self._has_counts:
            return [(self._filters.since, self._filters.until)]  # by the index, or slow in any case
        first, last, periods = self._split(DAY)
        days = self._query(
            f"SELECT {function}(day) FROM access_day"  # noqa: S608
            f" WHERE place IN ({self._matches}) AND day BETWEEN ? AND ? AND {self._use}",
            [*self._values, max(first, schema.NO_DAY + 1), last],
        )
        starts = (day * DAY for (day,) in days if day is not None)
        periods += [(format_time(start), format_time(start + DAY - 1)) for start in starts]
        return sorted(periods, key=lambda period: period[0] or "", reverse=function == "max")

    def _rows(self, columns: str, period: Period, tail: str = "", *values: str) -> Iterator[Any]:
        """Yield columns of the rows of a period; the final Z is cut because other writers may omit it."""
        since, until = period
        first, last = since[:-1] if since else "", until or chr(0x10FFFF)
        return self._query(
            f"SELECT {columns} FROM access_log r"  # noqa: S608
            f" WHERE r.timestamp >= ? AND r.timestamp <= ? AND {self._where} AND {self._use} {tail}",
            [first, last, *self._values, *values],
        )

    def _query(self, query: str, values: Sequence[str | int]) -> Iterator[Any]:
        try:
            yield from self._connection.execute(query, values)
        except sqlite.Error as error:
            raise SkillcError(f"'{self._path}': {error}") from None


# The condition for accesses of agents, on the column `command`.
_USE = f"(command NOT IN {(*_AUTHORS, OFFER)} AND command NOT GLOB '{TERMINAL}*')"


def _is_skill(path: str) -> bool:
    try:
        return os.path.isabs(path) and bool(resolve(path, path))
    except SkillcError:
        return False


def _condition(projects: Sequence[str], about: str, folders: Sequence[str]) -> tuple[str, list[str]]:
    """Return an SQL condition and its values for rows or places r: in a project, `IN` or `NOT IN` folders."""
    inside, values = [], []
    for project in projects:
        below = project if project.endswith(os.sep) else project + os.sep
        inside.append("r.cwd = ? OR (r.cwd >= ? AND r.cwd < ?)")
        values += [project, below, below[:-1] + chr(ord(os.sep) + 1)]
    where = f"({' OR '.join(inside) or '1'}) AND r.skill_path {about} ({', '.join('?' * len(folders))})"
    return where, [*values, *folders]
