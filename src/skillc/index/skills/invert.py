"""Invert skills into posting lists, in the process that reads them, chunk by chunk.

The chunks of a segment are joined at the end. A term that is in the body alone has its bonus in the body.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from operator import add

from skillc.index.skills.postings import DENSE, Row, decode_slots, encode_slots
from skillc.index.skills.weights import BODY_BONUS, BYTE, TermWeights

# Terms, the postings of their heads and bodies, and the slots of bodies that have them and don't keep them:
# four lists of the same length.
InvertedLists = tuple[list[bytes], list[bytes], list[bytes], list[bytes]]

POSTING = "I"  # as an array has it: four bytes, of which three are used
SLOT = "H"

_BONUS = int(BYTE * BODY_BONUS), 0  # of a term in a body, by whether the head has it, too


class Inverter:
    """Inverts the texts that are added, with their slots, into posting lists by the numbers of terms."""

    def __init__(self) -> None:
        self._heads: dict[int, array[int]] = {}
        self._bodies: dict[int, array[int]] = {}
        self._others: dict[int, array[int]] = {}

    def add(self, slot: int, text: TermWeights) -> None:
        is_shared = map(set(text.head_terms).__contains__, text.body_terms)
        body_weights = map(add, text.body_weights, map(_BONUS.__getitem__, is_shared))
        first = posting(slot, 0)
        _append(self._heads, POSTING, text.head_terms, map(first.__or__, text.head_weights))
        _append(self._bodies, POSTING, text.body_terms, map(first.__or__, body_weights))
        _append(self._others, SLOT, text.other_terms, repeat(slot))

    def invert(self, vocabulary: Sequence[bytes]) -> InvertedLists:
        """Return the posting lists; `vocabulary` has the terms by number."""
        numbers = [*self._heads.keys() | self._bodies.keys() | self._others.keys()]
        heads, bodies, others = (
            [lists[number].tobytes() if number in lists else b"" for number in numbers]
            for lists in (self._heads, self._bodies, self._others)
        )
        return [vocabulary[number] for number in numbers], heads, bodies, others


def _append(lists: dict[int, array[int]], code: str, terms: Iterable[int], values: Iterable[int]) -> None:
    """Append a value to the list of each term."""
    for term, value in zip(terms, values, strict=False):
        if term in lists:
            lists[term].append(value)
        else:
            lists[term] = array(code, (value,))


def posting(slot: int, weight: int) -> int:
    """Return a slot and a weight as one number, by which lists are sorted."""
    return slot << 8 | weight


class SegmentLists:
    """The posting lists of one segment, joined from its chunks."""

    def __init__(self) -> None:
        self._lists: dict[bytes, tuple[array[int], array[int], array[int]]] = {}

    def add(self, chunk: InvertedLists) -> None:
        for term, *parts in zip(*chunk, strict=True):
            if term not in self._lists:
                self._lists[term] = array(POSTING), array(POSTING), array(SLOT)
            for postings, data in zip(self._lists[term], parts, strict=True):
                postings.frombytes(data)

    def renumber(self, slots: Sequence[int]) -> None:
        """Move the skills of these slots, in this order, to the first slots; no others are left."""
        places = {slot: place for place, slot in enumerate(slots)}
        for heads, bodies, others in self._lists.values():
            for postings in (heads, bodies):
                for at, number in enumerate(postings):
                    postings[at] = posting(places[number >> 8], number & 255)
            others[:] = array(SLOT, map(places.__getitem__, others))

    def rows(self, size: int) -> Iterator[Row]:
        """Yield the lists by term, encoded for a segment of `size` slots."""
        for term, (heads, bodies, others) in sorted(self._lists.items()):
            yield encode_row(term.decode(), heads, bodies, others, size)


def encode_row(
    term: str, heads: Sequence[int], bodies: Sequence[int], others: Sequence[int], size: int
) -> Row:
    """Return the postings of a term, in any order, as they are stored in a segment of `size` slots."""
    lists = encode_list(heads, size), encode_list(bodies, size), encode_slots(sorted(others))
    return term, len(heads), len(bodies) + len(others), *lists


def encode_list(postings: Sequence[int], size: int) -> bytes:
    """Return postings as they are stored: all slots, then all weights; if dense, a weight for each slot."""
    if not postings:
        return b""
    numbers = array(POSTING, sorted(postings))
    if sys.byteorder == "big":
        numbers.byteswap()
    data = numbers.tobytes()
    weights = data[::4]
    slots = bytearray(2 * len(numbers))
    slots[::2], slots[1::2] = data[1::4], data[2::4]
    if DENSE * len(numbers) <= size:
        return bytes(slots + weights)
    dense = bytearray(size)
    for slot, weight in zip(decode_slots(slots), weights, strict=True):
        dense[slot] = weight
    return bytes(dense)
