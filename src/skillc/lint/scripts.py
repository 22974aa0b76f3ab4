"""Estimate the tokens of a text in any script; `tokens` says how, and does plain ASCII itself."""

from __future__ import annotations

import re

from skillc.index import WIDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_WIDE = "".join(f"{chr(first)}-{chr(last)}" for first, last in WIDE)
# The parts of a text as patterns, and what each costs by its length.
_COSTS: tuple[tuple[str, Callable[[int], int]], ...] = (
    (r"[A-Za-z]+", lambda length: length // 5 if length > 9 else 1),
    (r"[0-9]+", lambda length: (length + 2) // 3),
    (r"[!-/:-@\[-`{-~]+", lambda length: (length + 2) // 3),
    (r"[ \t]*[\r\n]\s*", lambda length: 1),
    (r"[ \t]+", lambda length: 0 if length == 1 else 1),
    (f"[{_WIDE}]+", lambda length: length),
    (r"[^\W\d_]+", lambda length: (length + 2) // 3),
    (r"[\U00010000-\U0010ffff]", lambda length: 2),
    (r".", lambda length: 1),
)
_PARTS = re.compile("|".join(f"({pattern})" for pattern, _ in _COSTS), re.DOTALL)


def estimate_parts(text: str) -> int:
    """Return about how many tokens a text is, part by part."""
    parts = _PARTS.finditer(text)
    return sum(_COSTS[(part.lastindex or 1) - 1][1](part.end() - part.start()) for part in parts)
