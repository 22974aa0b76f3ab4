"""The quickest way to score that is installed; all of them give the same results."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.skills.score import Scorer


def scorer() -> Scorer:
    """For who asks more than once: numpy takes longer to import than many searches without it."""
    try:
        from skillc.index.skills.arrays import best
    except ImportError:
        from skillc.index.skills.score import best
    return best
