"""The same scores as `scoring`, by numpy: for the extra `find`, where that is installed."""

from __future__ import annotations

import numpy

from skillc.index.skills.score import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def best(size: int, lists: Sequence[tuple[float, bytes]], wanted: int) -> list[tuple[int, int]]:
    """The slots with the highest scores, as in `scoring`."""
    scores = _rare(size, [pair for pair in lists if len(pair[1]) != size])
    for share, stored in lists:
        if len(stored) == size:
            scores += numpy.frombuffer(stored.translate(table(share)), numpy.uint8)
    chosen = numpy.flatnonzero(scores)
    if len(chosen) > wanted:
        values = scores[chosen]
        chosen = chosen[values >= numpy.partition(values, len(values) - wanted)[len(values) - wanted]]
    values = scores[chosen].astype(numpy.int32)
    ordered = numpy.argsort(-values, kind="stable")[:wanted]
    return list(zip(chosen[ordered].tolist(), values[ordered].tolist(), strict=True))


def _rare(size: int, lists: Sequence[tuple[float, bytes]]) -> numpy.ndarray:
    """The sums of the lists of slots, all at once."""
    counts = [len(stored) // 3 for _, stored in lists]
    slots = b"".join([stored[: 2 * count] for count, (_, stored) in zip(counts, lists, strict=True)])
    added = b"".join(
        [
            stored[2 * count :].translate(table(share))
            for count, (share, stored) in zip(counts, lists, strict=True)
        ]
    )
    sums = numpy.bincount(numpy.frombuffer(slots, "<u2"), numpy.frombuffer(added, numpy.uint8), size)
    return sums.astype(numpy.uint16)
