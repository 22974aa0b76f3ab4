"""How well each skill of a segment fits: sums of weights over lists, without any library.

Python adds slowly one by one, but it adds numbers of any length at once. A list with a byte for every slot
is one long number with two bytes for each; adding such numbers adds the scores of all skills in a
few microseconds. Lists of slots are added one by one. Scores are whole numbers up to 65,535: the sums of
at most 255 for each list.
"""

from __future__ import annotations

import sys

from skillc.index.skills.postings import slot_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Scorer = Callable[[int, Sequence[tuple[float, bytes]], int], list[tuple[int, int]]]

_LOW = 0 if sys.byteorder == "little" else 1  # where the low byte of two is

_tables: list[bytes | None] = [None] * 256  # a cache


def table(share: float) -> bytes:
    """What each weight adds to a score, for a list that counts with a share of 1 at most: never nothing."""
    number = max(1, int(255 * share + 0.5))
    known = _tables[number]
    if known is None:
        known = _tables[number] = bytes([(weight * number + 254) // 255 for weight in range(256)])
    return known


def best(size: int, lists: Sequence[tuple[float, bytes]], wanted: int) -> list[tuple[int, int]]:
    """The slots with the highest scores, best first, then by slot, each with its score.

    Lists are as they are stored, each with the share that it counts with.
    """
    scores = bytearray(2 * size)
    total = 0
    for share, stored in lists:
        if len(stored) == size:
            scores[_LOW::2] = stored.translate(table(share))
            total += int.from_bytes(scores, sys.byteorder)
    scores[:] = total.to_bytes(2 * size, sys.byteorder)
    cells = memoryview(scores).cast("H")
    for share, stored in lists:
        if len(stored) != size:
            count = len(stored) // 3
            added = stored[2 * count :].translate(table(share))
            for slot, more in zip(slot_numbers(stored[: 2 * count]), added, strict=True):
                cells[slot] += more
    highest = sum([table(share)[255] for share, _ in lists])
    chosen = sorted(
        _top(scores, highest, wanted), key=cells.__getitem__, reverse=True
    )  # equals stay in order
    return [(slot, cells[slot]) for slot in chosen[:wanted]]


def _top(scores: bytearray, highest: int, wanted: int) -> list[int]:
    """The wanted slots and some more: all that share a byte of the last one's score.

    No score is over `highest`.
    """
    high = bytes(scores[1 - _LOW :: 2])
    chosen: list[int] = []
    for value in range(highest >> 8, 0, -1):
        chosen += _places(high, value)
        if len(chosen) >= wanted:
            return chosen
    low = bytes(scores[_LOW::2])
    for value in range(255, 0, -1):
        chosen += [slot for slot in _places(low, value) if not high[slot]]
        if len(chosen) >= wanted:
            break
    return chosen


def _places(data: bytes, value: int) -> list[int]:
    """Where a value stands in some bytes."""
    found = []
    at = data.find(value)
    while at >= 0:
        found.append(at)
        at = data.find(value, at + 1)
    return found
