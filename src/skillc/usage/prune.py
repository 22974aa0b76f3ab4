"""Shorten a log that has grown for years."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from skillc.errors import InvalidFilter
from skillc.usage import log

_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def age(text: str) -> int:
    """An age in days, from `90d`, `12w`, `6m` or `2y`; raises InvalidFilter."""
    number, unit = text[:-1], text[-1:]
    if unit not in _DAYS or not (number.isascii() and number.isdigit()) or len(number) > 5:
        raise InvalidFilter(f"{text} is no age; write 90d, 12w, 6m or 2y")
    return int(number) * _DAYS[unit]


def prune_log(path: str, days: int) -> int:
    """Remove the rows of a log that are older than so many whole days; how many there were."""
    try:
        cutoff = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%d")
    except OverflowError:
        return 0
    connection = log.reading(path)
    if connection is None:
        return 0
    try:
        connection.execute("BEGIN IMMEDIATE")
        removed = connection.execute("DELETE FROM access_log WHERE timestamp < ?", (cutoff,)).rowcount
        connection.execute("DELETE FROM access_daily WHERE day < ?", (cutoff,))
        connection.execute("COMMIT")
        if removed:
            connection.execute("VACUUM")
    finally:
        connection.close()
    return int(removed)
