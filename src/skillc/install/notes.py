"""Notes on what was looked at: caches that save hashing and reading what did not change, and asking origins.

What a stamp is the same for is the same: names, sizes, modes and times. A file that changed just now may
change again within one tick of its clock, and is looked at again. What origins said last (`note_latest`) is
about the files that were installed then, and says nothing any more once others are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time_ns
from typing import TYPE_CHECKING, Any

from skillc.records import read_notes, write_notes
from skillc.startup import new_sha256

if TYPE_CHECKING:
    from skillc.install.entry import LockEntry

RECENT = 2_000_000_000  # nanoseconds; what changed so lately has no stamp
LEFT_OUT = ".git"
LATEST = "latest"  # a kind of notes
NEW_FILES = "new files"  # the name of a version that has none


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
            self.put(key, stamp, known)
        return known

    def put(self, key: str, stamp: str, known: object) -> None:
        self._new[key] = [stamp, known]

    def keep(self, *, is_all: bool) -> None:
        """Write what is new; if `is_all` was asked for, forget the rest."""
        new = {key: note for key, note in self._new.items() if note[0]}
        notes = new if is_all else {**self._last, **new}
        if notes != self._last:
            write_notes(self._kind, self._root, notes)


@dataclass(frozen=True, slots=True)
class KnownVersion:
    """What an origin had at a time; `name` is empty if that is what is installed."""

    name: str
    time: str


def note_latest(root: str, versions: Iterable[tuple[LockEntry, str]]) -> None:
    """Note the latest version of skills of a store, by its name; an empty one is what is installed."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    last = read_notes(LATEST, root)
    notes = {**last, **{entry.name: [_installed(entry), name, now] for entry, name in versions}}
    if notes != last:
        write_notes(LATEST, root, notes)


def recall_latest(root: str, entries: Mapping[str, LockEntry]) -> dict[str, KnownVersion]:
    """Return what is known of the latest versions of the skills of a lock."""
    notes = read_notes(LATEST, root) if entries else {}
    known: dict[str, KnownVersion] = {}
    for name, note in notes.items():
        if name in entries and isinstance(note, list) and note[:1] == [_installed(entries[name])]:
            known[name] = KnownVersion(*map(str, note[1:3]))
    return known


def _installed(entry: LockEntry) -> str:
    return entry.content or entry.hash
