"""The latest versions as the origins last said, for commands that ask none: a cache of each store.

`outdated` and `update` note what they learn. A note is about the files that were installed then: it says
nothing any more once others are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from skillc.install.notes import read_notes, write_notes

if TYPE_CHECKING:
    from skillc.install.entry import LockEntry

KIND = "latest"
NEW_FILES = "new files"  # the name of a version that has none


@dataclass(frozen=True, slots=True)
class KnownVersion:
    """What an origin had at a time; `name` is empty if that is what is installed."""

    name: str
    time: str


def note_latest(root: str, versions: Iterable[tuple[LockEntry, str]]) -> None:
    """Note the latest version of skills of a store, by its name; an empty one is what is installed."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    last = read_notes(KIND, root)
    notes = {**last, **{entry.name: [_installed(entry), name, now] for entry, name in versions}}
    if notes != last:
        write_notes(KIND, root, notes)


def recall_latest(root: str, entries: Mapping[str, LockEntry]) -> dict[str, KnownVersion]:
    """Return what is known of the latest versions of the skills of a lock."""
    notes = read_notes(KIND, root) if entries else {}
    known: dict[str, KnownVersion] = {}
    for name, note in notes.items():
        if name in entries and isinstance(note, list) and note[:1] == [_installed(entries[name])]:
            known[name] = KnownVersion(*map(str, note[1:3]))
    return known


def _installed(entry: LockEntry) -> str:
    return entry.content or entry.hash
