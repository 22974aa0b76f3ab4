"""Re-ranking by a small sentence encoder, where the extra `rerank` is installed."""

from __future__ import annotations
