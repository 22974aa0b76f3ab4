"""Invert skills into posting lists, in the process that reads them, chunk by chunk.

The chunks of a segment are joined at the end. Of a body, the index keeps the terms that are also in the head
and the strongest of the others, by weight times idf within the chunk. A term that is in the body alone has
its bonus in the body.
"""

from __future__ import annotations

import sys
from array import array
from collections import _count_elements as count  # type: ignore[attr-defined]  # Counter's own loop, in C
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import inf
from operator import add, mul
from typing import Any

from skillc.index.skills.database import Database
from skillc.index.skills.postings import DENSE, Row, decode_slots, read_counts
from skillc.index.skills.snapshot import find_folder
from skillc.index.skills.weights import BODY_BONUS, BYTE, TermWeights, idf

Lists = list["array[int] | None"]  # postings by the number of their term
# Terms, how many bodies have each, and the postings of heads and bodies: four lists of the same length.
InvertedLists = tuple[list[bytes], list[int], list[bytes], list[bytes]]

MAX_BODY_TERMS = 128  # the strongest terms of a body beside those of the head
POSTING = "I"  # as an array has it: four bytes, of which three are used
MIN_FREQUENCY = 3  # skills of a chunk with a term in the body, for it to be counted where none keeps it

_NONE = array(POSTING)
_BONUS = int(BYTE * BODY_BONUS), 0  # of a term in a body, by whether the head has it, too


class Inverter:
    """Inverts the texts that were added, with their slots, into posting lists."""

    def __init__(self) -> None:
        self._texts: list[tuple[int, TermWeights]] = []
        self._body_counts: dict[int, int] = {}

    def add(self, slot: int, text: TermWeights) -> None:
        count(self._body_counts, text.body_terms)
        text.body_terms = array(POSTING, text.body_terms)  # to be read a while later: numbers side by side
        self._texts.append((slot, text))

    def invert(self, vocabulary: Sequence[bytes], statistics: Statistics | None) -> InvertedLists:
        """Return the posting lists; `vocabulary` has the terms by number.

        A few texts say little about idf, so `statistics` are those of the others in the index.
        """
        idfs = self._idfs(vocabulary, statistics)
        heads: Lists = [None] * len(vocabulary)
        bodies: Lists = [None] * len(vocabulary)
        for slot, text in self._texts:
            _add_postings(heads, slot, text.head_terms, text.head_weights)
            terms, weights = _strongest(text, idfs, vocabulary)
            shared = map(set(text.head_terms).__contains__, terms)
            _add_postings(bodies, slot, terms, map(add, weights, map(_BONUS.__getitem__, shared)))
        frequency = self._body_counts.get
        all_terms = set(self._body_counts).union(*[text.head_terms for _, text in self._texts])
        terms = [n for n in all_terms if heads[n] or bodies[n] or frequency(n, 0) >= MIN_FREQUENCY]
        in_heads, in_bodies = ([(lists[n] or _NONE).tobytes() for n in terms] for lists in (heads, bodies))
        return [vocabulary[n] for n in terms], [frequency(n, 0) for n in terms], in_heads, in_bodies

    def _idfs(self, vocabulary: Sequence[bytes], statistics: Statistics | None) -> list[float]:
        """Return the idf of each term in bodies."""
        others = statistics.skills if statistics else 0
        words = map(vocabulary.__getitem__, self._body_counts)
        more = statistics.body_frequencies(words) if statistics and others else {}
        sums = {n: skills + more.get(vocabulary[n], 0) for n, skills in self._body_counts.items()}
        table = {skills: idf(skills, len(self._texts) + others) for skills in set(sums.values())}
        idfs = [0.0] * len(vocabulary)
        for number, skills in sums.items():
            idfs[number] = table[skills]
        return idfs


def _add_postings(lists: Lists, slot: int, terms: Iterable[int], weights: Iterable[int]) -> None:
    first = posting(slot, 0)
    for term, weight in zip(terms, weights, strict=True):
        postings = lists[term]
        if postings is None:
            postings = lists[term] = array(POSTING)
        postings.append(first | weight)


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


class SegmentLists:
    """The posting lists of one segment, joined from its chunks."""

    def __init__(self) -> None:
        self._body_counts: dict[bytes, int] = {}
        self._lists: dict[bytes, tuple[array[int], array[int]]] = {}  # of heads and of bodies

    def add(self, chunk: InvertedLists) -> None:
        body_counts, lists = self._body_counts, self._lists
        for term, skills, head, body in zip(*chunk, strict=True):
            if term in lists:
                body_counts[term] += skills
                heads, bodies = lists[term]
                heads.frombytes(head)
                bodies.frombytes(body)
            else:
                body_counts[term] = skills
                lists[term] = array(POSTING, head), array(POSTING, body)

    def renumber(self, slots: Sequence[int]) -> None:
        """Move the skills of these slots, in this order, to the first slots; no others are left."""
        places = {slot: place for place, slot in enumerate(slots)}
        for postings in chain.from_iterable(self._lists.values()):
            for at, number in enumerate(postings):
                postings[at] = posting(places[number >> 8], number & 255)

    def rows(self, size: int) -> Iterator[Row]:
        """Yield the lists by term, encoded for a segment of `size` slots."""
        for term, skills in sorted(self._body_counts.items()):
            head, body = self._lists[term]
            yield term.decode(), len(head), skills, encode_list(head, size), encode_list(body, size)


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


class Statistics:
    """Document frequencies in the index: in how many of a folder's `skills` each term occurs."""

    def __init__(self, database: Database, root: str, strict: bool) -> None:
        self._database = database
        self._key = root, strict
        self.skills = sum(skills for _, skills in database.read(self._segments)) if database.exists() else 0

    def _segments(self, execute: Any) -> list[tuple[int, int]]:
        folder, *_ = find_folder(execute, *self._key)
        rows = execute("SELECT number, skills FROM segments WHERE folder = ?", (folder,)).fetchall()
        return list(rows)

    def body_frequencies(self, terms: Iterable[bytes]) -> dict[bytes, int]:
        """Return the number of bodies that have each term."""
        values = sorted(term.decode() for term in terms)

        def query(execute: Any) -> dict[bytes, int]:
            counts: dict[bytes, int] = {}
            for segment, _ in self._segments(execute):
                for term, (_, skills) in read_counts(execute, segment, values).items():
                    counts[term.encode()] = counts.get(term.encode(), 0) + skills
            return counts

        return self._database.read(query)
