"""The rules of the Agent Skills format: its fields and their limits, and which of them a skill breaks.

Reading is lenient and does not insist on them; `skc lint` reports them one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillc.skills.document import Metadata
from skillc.skills.ids import MAX_SEGMENT, is_name

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
TEXT_FIELDS = ("license", "allowed-tools", "compatibility")  # optional, and text
LIMITS = {"name": MAX_SEGMENT, "description": 1024, "compatibility": 500}  # characters
NAME_RULE = f"1 to {MAX_SEGMENT} of a-z, 0-9 and single hyphens between them"

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
