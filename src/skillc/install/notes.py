"""Notes on what was looked at: caches that save hashing and reading what did not change.

    ~/.skillc/cache/<kind>/<hash of the root>.json

There is a file of each kind for each store, an object that is safe to delete. What a stamp is the same for is
the same: names, sizes, modes and times. A file that changed just now may change again within one tick of its
clock, and is looked at again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from time import time_ns
from typing import Any

from skillc import atomic, paths
from skillc.errors import SkillcError
from skillc.startup import new_sha256

RECENT = 2_000_000_000  # nanoseconds; what changed so lately has no stamp
MAX_BYTES = 64 << 20
LEFT_OUT = ".git"


def read_notes(kind: str, root: str) -> dict[str, Any]:
    """Return the notes of a kind on a store; none where they are missing or damaged."""
    try:
        notes = json.loads(paths.read_regular(_file(kind, root), MAX_BYTES))
    except (OSError, ValueError, RecursionError, SkillcError):  # without a home there are none
        return {}
    return notes if isinstance(notes, dict) else {}


def write_notes(kind: str, root: str, notes: dict[str, Any]) -> None:
    """Replace the notes of a kind on a store; a home that can't be written keeps none."""
    try:
        path = _file(kind, root)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        atomic.write(path, json.dumps(notes).encode(), private=True)
    except (OSError, SkillcError):
        pass


def _file(kind: str, root: str) -> str:
    return os.path.join(paths.cache_directory(), kind, f"{paths.path_hash(os.path.realpath(root))}.json")


def stamp_folder(folder: str) -> str:
    """Return a digest of names, sizes and times of everything in a folder; empty if it changed just now."""
    lines: list[str] = []
    newest = 0
    stack = [folder]
    while stack:
        with os.scandir(stack.pop()) as scan:
            entries = sorted(scan, key=_name)
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                if entry.name != LEFT_OUT:
                    stack.append(entry.path)
                continue
            newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
            lines.append(f"{_numbers(status)} {entry.path[len(folder) :]}")
    if time_ns() - newest <= RECENT:
        return ""
    whole = new_sha256()
    whole.update("\0".join(lines).encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def stamp_files(*files: str) -> str:
    """Return the sizes and times of files; empty if one changed just now, or is not there."""
    try:
        states = [os.stat(path) for path in files]
    except OSError:
        return ""
    newest = max(max(status.st_mtime_ns, status.st_ctime_ns) for status in states)
    return "" if time_ns() - newest <= RECENT else " ".join(str(_numbers(status)) for status in states)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _numbers(status: os.stat_result) -> tuple[int, ...]:
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


class Memo:
    """What was found out about files of one store, by their stamps; a new one reads the notes of its kind.

    It holds an entry for each question that was asked since the last `keep` of all of them. What has no stamp
    counts for this command alone.
    """

    def __init__(self, kind: str, root: str) -> None:
        self._kind, self._root = kind, root
        self._last = read_notes(kind, root)
        self._new: dict[str, Any] = {}

    def find(self, key: str, stamp: str) -> Any:
        """Return what is known for a stamp; None if nothing is."""
        note = self._new.get(key) or (self._last.get(key) if stamp else None)
        if isinstance(note, list) and len(note) == 2 and note[0] == stamp:
            self._new[key] = note
            return note[1]
        return None

    def get(self, key: str, stamp: str, find_out: Callable[[], Any]) -> Any:
        """Return what is known for a stamp, else what is found out now."""
        known = self.find(key, stamp)
        if known is None:
            known = find_out()
            self._new[key] = [stamp, known]
        return known

    def keep(self, *, is_all: bool) -> None:
        """Write what is new; if `is_all` was asked for, forget the rest."""
        new = {key: note for key, note in self._new.items() if note[0]}
        notes = new if is_all else {**self._last, **new}
        if notes != self._last:
            write_notes(self._kind, self._root, notes)
