"""Posting lists: which skills have a term, with a weight of one byte each, by segment.

A segment is up to 65,536 skills of one folder, each in a slot, in the order of their IDs. Skills that
are added later form a new segment, and a removed skill leaves its slot empty, so that a change costs in
proportion to what changed; `merge` puts small and hollow segments together.

Skills are inverted in chunks, in the process that reads them, and the chunks of a segment are joined at
the end. Of a body, the index keeps the terms that are also in the head and the strongest of the others,
by weight times idf within the chunk. A term that is in the body alone has its bonus in the body.
"""

from __future__ import annotations

import sys
from array import array
from itertools import chain
from math import inf
from operator import add, mul

from skillc.index.skills.database import checksum, crc32, damage, select_in, verify
from skillc.index.skills.weights import BODY_BONUS, BYTE, idf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    from skillc.index.skills.weights import TermWeights

    # Terms, how many bodies have each, and the records of heads and bodies: four lists of the same length.
    InvertedLists = tuple[list[bytes], list[int], list[bytes], list[bytes]]
    Row = tuple[str, int, int, bytes, bytes]  # a term, how many heads and bodies have it, its two lists
    Frequencies = Callable[[Iterable[bytes]], dict[bytes, int]]  # in how many bodies terms are

MAX_SLOTS = 1 << 16
MAX_SEGMENTS = 4  # of a folder, before small ones are merged: a search asks each for every term
MAX_BODY_TERMS = 128  # the strongest terms of a body beside those of the head
RECORD = 4  # bytes: a weight, two of the slot, one unused
DENSE = 24  # where one skill in 24 has a term, a byte for each slot is better than a list of slots
MIN_FREQUENCY = 3  # skills of a chunk with a term in the body, for it to be counted where none keeps it

_BONUS = int(BYTE * BODY_BONUS), 0  # of a term in a body, by whether the head has it, too
_COUNTS = "term, next, heads, bodies, lists, checksum"  # of a row of postings


def invert(
    texts: Sequence[tuple[int, TermWeights]], others: int = 0, frequencies: Frequencies | None = None
) -> InvertedLists:
    """Invert texts with their slots into posting lists.

    A few texts say little about idf, so `frequencies` returns how many of the `others`, which are in the
    index already, have a term.
    """
    from collections import defaultdict
    from collections import _count_elements as count  # type: ignore[attr-defined]  # isort: skip

    body_counts: dict[bytes, int] = {}
    for _, text in texts:
        count(body_counts, text.body_terms)
    more = frequencies(body_counts) if frequencies and others else {}
    sums = {term: skills + more.get(term, 0) for term, skills in body_counts.items()} if more else body_counts
    idf_table = {skills: idf(skills, len(texts) + others) for skills in set(sums.values())}
    idfs = dict(zip(sums, map(idf_table.__getitem__, sums.values()), strict=True))
    heads: dict[bytes, list[int]] = defaultdict(list)
    bodies: dict[bytes, list[int]] = defaultdict(list)
    for slot, text in texts:
        _add_postings(heads, slot, text.head_terms, text.head_weights)
        terms, weights = _strongest(text, idfs)
        shared = map(set(text.head_terms).__contains__, terms)
        _add_postings(bodies, slot, terms, map(add, weights, map(_BONUS.__getitem__, shared)))
    common = (term for term, skills in body_counts.items() if skills >= MIN_FREQUENCY)
    terms = list({**heads, **bodies, **dict.fromkeys(common)})
    in_heads, in_bodies = ([to_records(lists.get(term, ())) for term in terms] for lists in (heads, bodies))
    return terms, [body_counts.get(term, 0) for term in terms], in_heads, in_bodies


def _add_postings(
    lists: dict[bytes, list[int]], slot: int, terms: Sequence[bytes], weights: Iterable[int]
) -> None:
    first = posting(slot, 0)
    for term, weight in zip(terms, weights, strict=True):
        lists[term].append(first | weight)


def _strongest(text: TermWeights, idfs: dict[bytes, float]) -> tuple[Sequence[bytes], Sequence[int]]:
    """Return the terms of a body that the index keeps, with their weights."""
    terms, weights, first = text.body_terms, text.body_weights, text.shared_count
    limit = MAX_BODY_TERMS + first
    if len(terms) <= limit:
        return terms, weights
    strength = [*(inf,) * first, *map(mul, weights[first:], map(idfs.__getitem__, terms[first:]))]
    order = sorted(range(len(terms)), key=strength.__getitem__, reverse=True)
    start = end = limit
    while strength[order[start - 1]] == strength[order[end - 1]]:
        start -= 1
    while end < len(order) and strength[order[end]] == strength[order[start]]:
        end += 1
    ties = sorted(order[start:end], key=terms.__getitem__)  # independent of the order of words
    numbers = [*order[:start], *ties[: limit - start]]
    return [terms[n] for n in numbers], [weights[n] for n in numbers]


def posting(slot: int, weight: int) -> int:
    """Return a slot and a weight as one number, by which lists are sorted."""
    return slot << 8 | weight


def to_records(postings: Iterable[int]) -> bytes:
    """Return postings as records of RECORD bytes, the form in which they are collected."""
    numbers = array("I", postings)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


class SegmentLists:
    """The posting lists of one segment, joined from its chunks."""

    def __init__(self) -> None:
        from collections import defaultdict

        self._body_counts: dict[bytes, int] = {}
        self._heads: dict[bytes, bytearray] = defaultdict(bytearray)
        self._bodies: dict[bytes, bytearray] = defaultdict(bytearray)

    def add(self, chunk: InvertedLists) -> None:
        body_counts, heads, bodies = self._body_counts, self._heads, self._bodies
        for term, skills, head, body in zip(*chunk, strict=True):
            body_counts[term] = body_counts.get(term, 0) + skills
            if head:
                heads[term] += head
            if body:
                bodies[term] += body

    def renumber(self, slots: Sequence[int]) -> None:
        """Move the skills of these slots, in this order, to the first slots; no others are left."""
        places = {slot: place for place, slot in enumerate(slots)}
        for lists in (self._heads, self._bodies):
            for term, records in lists.items():
                numbers = _read_records(records)
                lists[term] = bytearray(to_records(posting(places[n >> 8], n & 255) for n in numbers))

    def rows(self, size: int) -> Iterator[Row]:
        """Yield the lists by term, encoded for a segment of `size` slots."""
        heads, bodies = self._heads, self._bodies
        for term, skills in sorted(self._body_counts.items()):
            head, body = heads.get(term, b""), bodies.get(term, b"")
            yield term.decode(), len(head) // RECORD, skills, encode_list(head, size), encode_list(body, size)


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


def encode_list(records: bytes | bytearray, size: int) -> bytes:
    """Return records as they are stored: all slots, then all weights; if dense, a weight for each slot."""
    if not records:
        return b""
    count = len(records) // RECORD
    records = _sort(records) if count > 1 else records
    weights = bytes(records[::RECORD])
    slots = bytearray(2 * count)
    slots[::2], slots[1::2] = records[1::RECORD], records[2::RECORD]
    if DENSE * count <= size:
        return bytes(slots + weights)
    dense = bytearray(size)
    for slot, weight in zip(decode_slots(slots), weights, strict=True):
        dense[slot] = weight
    return bytes(dense)


def _sort(records: bytes | bytearray) -> bytes:
    return to_records(sorted(_read_records(records)))


def _read_records(records: bytes | bytearray) -> array[int]:
    numbers = array("I", bytes(records))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


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
