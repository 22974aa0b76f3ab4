"""The fields of the Agent Skills format: how they may be written, their limits, and what a skill breaks.

Reading is lenient and does not insist on the rules; `skc lint` reports them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from skillc.errors import DescriptionToDo
from skillc.skills.document.document import Metadata
from skillc.skills.ids import MAX_SEGMENT, is_name

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
TEXT_FIELDS = ("license", "allowed-tools", "compatibility")  # optional, and text
LIMITS = {"name": MAX_SEGMENT, "description": 1024, "compatibility": 500}  # characters
NAME_RULE = f"1 to {MAX_SEGMENT} of a-z, 0-9 and single hyphens between them"

TO_DO = "TODO: Add skill description"  # of a skill that is new [RFC-0006]

TOOL_FIELDS = ("version", "author", "modes", "read_only", "always_ask", "timeout", "network")
# Every field that skillc reads: the format's, those of executable skills, and the library's.
KNOWN_FIELDS = frozenset((*FIELDS, *TOOL_FIELDS, "requires_capabilities"))


def find_violations(skill: Metadata, directory: str) -> list[str]:
    """Return what a skill breaks of the format, in words; `directory` is its folder's name."""
    messages = [diagnostic.message for diagnostic in skill.diagnostics]
    if not is_name(skill.name):
        messages.append(f"name '{skill.name}' is not {NAME_RULE}")
    if skill.name != directory:
        messages.append(f"name '{skill.name}' is not the directory's, '{directory}'")
    if len(skill.description) > LIMITS["description"]:
        messages.append(f"description has over {LIMITS['description']} characters")
    return [*messages, *_check_fields(skill.fields)]


def require_description(description: str) -> None:
    """Raise DescriptionToDo where an author has not written the description yet."""
    if description.strip() == TO_DO:
        raise DescriptionToDo("description")


def _check_fields(fields: dict[str, Any]) -> Iterator[str]:
    unknown = [key for key in fields if key not in FIELDS]
    if unknown:
        yield f"unknown fields: {', '.join(unknown)}"
    for key in TEXT_FIELDS:
        if key in fields and not isinstance(fields[key], str):
            yield f"{key} is not text"
    compatibility = fields.get("compatibility")
    if isinstance(compatibility, str) and not 1 <= len(compatibility) <= LIMITS["compatibility"]:
        yield f"compatibility has not 1 to {LIMITS['compatibility']} characters"
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        yield "metadata is not a map of text to text"


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
    import json  # few skills have such values, and `lint` needs it for nothing else

    return {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in value.items()}
