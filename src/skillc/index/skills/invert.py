"""Invert skills into posting lists, in the process that reads them, chunk by chunk.

The chunks of a segment are joined at the end. Of a body, the index keeps the terms that are also in the head
and the strongest of the others, by weight times idf within the chunk. A term that is in the body alone has
its bonus in the body.
"""

from __future__ import annotations

import sys
from array import array
from collections import (  # type: ignore[attr-defined]
    _count_elements as count,  # what Counter uses
    defaultdict,
)
from itertools import accumulate, chain, pairwise, repeat
from math import inf
from operator import add, mul

from skillc.index.skills.postings import DENSE, decode_slots
from skillc.index.skills.weights import BODY_BONUS, BYTE, idf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from skillc.index.skills.batch import Statistics
    from skillc.index.skills.postings import Row
    from skillc.index.skills.weights import TermWeights

    # Terms, how many bodies have each, and the records of heads and bodies: four lists of the same length.
    InvertedLists = tuple[list[bytes], list[int], list[bytes], list[bytes]]

MAX_BODY_TERMS = 128  # the strongest terms of a body beside those of the head
RECORD = 4  # bytes: a weight, two of the slot, one unused
MIN_FREQUENCY = 3  # skills of a chunk with a term in the body, for it to be counted where none keeps it

_BONUS = int(BYTE * BODY_BONUS), 0  # of a term in a body, by whether the head has it, too


def invert(
    texts: Sequence[tuple[int, TermWeights]], vocabulary: Sequence[bytes], statistics: Statistics | None
) -> InvertedLists:
    """Invert texts with their slots into posting lists; `vocabulary` has their terms by number.

    A few texts say little about idf, so `statistics` are those of the others, which are in the index already.
    """
    others = statistics.skills if statistics else 0
    body_counts: dict[int, int] = {}
    for _, text in texts:
        count(body_counts, text.body_terms)
    words = map(vocabulary.__getitem__, body_counts)
    more = statistics.body_frequencies(words) if statistics and others else {}
    sums = {n: skills + more.get(vocabulary[n], 0) for n, skills in body_counts.items()}
    idf_table = {skills: idf(skills, len(texts) + others) for skills in set(sums.values())}
    idfs = [0.0] * len(vocabulary)
    for number, skills in sums.items():
        idfs[number] = idf_table[skills]
    heads: dict[int, list[int]] = defaultdict(list)
    bodies: dict[int, list[int]] = defaultdict(list)
    for slot, text in texts:
        _add_postings(heads, slot, text.head_terms, text.head_weights)
        terms, weights = _strongest(text, idfs, vocabulary)
        shared = map(set(text.head_terms).__contains__, terms)
        _add_postings(bodies, slot, terms, map(add, weights, map(_BONUS.__getitem__, shared)))
    common = (term for term, skills in body_counts.items() if skills >= MIN_FREQUENCY)
    terms = list({**heads, **bodies, **dict.fromkeys(common)})
    in_heads, in_bodies = (list(map(_pack(lists).get, terms, repeat(b""))) for lists in (heads, bodies))
    return [vocabulary[n] for n in terms], [body_counts.get(n, 0) for n in terms], in_heads, in_bodies


def _add_postings(
    lists: dict[int, list[int]], slot: int, terms: Sequence[int], weights: Iterable[int]
) -> None:
    first = posting(slot, 0)
    for term, weight in zip(terms, weights, strict=True):
        lists[term].append(first | weight)


def _pack(lists: dict[int, list[int]]) -> dict[int, bytes]:
    """Return the records of each list; making all at once and cutting them is faster than one by one."""
    data = to_records(chain.from_iterable(lists.values()))
    bounds = pairwise(accumulate(map(len, lists.values()), initial=0))
    return {n: data[RECORD * start : RECORD * end] for n, (start, end) in zip(lists, bounds, strict=True)}


def _strongest(
    text: TermWeights, idfs: Sequence[float], vocabulary: Sequence[bytes]
) -> tuple[Sequence[int], Sequence[int]]:
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
    ties = sorted(order[start:end], key=lambda n: vocabulary[terms[n]])  # independent of the order of words
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


def encode_list(records: bytes | bytearray, size: int) -> bytes:
    """Return records as they are stored: all slots, then all weights; if dense, a weight for each slot."""
    if not records:
        return b""
    count = len(records) // RECORD
    records = to_records(sorted(_read_records(records))) if count > 1 else records
    weights = bytes(records[::RECORD])
    slots = bytearray(2 * count)
    slots[::2], slots[1::2] = records[1::RECORD], records[2::RECORD]
    if DENSE * count <= size:
        return bytes(slots + weights)
    dense = bytearray(size)
    for slot, weight in zip(decode_slots(slots), weights, strict=True):
        dense[slot] = weight
    return bytes(dense)


def _read_records(records: bytes | bytearray) -> array[int]:
    numbers = array("I", bytes(records))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
