"""Which skills hold a term, and how much it says about each: lists of a byte for each, by segment.

A segment is up to 65,536 skills of one folder, each in a slot of its own. What is added later is a segment
of its own, and a skill that went leaves its slot empty, so that a change costs in proportion to what
changed; when there are many small segments, or much is empty, they are merged.

Of a body only the terms that also are in the head are kept and the strongest of the others, by weight
and by how rare they are as far as is known when it is added.
"""

from __future__ import annotations

from math import log
from operator import mul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillc.library.catalog.reading import Text
    from skillc.library.catalog.weighing import Weighed

    Row = tuple[str, int, int, bytes, bytes]  # a term, in how many heads and bodies it is, its lists of each

MAX_SLOTS = 1 << 16
KEPT = 128  # the strongest terms of a body beside those of the head
BATCH = 2000  # texts that are looked at together when terms are chosen
MAX_SEGMENTS = 8  # of a folder, before small ones are merged
RECORD = 4  # bytes while a list is collected: slot (2), weight, place


def rarity(skills: float, of: float) -> float:
    """BM25's measure of how much a term parts the skills that have it from the others."""
    return log(1 + (of - skills + 0.5) / (skills + 0.5))


class Builder:
    """Collects the lists of one segment; texts are given their slots in order.

    `elsewhere` tells of terms in how many bodies outside they are, and `outside` how many there are.
    """

    def __init__(
        self, outside: int = 0, elsewhere: Callable[[set[str]], dict[str, int]] | None = None
    ) -> None:
        from collections import Counter  # only where skills are indexed

        self.size = 0
        self._outside = outside
        self._elsewhere = elsewhere
        self._heads: dict[str, bytearray] = {}
        self._bodies: dict[str, bytearray] = {}
        self._holders: Counter[str] = Counter()  # in how many bodies a term is, kept or not
        self._batch: list[Text] = []

    @property
    def full(self) -> bool:
        return self.size >= MAX_SLOTS

    def add(self, text: Text) -> int:
        """Take in a text; returns its slot."""
        self._batch.append(text)
        self.size += 1
        if len(self._batch) >= BATCH:
            self._settle()
        return self.size - 1

    def _settle(self) -> None:
        """Sort the terms of the batch into the lists."""
        holders = self._holders
        bodies = [text.body[0].split() for text in self._batch]
        for terms in bodies:
            holders.update(terms)
        known = self._elsewhere(set().union(*bodies)) if self._elsewhere and self._outside else {}
        rare = _Rare(holders, known, self.size + self._outside)
        first = self.size - len(self._batch)
        for slot, (text, terms) in enumerate(zip(self._batch, bodies, strict=True), first):
            names = text.head[0].split()
            _append(self._heads, slot, names, text.head, range(len(names)))
            _append(self._bodies, slot, terms, text.body, _strongest(terms, text.body[1], rare, names))
        self._batch = []

    def rows(self) -> Iterator[Row]:
        """The lists, by term; they can be had once."""
        self._settle()
        common = {term for term, skills in self._holders.items() if skills > 2}  # in lists or not
        for term in sorted(common.union(self._heads, self._bodies)):
            head, body = self._heads.pop(term, b""), self._bodies.pop(term, b"")
            counts = len(head) // RECORD, self._holders[term]
            yield term, *counts, packed(head, self.size), packed(body, self.size)


class _Rare(dict[str, float]):
    """How rare terms are, worked out when asked."""

    __slots__ = ("_here", "_of", "_there")

    def __init__(self, here: dict[str, int], there: dict[str, int], of: int) -> None:
        self._here = here
        self._there = there
        self._of = of

    def __missing__(self, term: str) -> float:
        self[term] = value = rarity(self._here[term] + self._there.get(term, 0), self._of)
        return value


def _strongest(
    terms: Sequence[str], weights: bytes, rare: dict[str, float], names: Iterable[str]
) -> Iterable[int]:
    """Which terms of a body to keep."""
    every = range(len(terms))
    if len(terms) <= KEPT:
        return every
    strength = list(map(mul, weights, map(rare.__getitem__, terms)))
    best = set(sorted(every, key=strength.__getitem__, reverse=True)[:KEPT])
    also = set(names).intersection(terms)
    return best.union(map(terms.index, also)) if also else best


def _append(
    lists: dict[str, bytearray], slot: int, terms: Sequence[str], weighed: Weighed, chosen: Iterable[int]
) -> None:
    _, weights, places = weighed
    for n in chosen:
        record = (slot | weights[n] << 16 | places[n] << 24).to_bytes(RECORD, "little")
        term = terms[n]
        if term in lists:
            lists[term] += record
        else:
            lists[term] = bytearray(record)


def packed(records: bytes | bytearray, size: int) -> bytes:
    """A list as it is stored: slots, weights, places; where many have the term, a weight for every slot."""
    count = len(records) // RECORD
    if is_dense(count, size):
        weights, places = bytearray(size), bytearray(size)
        for at in range(0, len(records), RECORD):
            slot = records[at] | records[at + 1] << 8
            weights[slot], places[slot] = records[at + 2], records[at + 3]
        return bytes(weights + places)
    slots = bytearray(2 * count)
    slots[::2], slots[1::2] = records[::RECORD], records[1::RECORD]
    return bytes(slots + records[2::RECORD] + records[3::RECORD])


def unpacked(stored: bytes, size: int) -> bytearray:
    """The records of a list as it was before it was packed."""
    if len(stored) == 2 * size:
        records = bytearray()
        for slot in range(size):
            if stored[slot]:
                records += (slot | stored[slot] << 16 | stored[size + slot] << 24).to_bytes(RECORD, "little")
        return records
    count = len(stored) // RECORD
    records = bytearray(len(stored))
    records[::RECORD], records[1::RECORD] = stored[: 2 * count : 2], stored[1 : 2 * count : 2]
    records[2::RECORD], records[3::RECORD] = stored[2 * count : 3 * count], stored[3 * count :]
    return records


def is_dense(count: int, size: int) -> bool:
    """Whether so many skills have a term that a byte for each skill is better than a list of slots."""
    return 8 * count > size
