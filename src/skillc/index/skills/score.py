"""Score the skills of a segment: add up the weights in posting lists, in plain Python.

Python adds slowly one by one, but it adds integers of any length at once. A dense list becomes one long
integer with a byte for each slot; adding such integers adds the scores of all skills in a few microseconds.
Sums that may not fit into a byte go on in two. Sparse lists are added one by one. Scores are integers up to
65,535: at most 255 a list.
"""

from __future__ import annotations

import sys
from operator import add

from skillc.index.skills.postings import decode_slots, read_weights

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LOW = 0 if sys.byteorder == "little" else 1  # where the low byte of two is

_tables: list[bytes | None] = [None] * 256  # a cache


def weight_table(share: float) -> bytes:
    """Return what each weight adds to a score in a list that counts with `share`, 1 at most: never 0."""
    number = max(1, int(255 * share + 0.5))
    table = _tables[number]
    if table is None:
        table = _tables[number] = bytes([(weight * number + 254) // 255 for weight in range(256)])
    return table


def top_slots(
    size: int,
    lists: Sequence[tuple[float, bytes]],
    limit: int,
    ranges: Sequence[tuple[int, int]] | None = None,
    removed: Iterable[int] = (),
) -> list[tuple[int, int]]:
    """Return the slots with the highest scores, best first, equals by slot, each with its score.

    `lists` are posting lists as they are stored, each with the share that it counts with. Slots outside of
    `ranges`, from one to before another, are left out, and `removed` ones.
    """
    scores = _add_dense(size, [(weight_table(share), data) for share, data in lists if len(data) == size])
    cells = memoryview(scores).cast("H")
    for share, data in lists:
        if len(data) != size:
            count = len(data) // 3
            weights = data[2 * count :].translate(weight_table(share))
            for slot, weight in zip(decode_slots(data[: 2 * count]), weights, strict=True):
                cells[slot] += weight
    if ranges is not None:
        inside = bytearray(2 * size)
        for start, end in ranges:
            inside[2 * start : 2 * end] = scores[2 * start : 2 * end]
        scores = inside
        cells = memoryview(scores).cast("H")
    for slot in removed:
        cells[slot] = 0
    highest = sum([weight_table(share)[255] for share, _ in lists])
    slots = sorted(_candidates(scores, highest, limit), key=cells.__getitem__, reverse=True)  # stable
    return [(slot, cells[slot]) for slot in slots[:limit]]


def add_scores(size: int, lists: Sequence[tuple[float, bytes]], scores: dict[int, int]) -> None:
    """Add to the scores of some slots what further lists say."""
    slots = sorted(scores)
    sums = [scores[slot] for slot in slots]
    for share, data in lists:
        sums = [*map(add, sums, read_weights(data, slots, size).translate(weight_table(share)))]
    scores.update(zip(slots, sums, strict=True))


def _add_dense(size: int, lists: Sequence[tuple[bytes, bytes]]) -> bytearray:
    """Return the sums of dense lists, which come after their weight tables: two bytes for each slot."""
    sums, room = [0], 255
    for table, data in lists:
        if table[255] > room:
            sums.append(0)
            room = 255
        sums[-1] += int.from_bytes(data.translate(table), sys.byteorder)
        room -= table[255]
    scores = bytearray(2 * size)
    total = 0
    for number in sums:
        scores[_LOW::2] = number.to_bytes(size, sys.byteorder)
        if len(sums) > 1:
            total += int.from_bytes(scores, sys.byteorder)
    return bytearray(total.to_bytes(2 * size, sys.byteorder)) if total else scores


def _candidates(scores: bytearray, highest: int, limit: int) -> list[int]:
    """Return the `limit` best slots, and all others that share a byte with the last one's score.

    No score is over `highest`.
    """
    high = bytes(scores[1 - _LOW :: 2])
    slots: list[int] = []
    for value in range(highest >> 8, 0, -1):
        slots += _positions(high, value)
        if len(slots) >= limit:
            return slots
    low = bytes(scores[_LOW::2])
    for value in range(255, 0, -1):
        slots += [slot for slot in _positions(low, value) if not high[slot]]
        if len(slots) >= limit:
            break
    return slots


def _positions(data: bytes, value: int) -> list[int]:
    positions = []
    at = data.find(value)
    while at >= 0:
        positions.append(at)
        at = data.find(value, at + 1)
    return positions
