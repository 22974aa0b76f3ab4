"""The versions that skc installed, as they came: they tell an edit, and an update is merged against them.

    ~/.skillc/versions/<computedHash>/            the files of one version of one skill
    ~/.skillc/installed/<hash of the root>.json   {"root": "/project", "skills": {"pdf": "<computedHash>"}}

A version is there while a store has it installed. It is checked before it is used; one that is missing or
damaged can be fetched again by its commit.
"""

from __future__ import annotations

import json
import os

from skillc import atomic, paths
from skillc.install.hash import compute_hash
from skillc.skills import make_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_BYTES = 16 << 20


def keep_version(folder: str) -> str:
    """Keep a copy of a folder, in which links are files; return the `computedHash` of the copy."""
    versions = os.path.dirname(_version(""))
    os.makedirs(versions, mode=0o700, exist_ok=True)
    atomic.sweep(versions)
    temporary = atomic.temporary_path(os.path.join(versions, "new"))
    try:
        make_folder(temporary, copy_of=folder)
        digest = compute_hash(temporary)
        if find_version(digest) is None:
            atomic.replace(temporary, _version(digest))
    finally:
        atomic.discard(temporary)
    return digest


def find_version(digest: str) -> str | None:
    """Return the folder of a version; None where there is none, or it is damaged."""
    path = _version(digest)
    is_intact = (
        len(digest) == 64 and digest.isalnum() and os.path.isdir(path) and compute_hash(path) == digest
    )
    return path if is_intact else None


def installed_versions(root: str) -> dict[str, str]:
    """Return which version of each skill was installed into a store."""
    return _read(_record(root))


def installed_roots() -> list[str]:
    """Return the projects, and the home, whose stores have something installed."""
    folder = os.path.dirname(_record(""))
    try:
        files = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
        contents = [json.loads(paths.read_regular(path, MAX_BYTES)) for path in files]
        roots = [content.get("root") for content in contents if isinstance(content, dict)]
        return [root for root in roots if isinstance(root, str) and os.path.isabs(root)]
    except (OSError, ValueError, RecursionError):
        return []


def note_versions(root: str, versions: dict[str, str], forget: Iterable[str] = ()) -> None:
    """Note what was installed into a store, and drop versions that no store has any more."""
    path = _record(root)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    removals = set(forget)
    with atomic.Lock(paths.mutex_file(path)):
        last = _read(path)
        skills = {name: each for name, each in {**last, **versions}.items() if name not in removals}
        if skills != last:
            note = {"root": os.path.realpath(root), "skills": skills}
            atomic.write(path, json.dumps(note, indent=1).encode("utf-8", "backslashreplace"), durable=True)
    _drop(set(last.values()) - set(skills.values()))


def _drop(versions: set[str]) -> None:
    folder = os.path.dirname(_record(""))
    if versions:
        digests = {each for name in os.listdir(folder) for each in _read(os.path.join(folder, name)).values()}
        for digest in versions - digests:
            atomic.discard(_version(digest))


def _version(digest: str) -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "versions", digest)


def _record(root: str) -> str:
    name = paths.path_hash(os.path.realpath(root)) if root else ""
    return os.path.join(paths.require_home(), paths.DIRECTORY, "installed", f"{name}.json")


def _read(path: str) -> dict[str, str]:
    try:
        skills = json.loads(paths.read_regular(path, MAX_BYTES))["skills"]
        return {str(name): str(digest) for name, digest in skills.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
