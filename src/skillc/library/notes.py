"""Keep what servers answered last: which skills a repository has, and which versions a registry.

    <home>/.skillc/cache/notes/<key of the repository or registry>.json

Completion reads the notes, because it may ask no server. One that is lost, old or damaged costs an offer and
nothing else, so a note that can't be written is no error, and of two writers the last counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skillc import atomic, paths
from skillc.errors import SkillcError
from skillc.library.copies import copies_folder, evict
from skillc.startup import sha256_hex

if TYPE_CHECKING:
    from skillc.library.config import SkillRepositoryConfig
    from skillc.library.http.api import PublishedVersion

MAX_SKILLS = 10_000  # of a note; what comes after them is left out
MAX_WORDS = 50  # tags, and capabilities, of a skill
MAX_VERSIONS = 100  # of a skill, the newest
MAX_REGISTRIES = 20  # that are recalled
MAX_TEXT = 200  # characters of a word
MAX_BYTES = 8 << 20  # of a note that is read
MAX_AGE = 90 * 24 * 3600.0  # seconds after which a note that was not written again is removed

SkillNote = tuple[str, tuple[str, ...], tuple[str, ...]]  # an ID, its capabilities and its tags


@dataclass(frozen=True, slots=True)
class VersionNote:
    """A version of a skill, as a registry listed it."""

    version: str
    is_yanked: bool = False
    tags: tuple[str, ...] = ()


def note_skills(repository: SkillRepositoryConfig, skills: Iterable[SkillNote]) -> None:
    """Keep the list of a repository's skills."""
    rows = [
        [skill_id, _clip(capabilities), _clip(tags)]
        for _, (skill_id, capabilities, tags) in zip(range(MAX_SKILLS), skills, strict=False)
    ]
    _write(_name_of(repository), {"skills": rows})


def recall_noted(repository: SkillRepositoryConfig) -> list[SkillNote]:
    """Return the skills that a repository had when it was last listed."""
    rows = _read(_name_of(repository)).get("skills")
    return [
        (row[0], _words(row[1]), _words(row[2]))
        for row in (rows if isinstance(rows, list) else ())
        if isinstance(row, list) and len(row) == 3 and isinstance(row[0], str)
    ]


def note_ids(registry: str, ids: Iterable[str]) -> None:
    """Keep the IDs that a registry listed; versions of others that it no longer lists are dropped."""
    known = recall_versions(registry)
    _write_versions(registry, {skill_id: known.get(skill_id, ()) for skill_id in ids})


def note_versions(registry: str, skill_id: str, versions: Iterable[PublishedVersion]) -> None:
    """Keep the versions of a skill, newest first."""
    notes = [VersionNote(each.version, each.yanked is not None, each.tags) for each in versions]
    _write_versions(registry, {skill_id: notes, **_without(recall_versions(registry), skill_id)})


def note_version(
    registry: str, skill_id: str, version: str, tags: Iterable[str] = (), *, is_yanked: bool = False
) -> None:
    """Keep one version that was published, tagged or yanked; a tag is at one version alone."""
    known, new = recall_versions(registry), tuple(tags)
    others = [
        replace(each, tags=tuple(tag for tag in each.tags if tag not in new))
        for each in known.get(skill_id, ())
    ]
    place = next((n for n, each in enumerate(others) if each.version == version), None)
    if place is None:
        others.insert(0, VersionNote(version, is_yanked, new))
    else:
        others[place] = VersionNote(version, is_yanked, (*others[place].tags, *new))
    _write_versions(registry, {skill_id: others, **_without(known, skill_id)})


def recall_versions(registry: str) -> dict[str, list[VersionNote]]:
    """Return the skills that a registry is known to have, the last asked for first, with their versions."""
    skills = _read(_name_of_registry(registry)).get("versions")
    return {
        skill_id: [
            VersionNote(row[0], row[1] is True, _words(row[2]))
            for row in (rows if isinstance(rows, list) else ())
            if isinstance(row, list) and len(row) == 3 and isinstance(row[0], str)
        ]
        for skill_id, rows in (skills.items() if isinstance(skills, dict) else ())
    }


def recall_registries() -> list[str]:
    """Return the registries that there are notes on."""
    try:
        names = sorted(name for name in os.listdir(_folder()) if name.startswith("registry-"))
    except (OSError, SkillcError):
        return []
    registries = [_read(name).get("registry") for name in names[:MAX_REGISTRIES]]
    return [each for each in registries if isinstance(each, str)]


def _without(known: Mapping[str, list[VersionNote]], skill_id: str) -> dict[str, list[VersionNote]]:
    return {each: notes for each, notes in known.items() if each != skill_id}


def _write_versions(registry: str, skills: Mapping[str, Iterable[VersionNote]]) -> None:
    rows = {
        skill_id: [
            [note.version[:MAX_TEXT], note.is_yanked, _clip(note.tags)] for note in [*notes][:MAX_VERSIONS]
        ]
        for skill_id, notes in [*skills.items()][:MAX_SKILLS]
    }
    _write(_name_of_registry(registry), {"registry": registry, "versions": rows})


def _name_of(repository: SkillRepositoryConfig) -> str:
    return f"{os.path.basename(copies_folder(repository))}.json"


def _name_of_registry(registry: str) -> str:
    return f"registry-{sha256_hex(registry.encode('utf-8', 'replace'))[:16]}.json"


def _folder() -> str:
    return os.path.join(paths.cache_directory(), "notes")


def _read(name: str) -> dict[str, Any]:
    try:
        value = json.loads(paths.read_regular(os.path.join(_folder(), name), MAX_BYTES))
    except (OSError, ValueError, RecursionError, SkillcError):
        return {}
    return value if isinstance(value, dict) else {}


def _write(name: str, value: dict[str, Any]) -> None:
    """Write a note that is new, or other than it was."""
    try:
        data = json.dumps(value).encode()
        folder = _folder()
        path = os.path.join(folder, name)
        if len(data) > MAX_BYTES or _is_same(path, data):
            return
        os.makedirs(folder, mode=0o700, exist_ok=True)
        atomic.sweep(folder)
        atomic.write(path, data, private=True)
        evict(folder, {name}, MAX_AGE)
    except (OSError, SkillcError):
        pass  # a disk that is full or read-only, or no home: there is no note then


def _is_same(path: str, data: bytes) -> bool:
    """Return whether a note says this already; it is as good as new then."""
    try:
        same = paths.read_regular(path, MAX_BYTES) == data
        if same:
            os.utime(path)
        return same
    except OSError:
        return False


def _clip(words: Iterable[str]) -> list[str]:
    return [word for word in words if len(word) <= MAX_TEXT][:MAX_WORDS]


def _words(value: object) -> tuple[str, ...]:
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()
