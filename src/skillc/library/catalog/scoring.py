"""How well each skill of a segment fits: sums of weights over lists, without any library.

Python adds slowly one by one, but it adds numbers of any length at once. A list with a byte for every slot
is one long number with two bytes for each; adding such numbers adds the scores of all skills in a
few microseconds. Lists of slots are added one by one. Scores are whole numbers up to 65,535, coarse
enough for this and fine enough to choose whom to look at closely.
"""

from __future__ import annotations

import sys
from _bisect import bisect_left  # without the Python around it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Scorer = Callable[[int, Sequence[tuple[float, "Postings"]], int], list[int]]

MORE = 500  # slots beyond the wanted ones that are named because their scores are equal
_LOW = 0 if sys.byteorder == "little" else 1  # where the low byte of two is


class Postings:
    """A stored list: the slots that have a term, with its weight and place in each."""

    __slots__ = ("dense", "places", "slots", "weights")

    def __init__(self, stored: bytes, size: int) -> None:
        self.dense = len(stored) == 2 * size
        count = size if self.dense else len(stored) // 4
        start = len(stored) - 2 * count
        self.slots = _numbers(stored[:start])
        self.weights = stored[start : start + count]
        self.places = stored[start + count :]


def _numbers(stored: bytes) -> Sequence[int]:
    if _LOW == 0:
        return memoryview(stored).cast("H")
    return [stored[at] | stored[at + 1] << 8 for at in range(0, len(stored), 2)]


_tables: list[bytes | None] = [None] * 256  # a cache


def table(share: float) -> bytes:
    """What each weight adds to a score, for a list that counts with a share of 1 at most."""
    number = int(255 * share + 0.5)
    known = _tables[number]
    if known is None:
        known = _tables[number] = bytes([(weight * number + 127) // 255 for weight in range(256)])
    return known


def closely(lists: Sequence[Postings], slots: Sequence[int]) -> list[list[tuple[int, int, int]]]:
    """For each slot, the lists that hold it: number, weight and place."""
    hits: list[list[tuple[int, int, int]]] = [[] for _ in slots]
    for number, postings in enumerate(lists):
        weights, places, known = postings.weights, postings.places, postings.slots
        if postings.dense:
            for hit, slot in zip(hits, slots, strict=True):
                if weights[slot]:
                    hit.append((number, weights[slot], places[slot]))
            continue
        count = len(known)
        for hit, slot in zip(hits, slots, strict=True):
            at = bisect_left(known, slot)
            if at < count and known[at] == slot:
                hit.append((number, weights[at], places[at]))
    return hits


def best(size: int, lists: Sequence[tuple[float, Postings]], wanted: int) -> list[int]:
    """The slots with the highest scores, best first, then by slot; more than wanted where some are equal."""
    scores = bytearray(2 * size)
    total = 0
    for share, postings in lists:
        if postings.dense:
            scores[_LOW::2] = postings.weights.translate(table(share))
            total += int.from_bytes(scores, sys.byteorder)
    scores[:] = total.to_bytes(2 * size, sys.byteorder)
    cells = memoryview(scores).cast("H")
    for share, postings in lists:
        if not postings.dense:
            added = postings.weights.translate(table(share))
            for slot, more in zip(postings.slots, added, strict=True):
                cells[slot] += more
    chosen = sorted(_top(scores, cells, wanted), key=lambda slot: (-cells[slot], slot))
    if len(chosen) > wanted:
        limit = cells[chosen[wanted - 1]]
        chosen = [slot for slot in chosen[: wanted + MORE] if cells[slot] >= limit]
    return chosen


def _top(scores: bytearray, cells: memoryview, wanted: int) -> list[int]:
    """The wanted slots and some more: all that share the high byte of the last one's score."""
    high = bytes(scores[1 - _LOW :: 2])
    chosen: list[int] = []
    for value in range(255, 0, -1):
        at = high.find(value)
        while at >= 0:
            chosen.append(at)
            at = high.find(value, at + 1)
        if len(chosen) >= wanted:
            return chosen
    return chosen + [slot for slot, score in enumerate(cells) if 0 < score < 256]
