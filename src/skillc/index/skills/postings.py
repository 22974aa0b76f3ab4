"""Which skills have a term, and how much it says about each: lists with a byte for each skill, by segment.

A segment is up to 65,536 skills of one folder, each in a slot of its own, in the order of their IDs. What is
added later is a segment of its own, and a skill that went leaves its slot empty, so that a change costs in
proportion to what changed; when there are many small segments, or much is empty, they are merged.

Skills become lists in batches, in whichever process reads them, and the batches of a segment are joined at
the end. Of a body only the terms that also are in the head are kept and the strongest of the others, by
weight and by how rare they are in the batch.
"""

from __future__ import annotations

import sys
from array import array
from math import inf, log
from operator import mul

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillc.index.skills.weights import Text

    # Terms, how many bodies have each, and the records of heads and bodies: four lists of the same length.
    Turned = tuple[list[bytes], list[int], list[bytes], list[bytes]]
    Row = tuple[str, int, int, bytes, bytes]  # a term, how many heads and bodies have it, its lists of each
    Known = Callable[[Iterable[bytes]], dict[bytes, int]]

MAX_SLOTS = 1 << 16
MAX_SEGMENTS = 4  # of a folder, before small ones are merged: each is asked for every term
KEPT = 128  # the strongest terms of a body beside those of the head
RECORD = 4  # bytes
DENSE = 24  # where one skill in so many has a term, a byte for each skill is better than a list of slots
TELLING = 3  # skills in a batch whose bodies have a term, for it to be counted though none keeps it


def rarity(skills: float, of: float) -> float:
    """BM25's measure of how much a term parts the skills that have it from the others."""
    return log(1 + (of - skills + 0.5) / (skills + 0.5))


def turned(texts: Sequence[tuple[int, Text]], outside: int = 0, elsewhere: Known | None = None) -> Turned:
    """Texts with their slots, turned over: for each term who has it.

    `elsewhere` tells of terms how many bodies outside have them, of as many as there are.
    """
    from collections import defaultdict
    from collections import _count_elements as count  # type: ignore[attr-defined]  # isort: skip

    holders: dict[bytes, int] = {}
    for _, text in texts:
        count(holders, text.bodies)
    rare = _rarities(holders, len(texts) + outside, elsewhere(holders) if elsewhere and outside else {})
    heads: dict[bytes, list[int]] = defaultdict(list)
    bodies: dict[bytes, list[int]] = defaultdict(list)
    for slot, text in texts:
        _enter(heads, slot, text.heads, text.head)
        _enter(bodies, slot, *_strongest(text, rare))
    common = (term for term, skills in holders.items() if skills >= TELLING)
    terms = list({**heads, **bodies, **dict.fromkeys(common)})
    in_heads, in_bodies = ([records(lists.get(term, ())) for term in terms] for lists in (heads, bodies))
    return terms, [holders.get(term, 0) for term in terms], in_heads, in_bodies


def _rarities(here: dict[bytes, int], of: int, there: dict[bytes, int]) -> dict[bytes, float]:
    every = {term: skills + there.get(term, 0) for term, skills in here.items()} if there else here
    table = {skills: rarity(skills, of) for skills in set(every.values())}
    return dict(zip(every, map(table.__getitem__, every.values()), strict=True))


def _strongest(text: Text, rare: dict[bytes, float]) -> tuple[Sequence[bytes], Sequence[int]]:
    """The terms of a body that are kept, with their weights."""
    terms, weights, shared = text.bodies, text.body, text.shared
    if len(terms) <= KEPT + shared:
        return terms, weights
    strength = [*(inf,) * shared, *map(mul, weights[shared:], map(rare.__getitem__, terms[shared:]))]
    best = sorted(range(len(terms)), key=strength.__getitem__, reverse=True)
    start = end = KEPT + shared
    while strength[best[start - 1]] == strength[best[end - 1]]:
        start -= 1
    while end < len(best) and strength[best[end]] == strength[best[start]]:
        end += 1
    equals = sorted(best[start:end], key=terms.__getitem__)  # whatever order the words were met in
    chosen = [*best[:start], *equals[: KEPT + shared - start]]
    return [terms[n] for n in chosen], [weights[n] for n in chosen]


def _enter(lists: dict[bytes, list[int]], slot: int, terms: Sequence[bytes], weights: Iterable[int]) -> None:
    first = slot << 8
    for term, weight in zip(terms, weights, strict=True):
        lists[term].append(first | weight)


def records(numbers: Iterable[int]) -> bytes:
    """Slots with weights, as they are collected: the weight, two bytes of the slot, nothing."""
    found = array("I", numbers)
    if sys.byteorder == "big":
        found.byteswap()
    return found.tobytes()


class Joined:
    """The lists of one segment, from the batches it was read in."""

    def __init__(self) -> None:
        from collections import defaultdict

        self._holders: dict[bytes, int] = {}
        self._heads: dict[bytes, bytearray] = defaultdict(bytearray)
        self._bodies: dict[bytes, bytearray] = defaultdict(bytearray)

    def add(self, batch: Turned) -> None:
        holders, heads, bodies = self._holders, self._heads, self._bodies
        for term, skills, head, body in zip(*batch, strict=True):
            holders[term] = holders.get(term, 0) + skills
            if head:
                heads[term] += head
            if body:
                bodies[term] += body

    def rows(self, size: int) -> Iterator[Row]:
        """The lists, by term, for a segment of so many slots."""
        heads, bodies = self._heads, self._bodies
        for term, holders in sorted(self._holders.items()):
            head, body = heads.get(term, b""), bodies.get(term, b"")
            count = len(head) // RECORD
            yield term.decode(), count, holders, packed(head, size), packed(body, size)


def packed(found: bytes | bytearray, size: int) -> bytes:
    """Records as they are stored: slots and weights; where many have the term, a weight for every slot."""
    if not found:
        return b""
    count = len(found) // RECORD
    ordered = _sorted(found) if count > 1 else found
    weights = bytes(ordered[::RECORD])
    slots = bytearray(2 * count)
    slots[::2], slots[1::2] = ordered[1::RECORD], ordered[2::RECORD]
    if DENSE * count <= size:
        return bytes(slots + weights)
    every = bytearray(size)
    for slot, weight in zip(slot_numbers(slots), weights, strict=True):
        every[slot] = weight
    return bytes(every)


def _sorted(found: bytes | bytearray) -> bytes:
    numbers = array("I", bytes(found))
    if sys.byteorder == "big":
        numbers.byteswap()
    return records(sorted(numbers))


def slot_numbers(stored: bytes | bytearray) -> Sequence[int]:
    """Slots as they are stored, each in two bytes with the lower one first."""
    if sys.byteorder == "little":
        return memoryview(stored).cast("H")
    return [stored[at] | stored[at + 1] << 8 for at in range(0, len(stored), 2)]


def unpacked(stored: bytes, size: int) -> Iterable[tuple[int, int]]:
    """The slots of a list, each with the weight."""
    if len(stored) == size:
        return [(slot, weight) for slot, weight in enumerate(stored) if weight]
    count = len(stored) // 3
    return zip(slot_numbers(stored[: 2 * count]), stored[2 * count :], strict=True)


def record(slot: int, weight: int) -> int:
    """A slot and a weight as one number, by which lists are sorted."""
    return slot << 8 | weight
