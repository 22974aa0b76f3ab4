"""Posting lists: which skills have a term, with a weight of one byte each, by segment.

A segment is up to 65,536 skills of one folder, each in a slot, in the order of their IDs. Skills that
are added later form a new segment, and a removed skill leaves its slot empty and its postings in the lists,
so that a change costs in proportion to what changed. Readers leave these out, so that no result depends on
how skills came; `merge` puts small and hollow segments together.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from itertools import chain
from operator import itemgetter

from skillc.index.skills.database import checksum, crc32, damage, select_in, verify

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

# A term, how many heads and bodies have it, its two lists, and the slots of bodies that are counted besides.
Row = tuple[str, int, int, bytes, bytes, bytes]

MAX_SLOTS = 1 << 16
MAX_SEGMENTS = 4  # of a folder, before small ones are merged: a search asks each for every term
MIN_TERM = 3  # letters of a term that may be meant by a typo
CHECKSUM = 4  # bytes
SHORT = 8  # postings for each slot that is looked for, up to which looking at all is faster
DENSE = 24  # where one skill in 24 has a term, a byte for each slot is better than a list of slots

_COUNTS = "term, next, heads, bodies, lists, checksum"  # of a row of postings


def store_lists(execute: Any, segment: int, rows: Iterable[Row]) -> None:
    """Store the lists of a segment, which come in the order of their terms, after an empty term."""
    last = end = ("", 0, 0, b"", b"", b"")
    terms: list[str] = []
    for row in chain(rows, [end]):
        term, heads, bodies, head, body, others = last
        values = segment, term, row[0], heads, bodies, _list_checksum(head, body)
        sql = "INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        execute(sql, (*values, checksum(*values), head, body, _seal(others)))
        terms.append(term)
        if term and row[0][:1] != term[0]:
            _store_spellings(execute, segment, term[0], terms)
            terms.clear()
        last = row


def _store_spellings(execute: Any, segment: int, letter: str, terms: list[str]) -> None:
    """Store the terms with a first letter together: for typos, which need them all."""
    words = " ".join(term for term in terms if len(term) >= MIN_TERM and term.isalpha())
    values = segment, letter, words
    execute("INSERT INTO spellings VALUES (?, ?, ?, ?)", (*values, checksum(*values)))


def read_spellings(execute: Any, segment: int, letter: str) -> list[str]:
    """Return the terms of a segment with a first letter."""
    sql = "SELECT terms, checksum FROM spellings WHERE segment = ? AND letter = ?"
    row = execute(sql, (segment, letter)).fetchone()
    if row is None:
        sql = "SELECT 1 FROM postings WHERE segment = ? AND term >= ? AND term < ? LIMIT 1"
        if execute(sql, (segment, letter, chr(ord(letter) + 1))).fetchone():
            raise damage()
        return []
    terms, check = row
    verify(check, segment, letter, terms)
    return str(terms).split()


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


def read_rows(execute: Any, segment: int, terms: Sequence[str]) -> Iterator[Row]:
    """Yield all that was stored of some terms that a segment has."""
    sql = f"SELECT {_COUNTS}, head, body, others FROM postings WHERE segment = ? AND term"  # noqa: S608
    missing = set(terms)
    for _, row in _verify_rows(segment, select_in(execute, sql, segment, terms)):
        if row[0] not in missing:
            raise damage()
        missing.remove(row[0])
        yield row
    if missing:
        raise damage()


def read_all_rows(execute: Any, segment: int) -> Iterator[Row]:
    """Yield all rows that were stored for a segment, in order."""
    sql = f"SELECT {_COUNTS}, head, body, others FROM postings WHERE segment = ? ORDER BY term"  # noqa: S608
    next_term = ""
    for follower, row in _verify_rows(segment, execute(sql, (segment,))):
        if row[0] != next_term:
            raise damage()
        if row[0]:
            yield row
        next_term = follower
    if next_term:
        raise damage()


def _verify_rows(segment: int, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[str, Row]]:
    """Yield stored rows, each with the term that comes next."""
    for term, follower, heads, bodies, lists, check, head, body, others in rows:
        verify(check, segment, term, follower, heads, bodies, lists)
        slots = others[CHECKSUM:]
        if lists != _list_checksum(head, body) or others != _seal(slots):
            raise damage()
        yield follower, (term, heads, bodies, head, body, slots)


def _seal(slots: bytes) -> bytes:
    """Return slots after their checksum."""
    return crc32(slots).to_bytes(CHECKSUM, "big") + slots if slots else b""


def decode_slots(data: bytes | bytearray | memoryview) -> Sequence[int]:
    """Return stored slots as numbers."""
    if sys.byteorder == "little":
        return memoryview(data).cast("H")
    return [data[at] | data[at + 1] << 8 for at in range(0, len(data), 2)]


def decode_list(data: bytes, size: int) -> Iterable[tuple[int, int]]:
    """Return the slots of a stored list, each with its weight."""
    if len(data) == size:
        return [(slot, weight) for slot, weight in enumerate(data) if weight]
    count = len(data) // 3
    return zip(decode_slots(data[: 2 * count]), data[2 * count :], strict=True)


def read_weights(data: bytes, slots: Sequence[int], size: int) -> bytes:
    """Return the weights that a posting list of a segment of `size` slots has for some slots, in order."""
    if len(data) == size:
        return bytes(itemgetter(*slots, 0)(data)[:-1])
    count = len(data) // 3
    listed = decode_slots(memoryview(data)[: 2 * count])
    weights = bytearray(len(slots))
    if count < SHORT * len(slots):
        for slot in {*slots}.intersection(listed):
            weights[bisect_left(slots, slot)] = data[2 * count + bisect_left(listed, slot)]
        return bytes(weights)
    at = 0
    for number, slot in enumerate(slots):
        at = bisect_left(listed, slot, at)
        if at == count:
            break
        if listed[at] == slot:
            weights[number] = data[2 * count + at]
    return bytes(weights)


def encode_slots(slots: Iterable[int]) -> bytes:
    """Return slots as they are stored: each in two bytes, the lower one first."""
    from array import array  # searches do without

    numbers = array("H", slots)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def count_slots(data: bytes, size: int, slots: frozenset[int]) -> int:
    """Return how many of some slots a posting list of a segment of `size` slots has."""
    if len(data) == size:
        return sum(1 for slot in slots if data[slot])
    return len(slots.intersection(decode_slots(data[: 2 * (len(data) // 3)])))
