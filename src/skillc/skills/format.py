"""The letter of the Agent Skills format, which lenient reading does not insist on."""

from __future__ import annotations

from skillc.skills.ids import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from skillc.skills.document import Metadata

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500


def violations(told: Metadata, directory: str) -> list[str]:
    """What a skill breaks of the format, in words; nothing for one that keeps it."""
    return [*_of_reading(told), *_of_name(told, directory), *_of_fields(told.fields)]


def _of_reading(told: Metadata) -> Iterator[str]:
    for diagnostic in told.diagnostics:
        yield diagnostic.message


def _of_name(told: Metadata, directory: str) -> Iterator[str]:
    if not is_name(told.name):
        yield f"name '{told.name}' is not 1 to 64 of a-z, 0-9 and single hyphens between them"
    if told.name != directory:
        yield f"name '{told.name}' is not the directory's, '{directory}'"
    if len(told.description) > MAX_DESCRIPTION:
        yield f"description has over {MAX_DESCRIPTION} characters"


def _of_fields(fields: dict[str, Any]) -> Iterator[str]:
    unknown = [key for key in fields if key not in FIELDS]
    if unknown:
        yield f"unknown fields: {', '.join(unknown)}"
    for key in ("license", "allowed-tools", "compatibility"):
        if key in fields and not isinstance(fields[key], str):
            yield f"{key} is not text"
    compatibility = fields.get("compatibility")
    if isinstance(compatibility, str) and not 1 <= len(compatibility) <= MAX_COMPATIBILITY:
        yield f"compatibility has not 1 to {MAX_COMPATIBILITY} characters"
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        yield "metadata is not a map of text to text"
