"""The versions that skc installed, as they came: they tell an edit, and an update is merged against them.

    ~/.skillc/versions/<digest>/                  the files of one version of one skill [D64]
    ~/.skillc/installed/<hash of the root>.json   {"root": "/project", "skills": {"pdf": "<digest>"}}

A version is there while a store has it installed. It is checked before it is used; one that is missing or
damaged can be fetched again by its commit. Folders from before, under another hash, are not used; they go
when their skill is installed again.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from skillc import atomic, paths, records
from skillc.errors import InvalidSkill, SkillcError
from skillc.origins import drop_evidence
from skillc.skills import digest_skill, make_folder
from skillc.text import utf8_text

MAX_BYTES = 16 << 20
VERSION = 1  # records from before have neither a version nor a digest inside
UNSEALED = 0
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)  # of a record that can't be read


def keep_version(folder: str, digest: str, executables: Collection[str] = ()) -> str:
    """Keep a copy of a folder that was verified to have this digest, and return the copy.

    Raises InvalidSkill where the folder has other files by now: what was verified and audited is installed.
    """
    last = find_version(digest, executables)
    if last is not None:
        return last
    path = _version(digest)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    atomic.sweep(os.path.dirname(path))
    make_folder(path, copy_of=folder)
    if find_version(digest, executables) is None:
        atomic.discard(path)
        raise InvalidSkill(folder, "it changes while it is read")
    return path


def find_version(digest: str, executables: Collection[str] = ()) -> str | None:
    """Return the folder of a version; None where there is none, or it is not what its name says."""
    path = _version(digest)
    if len(digest) != 64 or not digest.isalnum() or not os.path.isdir(path):
        return None
    try:
        return path if digest_skill(path, executables=executables).digest == digest else None
    except (SkillcError, OSError):
        return None


def installed_versions(root: str) -> dict[str, str]:
    """Return which version of each skill was installed into a store."""
    return _read(_record(root))


def installed_roots() -> list[str]:
    """Return the projects, and the home, whose stores have something installed."""
    try:
        return [root for _, root, _ in list_records() if os.path.isabs(root)]
    except DAMAGE:
        return []


def list_records() -> list[tuple[str, str, set[str]]]:
    """Return of each store the file of its record, its root, and its versions; raises DAMAGE."""
    folder = os.path.dirname(_record(""))
    result = []
    for path in (os.path.join(folder, name) for name in paths.list_names(folder) if name.endswith(".json")):
        record = records.read_record(path, MAX_BYTES, unsealed=UNSEALED)
        result.append((path, str(record["root"]), set(map(str, record["skills"].values()))))
    return result


def note_versions(root: str, versions: dict[str, str], forget: Iterable[str] = ()) -> None:
    """Note what was installed into a store, and drop versions that no store has any more."""
    path = _record(root)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    removals = set(forget)
    with atomic.Lock(paths.mutex_file(path)):
        last = _read(path)
        skills = {name: each for name, each in {**last, **versions}.items() if name not in removals}
        if skills != last:
            note = {"version": VERSION, "root": utf8_text(os.path.realpath(root)), "skills": skills}
            records.write_record(path, note)
    _drop(set(last.values()) - set(skills.values()))


def _drop(versions: set[str]) -> None:
    try:
        used = {digest for _, _, digests in list_records() for digest in digests} if versions else set()
    except DAMAGE:
        return  # the record that can't be read may have them
    for digest in versions - used:
        atomic.discard(_version(digest))
        drop_evidence(digest)


def _version(digest: str) -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "versions", digest)


def _record(root: str) -> str:
    name = paths.path_hash(os.path.realpath(root)) if root else ""
    return os.path.join(paths.require_home(), paths.DIRECTORY, "installed", f"{name}.json")


def _read(path: str) -> dict[str, str]:
    try:
        skills = records.read_record(path, MAX_BYTES, unsealed=UNSEALED)["skills"]
        return {str(name): str(digest) for name, digest in skills.items()}
    except DAMAGE:
        return {}
