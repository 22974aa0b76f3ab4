"""Posting lists: which skills have a term, with a weight of one byte each, by segment.

A segment is up to 65,536 skills of one folder, each in a slot, in the order of their IDs. Skills that
are added later form a new segment, and a removed skill leaves its slot empty, so that a change costs in
proportion to what changed; `merge` puts small and hollow segments together.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from itertools import chain

from skillc.index.skills.database import checksum, crc32, damage, select_in, verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

Row = tuple[str, int, int, bytes, bytes]  # a term, how many heads and bodies have it, its two lists

MAX_SLOTS = 1 << 16
MAX_SEGMENTS = 4  # of a folder, before small ones are merged: a search asks each for every term
MIN_TERM = 3  # letters of a term that may be meant by a typo
DENSE = 24  # where one skill in 24 has a term, a byte for each slot is better than a list of slots

_COUNTS = "term, next, heads, bodies, lists, checksum"  # of a row of postings


def store_lists(execute: Any, segment: int, rows: Iterable[Row]) -> None:
    """Store the lists of a segment, which come in the order of their terms, after an empty term."""
    last = end = ("", 0, 0, b"", b"")
    counts: dict[str, int] = {}
    for row in chain(rows, [end]):
        term, heads, bodies, head, body = last
        values = segment, term, row[0], heads, bodies, _list_checksum(head, body)
        sql = "INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        execute(sql, (*values, checksum(*values), head, body))
        counts[term] = heads + bodies
        if term and row[0][:1] != term[0]:
            _store_spellings(execute, segment, term[0], counts)
            counts.clear()
        last = row


def _store_spellings(execute: Any, segment: int, letter: str, counts: dict[str, int]) -> None:
    """Store the terms with a first letter, and how often each occurs: for typos, which need them all."""
    words = {term: count for term, count in counts.items() if len(term) >= MIN_TERM and term.isalpha()}
    values = segment, letter, " ".join(words), " ".join(map(str, words.values()))
    execute("INSERT INTO spellings VALUES (?, ?, ?, ?, ?)", (*values, checksum(*values)))


def read_spellings(execute: Any, segment: int, letter: str) -> tuple[list[str], list[str]]:
    """Return the terms of a segment with a first letter, and how often each occurs."""
    sql = "SELECT terms, counts, checksum FROM spellings WHERE segment = ? AND letter = ?"
    row = execute(sql, (segment, letter)).fetchone()
    if row is None:
        sql = "SELECT 1 FROM postings WHERE segment = ? AND term >= ? AND term < ? LIMIT 1"
        if execute(sql, (segment, letter, chr(ord(letter) + 1))).fetchone():
            raise damage()
        return [], []
    terms, counts, check = row
    verify(check, segment, letter, terms, counts)
    return terms.split(), counts.split()


def delete_lists(execute: Any, segment: int) -> None:
    """Delete what was stored for a segment."""
    for table in ("postings", "spellings"):
        execute(f"DELETE FROM {table} WHERE segment = ?", (segment,))  # noqa: S608 -- our own words


def _list_checksum(head: bytes, body: bytes) -> int:
    try:
        return crc32(body, crc32(head))
    except TypeError:  # of a value that is no list
        raise damage() from None


def read_counts(execute: Any, segment: int, terms: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return how many heads and bodies of a segment have each of some terms, without those that none has."""
    counts: dict[str, tuple[int, int]] = {}
    sql = f"SELECT {_COUNTS} FROM postings WHERE segment = ? AND term"  # noqa: S608 -- our own words
    wanted = set(terms)
    for term, *values, check in select_in(execute, sql, segment, terms):
        verify(check, segment, term, *values)
        if term not in wanted:
            raise damage()
        counts[term] = values[1], values[2]
    return counts


def verify_absence(execute: Any, segment: int, term: str) -> None:
    """Raise DatabaseError if a segment should have a term that was not found."""
    sql = f"SELECT {_COUNTS} FROM postings WHERE segment = ? AND term < ? ORDER BY term DESC LIMIT 1"  # noqa: S608
    last, *values, check = execute(sql, (segment, term)).fetchone() or ("", None)
    verify(check, segment, last, *values)
    if last >= term or (values[0] and values[0] <= term):
        raise damage()


def read_lists(execute: Any, segment: int, terms: Sequence[str]) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    """Yield the posting lists of terms that a segment has, for head and body."""
    sql = f"SELECT {_COUNTS}, head, body FROM postings WHERE segment = ? AND term"  # noqa: S608 -- our own words
    missing = set(terms)
    for term, *values, check, head, body in select_in(execute, sql, segment, terms):
        verify(check, segment, term, *values)
        if term not in missing or values[-1] != _list_checksum(head, body):
            raise damage()
        missing.remove(term)
        yield term, (head, body)
    if missing:
        raise damage()


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


def decode_slots(data: bytes | bytearray | memoryview) -> Sequence[int]:
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


def weight_in_list(data: bytes, slot: int, size: int) -> int:
    """Return the weight of a slot in a posting list of a segment of `size` slots."""
    if not data:
        return 0
    if len(data) == size:
        return data[slot]
    count = len(data) // 3
    slots = decode_slots(memoryview(data)[: 2 * count])
    at = bisect_left(slots, slot)
    return data[2 * count + at] if at < count and slots[at] == slot else 0
