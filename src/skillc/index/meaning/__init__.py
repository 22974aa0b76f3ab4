"""Re-rank search results with a small sentence encoder, where the extra `rerank` is installed."""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.meaning.rerank import find_by_meaning
else:
    __getattr__ = front_door(__name__, {"rerank": "find_by_meaning"})
