"""What a server says of skills, as JSON: read, checked and bounded."""

from __future__ import annotations

import builtins
import json
from dataclasses import dataclass, field
from typing import Any

from skillc.errors import InvalidSkill, InvalidSkillId, SkillcError
from skillc.library.descriptors import SkillDescriptor, SkillDocument, SkillScope
from skillc.library.http.client import Failure
from skillc.library.source import SourceDiagnostic
from skillc.skills import SkillId
from skillc.text import one_line, utf8_text

MAX_BODY = 1 << 20  # bytes of a skill's body
MAX_ID = 1024  # characters
MAX_TOLD = 100  # diagnostics


@dataclass(slots=True)
class Shelf:
    """The server's list: the skills that can be used, and what there is to say of the others."""

    skills: dict[SkillId, SkillDescriptor] = field(default_factory=dict)
    diagnostics: builtins.list[SourceDiagnostic] = field(default_factory=builtins.list)
    skipped: int = 0


def read_shelf(data: Any) -> Shelf:
    """The list, by ID; an entry that is wrong is left out and told of, the others stay."""
    entries = data.get("skills") if isinstance(data, dict) else None
    if not isinstance(entries, builtins.list):
        raise Failure("the answer has no list of 'skills'")
    shelf = Shelf()
    found: dict[SkillId, SkillDescriptor] = {}
    for number, entry in enumerate(entries):
        try:
            skill = _descriptor(entry, f"skills[{number}]")
            if skill.id in found:
                raise InvalidSkill(skill.id, "listed twice; the first counts")
            found[skill.id] = skill
        except SkillcError as error:
            shelf.skipped += 1
            told = SourceDiagnostic(f"skills[{number}]", error.code, "error", one_line(error.message))
            shelf.diagnostics += [told] if len(shelf.diagnostics) < MAX_TOLD else []
    shelf.skills = {skill_id: found[skill_id] for skill_id in sorted(found)}
    return shelf


def read_document(wanted: SkillId, data: Any) -> SkillDocument:
    try:
        descriptor = _descriptor(data, wanted)
        body = _text(data, "body", wanted)
    except SkillcError as error:
        raise Failure(one_line(error.message)) from None
    if descriptor.id != wanted:
        raise Failure(f"asked for '{wanted}', the answer is another skill")
    if len(body.encode()) > MAX_BODY:
        raise Failure(f"the body of '{wanted}' is over {MAX_BODY >> 20} MiB")
    extensions = data.get("extensions")
    return SkillDocument(descriptor, body, extensions if isinstance(extensions, dict) else {})


def read_words(data: Any) -> dict[str, str]:
    """The collections' descriptions; counts are our own, from the list."""
    entries = data.get("collections") if isinstance(data, dict) else None
    if not isinstance(entries, builtins.list):
        raise Failure("the answer has no list of 'collections'")
    words: dict[str, str] = {}
    for entry in entries:
        known = entry if isinstance(entry, dict) else {}
        path, told = known.get("path"), known.get("description")
        if isinstance(path, str) and isinstance(told, str) and told != f"{known.get('count')} skills":
            words.setdefault(path, utf8_text(told, "replace"))
    return words


def _descriptor(entry: Any, where: str) -> SkillDescriptor:
    """A skill of the wire format; raises InvalidSkill or InvalidSkillId.

    The name is the ID's last segment, whatever the server calls it; a scope that nobody knows is remote.
    """
    if not isinstance(entry, dict):
        raise InvalidSkill(where, "not an object")
    text = _text(entry, "id", where)
    if len(text) > MAX_ID:
        raise InvalidSkillId(f"{text[:64]}…")
    skill_id = SkillId(text)
    _text(entry, "name", where, skill_id.name)
    scope = _text(entry, "scope", where, "remote")
    return SkillDescriptor(
        skill_id,
        description=_text(entry, "description", where),
        scope=SkillScope(scope) if scope in builtins.list(SkillScope) else SkillScope.REMOTE,
        requires_capabilities=_capabilities(entry, where),
        metadata=_metadata(entry, where),
    )


def _text(entry: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = default if entry.get(key) is None else entry[key]
    if value is None:
        raise InvalidSkill(where, f"'{key}' is missing")
    if not isinstance(value, str):
        raise InvalidSkill(where, f"'{key}' is not text")
    return utf8_text(value, "replace")


def _capabilities(entry: dict[str, Any], where: str) -> tuple[str, ...]:
    value = entry.get("requires_capabilities") or []
    if not isinstance(value, builtins.list) or not all(isinstance(item, str) for item in value):
        raise InvalidSkill(where, "'requires_capabilities' is no list of texts")
    return tuple(utf8_text(item, "replace") for item in value)


def _metadata(entry: dict[str, Any], where: str) -> dict[str, str]:
    """Text to text; what is not text is written as JSON, as it is for files."""
    value = entry.get("metadata") or {}
    if not isinstance(value, dict):
        raise InvalidSkill(where, "'metadata' is no object")
    return {
        utf8_text(key, "replace"): utf8_text(
            item if isinstance(item, str) else json.dumps(item, ensure_ascii=False), "replace"
        )
        for key, item in value.items()
    }
