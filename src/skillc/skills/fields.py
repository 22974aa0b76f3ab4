"""Fields of frontmatter that may be written in several ways."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def read_tags(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the tags in frontmatter: `tags`, and those of `metadata`; as a list, or as text with commas."""
    metadata = fields.get("metadata")
    tags: list[str] = []
    for value in (fields.get("tags"), metadata.get("tags") if isinstance(metadata, Mapping) else None):
        if isinstance(value, str):
            tags += value.strip("[]").split(",")
        elif isinstance(value, list | tuple):
            tags += [str(item) for item in value]
    names = (" ".join(tag.strip(" \"'").split()) for tag in tags)
    return tuple(dict.fromkeys(name for name in names if name))


def read_words(value: Any) -> tuple[str, ...]:
    """Return a list of words, which may be written as one text."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def read_texts(value: Any) -> dict[str, str] | None:
    """Return metadata as text to text: other values become JSON."""
    if not isinstance(value, dict) or not value:
        return None
    if all(isinstance(item, str) for item in value.values()):
        return value
    return {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in value.items()}
