"""Shorten a log that has grown for years."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from skillc.errors import InvalidFilter, SkillcError
from skillc.startup import sqlite
from skillc.usage import schema
from skillc.usage.log import fold
from skillc.usage.query import DAY, WEEK, second, timestamp

if TYPE_CHECKING:
    from sqlite3 import Connection

WORTH = 5  # the part of a log that must be free for it to be written anew
CHUNK = 20_000  # rows that are removed at a time, so that others can write in between

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def age(text: str) -> int:
    """An age in days, from `90d`, `12w`, `6m` or `2y`; raises InvalidFilter.

    >>> age("12w")
    84
    """
    number, unit = text[:-1], text[-1:]
    if unit not in _DAYS or not (number.isascii() and number.isdigit()) or len(number) > 5:
        raise InvalidFilter(f"{text} is no age; write 90d, 12w, 6m or 2y")
    return int(number) * _DAYS[unit]


def prune_log(path: str, days: int) -> int:
    """Remove the rows of a log that are older than so many whole days; how many there were.

    Raises SkillcError for a log that can't be read or written.
    """
    try:
        cutoff = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT00:00:00Z").zfill(20)
    except OverflowError:  # before there were dates
        return 0
    connection = schema.reading(path)
    if connection is None:
        raise SkillcError(f"'{path}' can't be read as an access log")
    try:
        schema.create(connection)
        _remove_counts(connection, cutoff)
        removed = _remove_rows(connection, path, cutoff)
        _give_room_back(connection, path)
    except sqlite.Error as error:
        raise SkillcError(f"'{path}' can't be pruned: {error}") from None
    finally:
        connection.close()
    return removed


def _remove_counts(connection: Connection, cutoff: str) -> None:
    """Remove the counts of rows before a day, and count what stays of its week anew."""
    day = second(cutoff) // DAY
    week = day // 7
    with schema.writing(connection):
        connection.execute("DELETE FROM access_day WHERE day > ? AND day < ?", (schema.NO_DAY, day))
        connection.execute("DELETE FROM access_week WHERE week > ? AND week <= ?", (schema.NO_WEEK, week))
        schema.count_week(connection, week, cutoff[:-1], timestamp((week + 1) * WEEK)[:-1])
        connection.execute(
            "DELETE FROM access_kind WHERE id NOT IN (SELECT kind FROM access_week WHERE place = 0)"
        )
        connection.execute("DELETE FROM access_place WHERE id NOT IN (SELECT place FROM access_day)")


def _remove_rows(connection: Connection, path: str, cutoff: str) -> int:
    removed = 0
    while True:
        chunk = connection.execute(
            "DELETE FROM access_log WHERE rowid IN ("
            " SELECT rowid FROM access_log WHERE timestamp >= '0001' AND timestamp < ? LIMIT ?)",
            (cutoff[:-1], CHUNK),
        ).rowcount
        fold(connection, path)
        removed += chunk
        if chunk < CHUNK:
            return removed


def _give_room_back(connection: Connection, path: str) -> None:
    """Make the file as small as what is in it, where that is worth writing it anew."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if free * WORTH < pages:
        return
    try:
        connection.execute("VACUUM")
        fold(connection, path)
    except sqlite.Error:  # others are at it, or the disk is full: new rows will use the room
        pass
