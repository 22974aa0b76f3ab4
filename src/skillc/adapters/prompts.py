"""Texts that are the same for every framework: instructions, and messages with references resolved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skillc.engine import BuiltAgent


def joined(*texts: str) -> str:
    """Texts below each other, empty ones left out.

    >>> joined("Be brief.", "", "<available_skills>...")
    'Be brief.\\n\\n<available_skills>...'
    """
    return "\n\n".join(text for text in texts if text)


async def resolved(
    skills: BuiltAgent, content: Any, references: Sequence[str] | None = None
) -> tuple[Any, bool]:
    """A message's content with the `/reference` of its first text resolved, and whether that changed it.

    Content is text, or a list of parts (pictures and the like) where text is plain or in a
    `{"type": "text", "text": ...}` block; what is not text stays as it is.
    """
    if isinstance(content, str):
        text = (await skills.prepare_turn(content, references)).message
        return text, text != content
    parts = list(content or ())
    for place, part in enumerate(parts):
        if isinstance(part, str):
            parts[place], changed = await resolved(skills, part, references)
            return parts, changed
        if isinstance(part, dict) and part.get("type") == "text":
            text, changed = await resolved(skills, part["text"], references)
            parts[place] = {**part, "text": text}
            return parts, changed
    return content, False
