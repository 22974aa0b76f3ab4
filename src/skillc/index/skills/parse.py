"""Parse one SKILL.md into the values of the skill index, and its text where it is to be searched.

They are plain values, because they may come from a worker process.
"""

from __future__ import annotations

import os

from skillc.errors import MissingField, warning
from skillc.index.stamps import UNSETTLED, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.index.skills.scan import DiagnosticRow
    from skillc.index.skills.weights import SkillText
    from skillc.index.stamps import Stamp
    from skillc.skills import Document, Metadata

    # Stamp, description, capabilities, metadata, diagnostics, digest: the last arguments of an Entry.
    Values = tuple[
        Stamp, str | None, tuple[str, ...], dict[str, str] | None, tuple[DiagnosticRow, ...], int | None
    ]

MAX_SKILL_FILE = 1 << 20  # bytes; a larger SKILL.md is quarantined


def parse_skill_file(
    path: str, skill_id: str, strict: bool, with_text: bool
) -> tuple[Values, SkillText | None]:
    """Return what a SKILL.md says and, `with_text`, its text for searching.

    A file that can't be used has no description, and its diagnostics say why.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            stamp = stamp_of(os.fstat(file.fileno()))
            raw = file.read(MAX_SKILL_FILE + 1)
    except OSError as error:
        problem = f"SKILL.md cannot be read: {error.strerror}"
        return _quarantine((0, UNSETTLED, 0), [("E010", "error", problem)])
    if len(raw) > MAX_SKILL_FILE:
        problem = f"SKILL.md is over {MAX_SKILL_FILE >> 20} MiB"
        return _quarantine(stamp, [("E010", "error", problem)])
    return _parse(path, skill_id, stamp, raw, strict, with_text)


def _quarantine(stamp: Stamp, diagnostics: list[DiagnosticRow]) -> tuple[Values, None]:
    return (stamp, None, (), None, tuple(diagnostics), None), None


def _parse(
    path: str, skill_id: str, stamp: Stamp, raw: bytes, strict: bool, with_text: bool
) -> tuple[Values, SkillText | None]:
    from skillc.skills import parse, read_metadata  # only where a file changed

    document = parse(raw)
    directory = os.path.basename(os.path.dirname(path))
    try:
        fields = read_metadata(document, directory)
    except MissingField as error:
        warnings = [(d.code, "warning", d.message) for d in error.diagnostics]
        return _quarantine(stamp, [*warnings, (error.code, "error", error.message)])
    diagnostics = [(d.code, "warning", d.message) for d in fields.diagnostics]
    if fields.name != skill_id.rpartition("/")[2]:
        mismatch = warning("W021", fields.name, directory)
        diagnostics.append((mismatch.code, "warning", mismatch.message))
    if strict:
        from skillc.skills import find_violations

        problems = find_violations(fields, directory)
        if problems:
            message = f"breaks the Agent Skills format: {'; '.join(problems)}"
            return _quarantine(stamp, [*diagnostics, ("E010", "error", message)])
    text = _text(document, raw, skill_id, fields) if with_text else None
    values = (
        stamp,
        fields.description.strip(),
        _words(fields.fields.get("requires_capabilities")),
        _text_map(fields.fields.get("metadata")),
        tuple(diagnostics),
        text.digest if text else None,
    )
    return values, text


def _text(document: Document, raw: bytes, skill_id: str, fields: Metadata) -> SkillText:
    from hashlib import blake2b

    from skillc.index.skills.weights import SkillText

    name = skill_id.rpartition("/")[2]
    names = name if fields.name == name else f"{name} {fields.name}"
    digest = int.from_bytes(blake2b(raw, digest_size=7).digest(), "big")
    return SkillText(names, fields.description, document.data[document.body :], digest)


def _words(value: Any) -> tuple[str, ...]:
    """Return a list of words in frontmatter, which may be written as one text."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _text_map(value: Any) -> dict[str, str] | None:
    """Return metadata as text to text: other values become JSON."""
    if not isinstance(value, dict) or not value:
        return None
    if all(isinstance(item, str) for item in value.values()):
        return value
    import json

    return {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in value.items()}
