"""Counts from access logs, through filters: from the tables of counts where whole days and weeks
count, from the rows for the rest, and from the rows alone in a log that has no counts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from skillc.errors import SkillcError, warning
from skillc.library import resolve
from skillc.startup import sqlite
from skillc.text import utf8_text
from skillc.usage import schema
from skillc.usage.log import log_file
from skillc.usage.query import DAY, WEEK, Split, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from sqlite3 import Connection

    from skillc.errors import Diagnostic
    from skillc.library import Skill
    from skillc.usage.query import Filters

FAILED = ""  # the topic of what failed


def logs_of(skill: Skill) -> list[str]:
    """The logs of a skill: it may have been built for the project and for all."""
    paths = [log_file(runtime) for runtime in skill.runtimes()]
    return [path for path in paths if os.path.exists(path)]


class Logs:
    """The logs of skills, through filters; those that can't be read are left out and reported."""

    def __init__(self, skills: Sequence[Skill], filters: Filters) -> None:
        self.filters = filters
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._paths = _paths(skills)
        self._logs: list[_Log] = []

    def __enter__(self) -> Logs:
        for path, (folders, own) in self._paths.items():
            connection = schema.reading(path)
            if connection is None:
                self.diagnostics += (warning("W001", path, "it can't be read as an access log"),)
            else:
                self._logs.append(_Log(path, connection, self.filters, folders, own))
        return self

    def __exit__(self, *_: object) -> None:
        for log in self._logs:
            log.connection.close()

    def period(self) -> tuple[str | None, str | None]:
        """The times of the first and the last access."""
        first = min(filter(None, (log.end("min") for log in self._logs)), default=None)
        return first, max(filter(None, (log.end("max") for log in self._logs)), default=None)

    def total(self, by: str) -> dict[Any, tuple[int, int]]:
        """How many accesses there were, and how many failed, by `command`, `cwd` or `day`."""
        totals: dict[Any, tuple[int, int]] = {}
        for log in self._logs:
            for key, count, failed in log.total(by):
                before = totals.get(key, (0, 0))
                totals[key] = (before[0] + count, before[1] + failed)
        return totals

    def kinds(self, *topics: str) -> Iterator[tuple[str, str, str, int]]:
        """Command, arguments and error (or nothing) of what was asked, and how often; some kinds may
        come more than once. Topics are commands that succeeded, or FAILED."""
        for log in self._logs:
            yield from log.kinds(topics)


def _paths(skills: Sequence[Skill]) -> dict[str, tuple[set[str], bool]]:
    """The logs of skills, each with the folders it is asked about, and whether it is the own of one.

    Folders from elsewhere share the global log of their name, and so does a project's skill that was
    built for all.
    """
    found: dict[str, tuple[set[str], bool]] = {}
    for skill in skills:
        own = log_file(skill.runtime()) if skill.is_stored else None
        for path in logs_of(skill):
            folders, was_own = found.get(path, (set(), False))
            found[path] = (folders | {utf8_text(skill.source)}, was_own or path == own)
    return found


