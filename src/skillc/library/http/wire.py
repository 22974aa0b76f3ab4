"""The wire format of the Skills API: skills as JSON, checked and bounded."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from skillc.errors import InvalidSkill, InvalidSkillId, SkillcError
from skillc.library.source import SkillDescriptor, SkillDocument, SkillScope, SourceDiagnostic
from skillc.remotes import Failure
from skillc.skills import SkillId
from skillc.text import one_line, utf8_text

MAX_BODY = 1 << 20  # bytes of a skill's body
MAX_ID = 1024  # characters
MAX_DIAGNOSTICS = 100


@dataclass(slots=True)
class Listing:
    """The server's list: the usable skills by ID, and diagnostics about the entries that were skipped."""

    skills: dict[SkillId, SkillDescriptor] = field(default_factory=dict)
    diagnostics: list[SourceDiagnostic] = field(default_factory=list)
    skipped: int = 0


def read_listing(data: Any) -> Listing:
    """Read the list of skills; skip invalid entries with a diagnostic."""
    entries = data.get("skills") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise Failure("the answer has no list of 'skills'")
    listing = Listing()
    for number, entry in enumerate(entries):
        where = f"skills[{number}]"
        try:
            skill = _read_descriptor(entry, where)
            if skill.id in listing.skills:
                raise InvalidSkill(skill.id, "listed twice; the first counts")
            listing.skills[skill.id] = skill
        except SkillcError as error:
            listing.skipped += 1
            if listing.skipped <= MAX_DIAGNOSTICS:
                diagnostic = SourceDiagnostic(where, error.code, "error", one_line(error.message))
                listing.diagnostics.append(diagnostic)
    listing.skills = dict(sorted(listing.skills.items()))
    return listing


def read_document(skill_id: SkillId, data: Any) -> SkillDocument:
    try:
        descriptor = _read_descriptor(data, skill_id)
        body = _read_text(data, "body", skill_id)
    except SkillcError as error:
        raise Failure(one_line(error.message)) from None
    if descriptor.id != skill_id:
        raise Failure(f"asked for '{skill_id}', the answer is another skill")
    if len(body.encode()) > MAX_BODY:
        raise Failure(f"the body of '{skill_id}' is over {MAX_BODY >> 20} MiB")
    extensions = data.get("extensions")
    return SkillDocument(descriptor, body, extensions if isinstance(extensions, dict) else {})


def read_collections(data: Any) -> dict[str, str]:
    """Return the collections' descriptions by path; counts come from the list of skills."""
    entries = data.get("collections") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise Failure("the answer has no list of 'collections'")
    descriptions: dict[str, str] = {}
    for entry in entries:
        fields = entry if isinstance(entry, dict) else {}
        path, text = fields.get("path"), fields.get("description")
        if isinstance(path, str) and isinstance(text, str) and text != f"{fields.get('count')} skills":
            descriptions.setdefault(path, utf8_text(text, "replace"))
    return descriptions


def _read_descriptor(entry: Any, where: str) -> SkillDescriptor:
    """Read a skill; raise InvalidSkill or InvalidSkillId.

    The name is the ID's last segment, whatever the server calls it; an unknown scope is remote.
    """
    if not isinstance(entry, dict):
        raise InvalidSkill(where, "not an object")
    text = _read_text(entry, "id", where)
    if len(text) > MAX_ID:
        raise InvalidSkillId(f"{text[:64]}…")
    skill_id = SkillId(text)
    _read_text(entry, "name", where, skill_id.name)
    scope = _read_text(entry, "scope", where, "remote")
    capabilities = entry.get("requires_capabilities") or []
    if not isinstance(capabilities, list) or not all(isinstance(item, str) for item in capabilities):
        raise InvalidSkill(where, "'requires_capabilities' is no list of texts")
    return SkillDescriptor(
        skill_id,
        description=_read_text(entry, "description", where),
        scope=SkillScope(scope) if scope in list(SkillScope) else SkillScope.REMOTE,
        requires_capabilities=tuple(utf8_text(item, "replace") for item in capabilities),
        metadata=_read_metadata(entry, where),
    )


def _read_text(entry: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = default if entry.get(key) is None else entry[key]
    if value is None:
        raise InvalidSkill(where, f"'{key}' is missing")
    if not isinstance(value, str):
        raise InvalidSkill(where, f"'{key}' is not text")
    return utf8_text(value, "replace")


def _read_metadata(entry: dict[str, Any], where: str) -> dict[str, str]:
    """Return text to text; other values are written as JSON, as they are for files."""
    metadata = entry.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InvalidSkill(where, "'metadata' is no object")
    texts = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in metadata.items()}
    return {utf8_text(key, "replace"): utf8_text(text, "replace") for key, text in texts.items()}
