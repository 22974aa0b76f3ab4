"""The same scores as `scoring`, by numpy: for the extra `find`, where that is installed."""

from __future__ import annotations

import numpy

from skillc.library.catalog.scoring import MORE, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillc.library.catalog.scoring import Postings


def best(size: int, lists: Sequence[tuple[float, Postings]], wanted: int) -> list[int]:
    """The slots with the highest scores, as in `scoring`."""
    scores = numpy.zeros(size, numpy.uint16)
    for share, postings in lists:
        added = numpy.frombuffer(postings.weights.translate(table(share)), numpy.uint8)
        if postings.dense:
            scores += added
        else:
            scores[numpy.asarray(postings.slots)] += added
    limit = 1
    if size > wanted:
        limit = max(int(numpy.partition(scores, size - wanted)[size - wanted]), 1)
    chosen = numpy.nonzero(scores >= limit)[0]
    ordered = chosen[numpy.argsort(-scores[chosen].astype(numpy.int32), kind="stable")]
    slots: list[int] = ordered[: wanted + MORE].tolist()
    return slots