class _Log:
    """One log, through filters."""

    def __init__(
        self, path: str, connection: Connection, filters: Filters, folders: set[str], own: bool
    ) -> None:
        self.connection = connection
        connection.execute("BEGIN")  # all questions are about one moment, whoever writes meanwhile
        self._path = path
        self._filters = filters
        self._counted = schema.is_counted(connection)
        about = ("NOT IN", self._other_skills(folders)) if own else ("IN", sorted(folders))
        self._where, self._values = _condition(filters.projects, *about)
        inside, outside = self._places() if self._counted else (0, 0)
        self._everywhere = self._counted and not outside
        # What to add up: the places that count, or everywhere less those that don't, if they are fewer.
        here = f"SELECT r.id FROM access_place r WHERE {self._where}"  # noqa: S608
        self._place, self._count, self._failed = f"place IN ({here})", "count", "failed"
        if outside < inside:
            others = f"SELECT r.id FROM access_place r WHERE NOT ({self._where})"  # noqa: S608
            self._place = f"place IN (SELECT 0 UNION ALL {others})"
            self._count, self._failed = "iif(place, -count, count)", "iif(place, -failed, failed)"

    def _other_skills(self, folders: set[str]) -> list[str]:
        """Folders with accesses in this log that are skills, and not those asked about.

        Accesses of a folder that is gone count: it may be where the skill was before it moved.
        """
        table = "access_place" if self._counted else "access_log"
        paths = [path for (path,) in self._query(f"SELECT DISTINCT skill_path FROM {table}", [])]  # noqa: S608
        return [path for path in paths if path not in folders and _is_skill(path)]

    def _places(self) -> tuple[int, int]:
        """How many places count, and how many don't."""
        query = f"SELECT coalesce(sum({self._where}), 0), count(*) FROM access_place r"  # noqa: S608
        inside, places = next(self._query(query, self._values))
        return inside, places - inside

    def _split(self, unit: int) -> Split:
        if self._counted:
            return self._filters.split(unit)
        return Split(0, -1, ((self._filters.since, self._filters.until),))

    def total(self, by: str) -> Iterator[tuple[Any, int, int]]:
        """Accesses and failures by `command`, `cwd` or `day`."""
        split = self._split(DAY)
        if split.first <= split.last:
            query = (
                f"SELECT {by}, sum({self._count}) AS n, sum({self._failed}) FROM access_day"  # noqa: S608
                f" WHERE {self._place} AND day BETWEEN ? AND ? GROUP BY 1 HAVING n > 0"
            )
            if by == "cwd":
                query = (
                    "SELECT r.cwd, sum(count), sum(failed) FROM access_day, access_place r"  # noqa: S608
                    f" WHERE place = r.id AND {self._where} AND day BETWEEN ? AND ? GROUP BY 1"
                )
            yield from self._query(query, [*self._values, split.first, split.last])
        key = schema.day_of("r") if by == "day" else f"r.{by}"
        columns = f"{key}, count(*), sum({schema.failed_of('r')})"
        for since, until in split.rest:
            yield from self._rows(columns, since, until, "GROUP BY 1")

    def kinds(self, topics: Sequence[str]) -> Iterator[tuple[str, str, str, int]]:
        """Command, arguments, error, and how often."""
        split = self._split(WEEK)
        marks = ", ".join("?" * len(topics))
        if split.first <= split.last:
            yield from self._query(
                "SELECT command, args, error, n FROM access_kind JOIN ("  # noqa: S608
                f" SELECT kind, sum({self._count}) AS n FROM access_week WHERE {self._place}"
                f" AND topic IN ({marks}) AND week BETWEEN ? AND ? GROUP BY kind HAVING n > 0) ON id = kind",
                [*self._values, *topics, split.first, split.last],
            )
        columns = "r.command, r.args, coalesce(r.error, ''), count(*)"
        topic = f"{schema.topic_of('r')} IN ({marks})"
        for since, until in split.rest:
            yield from self._rows(columns, since, until, f"AND {topic} GROUP BY 1, 2, 3", *topics)

    def end(self, function: str) -> str | None:
        """The time of the first (`min`) or the last (`max`) access."""
        for since, until in self._stretches(function):
            for row in self._rows(f"{function}(r.timestamp)", since, until):
                if row[0] is not None:
                    return str(row[0])
        return None

    def _stretches(self, function: str) -> list[tuple[str | None, str | None]]:
        """Where to look for the first or the last access, one after the other, none of them long."""
        if self._everywhere or not self._counted:
            return [(self._filters.since, self._filters.until)]  # by the index, or slow in any case
        split = self._split(DAY)
        stretches = list(split.rest)
        days = self._query(
            f"SELECT {function}(day) FROM access_day"  # noqa: S608
            f" WHERE place IN (SELECT r.id FROM access_place r WHERE {self._where}) AND day BETWEEN ? AND ?",
            [*self._values, max(split.first, schema.NO_DAY + 1), split.last],
        )
        for (day,) in days:
            if day is not None:
                stretches.append((timestamp(day * DAY), timestamp((day + 1) * DAY - 1)))
        return sorted(stretches, key=lambda stretch: stretch[0] or "", reverse=function == "max")

    def _rows(
        self, columns: str, since: str | None, until: str | None, tail: str = "", *values: str
    ) -> Iterator[Any]:
        """Columns of the rows from one second to another; others write the second's end otherwise."""
        first, last = since[:-1] if since else "", until or chr(0x10FFFF)
        return self._query(
            f"SELECT {columns} FROM access_log r"  # noqa: S608
            f" WHERE r.timestamp >= ? AND r.timestamp <= ? AND {self._where} {tail}",
            [first, last, *self._values, *values],
        )

    def _query(self, query: str, values: Sequence[str | int]) -> Iterator[Any]:
        try:
            yield from self.connection.execute(query, values)
        except sqlite.Error as error:
            raise SkillcError(f"'{self._path}': {error}") from None


def _is_skill(path: str) -> bool:
    try:
        return os.path.isabs(path) and bool(resolve(path, path))
    except SkillcError:
        return False


def _condition(projects: Sequence[str], about: str, folders: Sequence[str]) -> tuple[str, list[str]]:
    """A condition on rows and places alike, which are called r: in one of the projects or below, and
    about (`IN`) some folders or not about them (`NOT IN`)."""
    inside, values = [], []
    for project in projects:
        below = project if project.endswith(os.sep) else project + os.sep
        inside.append("r.cwd = ? OR (r.cwd >= ? AND r.cwd < ?)")
        values += [project, below, below[:-1] + chr(ord(os.sep) + 1)]
    where = f"({' OR '.join(inside) or '1'}) AND r.skill_path {about} ({', '.join('?' * len(folders))})"
    return where, [*values, *folders]
