"""Remove old rows from an access log, or all that the fallback log has of a skill."""

from __future__ import annotations

import os
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from skillc import atomic
from skillc.errors import InvalidFilter, SkillcError
from skillc.startup import sqlite
from skillc.usage import schema
from skillc.usage.log import checkpoint, fallback_directory, fallback_lock
from skillc.usage.query import DAY, WEEK, find_logs, format_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from sqlite3 import Connection

    from skillc.library import Skill

MIN_FREE = 5  # a fifth of the pages must be free for a VACUUM
BATCH = 20_000  # rows removed at a time, so that others can write in between

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def parse_age(text: str) -> int:
    """Return an age such as `90d`, `12w`, `6m` or `2y` in days; raise InvalidFilter.

    >>> parse_age("12w")
    84
    """
    number, unit = text[:-1], text[-1:]
    if unit not in _DAYS or not (number.isascii() and number.isdigit()) or len(number) > 5:
        raise InvalidFilter(text, "hint: write an age: 90d, 12w, 6m or 2y")
    return int(number) * _DAYS[unit]


def prune_logs(skills: Iterable[Skill], oldest: str) -> tuple[dict[str, int], list[SkillcError]]:
    """Remove the rows of skills' logs that are older than an age; return how many, and what failed."""
    days = parse_age(oldest)
    counts: dict[str, int] = {}
    failures: list[SkillcError] = []
    for path, name in {path: skill.name for skill in skills for path in find_logs(skill)}.items():
        try:
            counts[name] = counts.get(name, 0) + prune_log(path, days)
        except SkillcError as error:
            failures.append(error)
    return counts, failures


def prune_log(path: str, days: int) -> int:
    """Remove the rows of a log that are older than `days` whole days, and return their number.

    Raise SkillcError for a log that can't be read or written.
    """
    try:
        cutoff = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT00:00:00Z").zfill(20)
    except OverflowError:  # before the first date
        return 0
    connection = schema.open_log(path)
    if connection is None:
        raise SkillcError(f"'{path}' can't be read as an access log")
    try:
        with closing(connection):
            schema.create_tables(connection)
            _remove_counts(connection, cutoff)
            count = _remove_rows(connection, path, cutoff)
            _vacuum(connection, path)
    except sqlite.Error as error:
        raise SkillcError(f"'{path}' can't be pruned: {error}") from None
    return count


def delete_fallback_log(project: str, skill: Skill) -> None:
    """Delete what the fallback log in a directory has of a skill."""
    folder = os.path.join(fallback_directory(project), skill.folder)
    if os.path.isdir(folder):
        with atomic.Lock(fallback_lock(project)):
            atomic.discard(folder)


def _remove_counts(connection: Connection, cutoff: str) -> None:
    """Remove the counts of rows before a day, and recount the rest of its week."""
    day = parse_time(cutoff) // DAY
    week = day // 7
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back after an exception
        connection.execute("DELETE FROM access_day WHERE day > ? AND day < ?", (schema.NO_DAY, day))
        connection.execute("DELETE FROM access_week WHERE week > ? AND week <= ?", (schema.NO_WEEK, week))
        schema.count_week(connection, cutoff[:-1], format_time((week + 1) * WEEK)[:-1])
        kinds = "SELECT kind FROM access_week WHERE place = 0"
        connection.execute(f"DELETE FROM access_kind WHERE id NOT IN ({kinds})")  # noqa: S608 -- our own words
        connection.execute("DELETE FROM access_place WHERE id NOT IN (SELECT place FROM access_day)")


def _remove_rows(connection: Connection, path: str, cutoff: str) -> int:
    rows = "SELECT rowid FROM access_log WHERE timestamp >= '0001' AND timestamp < ? LIMIT ?"
    query = f"DELETE FROM access_log WHERE rowid IN ({rows})"  # noqa: S608 -- our own words
    count, batch = 0, BATCH
    while batch == BATCH:
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            batch = connection.execute(query, (cutoff[:-1], BATCH)).rowcount
            schema.lower_mark(connection)
        checkpoint(connection, path)
        count += batch
    return count


def _vacuum(connection: Connection, path: str) -> None:
    """Shrink the file if enough of it is free."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if free * MIN_FREE < pages:
        return
    try:
        connection.execute("VACUUM")
        checkpoint(connection, path)
    except sqlite.Error:  # the log is busy or the disk full: new rows will use the free pages
        pass
