"""Posting lists: which skills have a term, with a weight of one byte each, by segment.

A segment is up to 65,536 skills of one folder, each in a slot, in the order of their IDs. Skills that
are added later form a new segment, and a removed skill leaves its slot empty, so that a change costs in
proportion to what changed; `merge` puts small and hollow segments together.
"""

from __future__ import annotations

import sys
from itertools import chain

from skillc.index.skills.database import checksum, crc32, damage, select_in, verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    Row = tuple[str, int, int, bytes, bytes]  # a term, how many heads and bodies have it, its two lists

MAX_SLOTS = 1 << 16
MAX_SEGMENTS = 4  # of a folder, before small ones are merged: a search asks each for every term
DENSE = 24  # where one skill in 24 has a term, a byte for each slot is better than a list of slots

_COUNTS = "term, next, heads, bodies, lists, checksum"  # of a row of postings


def store_lists(execute: Any, segment: int, rows: Iterable[Row]) -> None:
    """Store the lists of a segment, which come in the order of their terms, after an empty term."""
    last = end = ("", 0, 0, b"", b"")
    for row in chain(rows, [end]):
        term, heads, bodies, head, body = last
        values = segment, term, row[0], heads, bodies, _list_checksum(head, body)
        sql = "INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        execute(sql, (*values, checksum(*values), head, body))
        last = row


def _list_checksum(head: bytes, body: bytes) -> int:
    try:
        return crc32(body, crc32(head))
    except TypeError:  # of a value that is no list
        raise damage() from None


def read_counts(execute: Any, segment: int, terms: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return how many heads and bodies of a segment have each of some terms, without those that none has."""
    counts: dict[str, tuple[int, int]] = {}
    sql = f"SELECT {_COUNTS} FROM postings WHERE segment = ? AND term"  # noqa: S608 -- our own words
    for term, *values, check in select_in(execute, sql, segment, terms):
        verify(check, segment, term, *values)
        counts[term] = values[1], values[2]
    return counts


def verify_absence(execute: Any, segment: int, term: str) -> None:
    """Raise DatabaseError if a segment should have a term that was not found."""
    sql = f"SELECT {_COUNTS} FROM postings WHERE segment = ? AND term < ? ORDER BY term DESC LIMIT 1"  # noqa: S608
    last, *values, check = execute(sql, (segment, term)).fetchone() or ("", None)
    verify(check, segment, last, *values)
    if values[0] and values[0] <= term:
        raise damage()


def read_lists(execute: Any, segment: int, terms: Sequence[str]) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    """Yield the posting lists of terms, for head and body."""
    sql = "SELECT term, lists, head, body FROM postings WHERE segment = ? AND term"
    for term, check, head, body in select_in(execute, sql, segment, terms):
        if check != _list_checksum(head, body):
            raise damage()
        yield term, (head, body)


def read_all_lists(execute: Any, segment: int) -> Iterator[Row]:
    """Yield all rows that were stored for a segment, in order."""
    sql = f"SELECT {_COUNTS}, head, body FROM postings WHERE segment = ? ORDER BY term"  # noqa: S608
    next_term = ""
    for term, follower, heads, bodies, lists, check, head, body in execute(sql, (segment,)):
        verify(check, segment, next_term, follower, heads, bodies, lists)
        if term != next_term or lists != _list_checksum(head, body):
            raise damage()
        if term:
            yield term, heads, bodies, head, body
        next_term = follower
    if next_term:
        raise damage()


def decode_slots(data: bytes | bytearray) -> Sequence[int]:
    """Return stored slots as numbers; each is two bytes, the lower one first."""
    if sys.byteorder == "little":
        return memoryview(data).cast("H")
    return [data[at] | data[at + 1] << 8 for at in range(0, len(data), 2)]


def decode_list(data: bytes, size: int) -> Iterable[tuple[int, int]]:
    """Return the slots of a stored list, each with its weight."""
    if len(data) == size:
        return [(slot, weight) for slot, weight in enumerate(data) if weight]
    count = len(data) // 3
    return zip(decode_slots(data[: 2 * count]), data[2 * count :], strict=True)
