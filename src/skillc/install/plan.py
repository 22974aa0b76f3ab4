"""What a store has of its lock: the folders, hashed anew only where they changed, and what is to be done.

Notes on the folders have an entry for each skill of the lock, in ~/.skillc/cache/installed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from skillc.contract import HIDDEN
from skillc.errors import Diagnostic, SkillcError
from skillc.install.entry import LockEntry, compute_hash
from skillc.install.notes import stamp_folder
from skillc.records import read_notes, write_notes
from skillc.skills import digest_files, digest_skill

Notes = dict[str, list[object]]


KIND = "installed"
HASHES = 4  # values of a note before the deployments: the stamp and three hashes
VALUES = HASHES + 2  # and the digest of what was deployed, and where


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """Entries of a lock: `additions` to the store, the `same` there, of these the `idle` and the `loose`.

    What is idle is not deployed; what is loose has no digest of ours, because another tool or an older skc
    wrote its entry. `removals` are names of skills that left the lock.
    """

    additions: list[LockEntry]
    same: list[LockEntry]
    idle: list[LockEntry]
    loose: list[LockEntry]
    removals: list[str]

    @property
    def is_empty(self) -> bool:
        return not (self.additions or self.idle or self.loose or self.removals)


@dataclass(frozen=True, slots=True)
class InstallResult:
    """Names of skills, warnings, and the errors of skills that failed."""

    installed: list[str]
    unchanged: list[str]
    removed: list[str]
    diagnostics: list[Diagnostic] = field(metadata=HIDDEN)
    failures: list[SkillcError] = field(metadata=HIDDEN)


def is_exact(entry: LockEntry, state: FolderState | None) -> bool:
    """Return whether a folder is what the lock says; by weaker hashes where that has no digest [D64]."""
    if state is None:
        return False
    if entry.content:
        return state.content == entry.content
    return bool(entry.hash) and state.hash == entry.installed_hash and entry.digest in ("", state.digest)


@dataclass(frozen=True, slots=True)
class FolderState:
    """A skill's folder: the digest of its content, its weaker hashes, and what was deployed from it.

    `content` and `digest` are empty for a folder that has none. `deployments` are paths that have to exist;
    None where nothing was deployed, or other files: a pull may change a store and its lock together.
    """

    content: str
    hash: str
    digest: str
    deployments: tuple[str, ...] | None = None

    @property
    def is_deployed(self) -> bool:
        return self.deployments is not None and all(map(os.path.lexists, self.deployments))


def read_states(
    root: str, folders: Mapping[str, str], entries: Mapping[str, LockEntry]
) -> dict[str, FolderState]:
    """Return the state of each folder that is there, by name; `entries` are those of the lock."""
    last = _read(root)
    notes: Notes = {}
    for name, folder in folders.items():
        if os.path.isdir(folder):
            with suppress(FileNotFoundError):  # another command takes it out just now
                notes[name] = _note(folder, last.get(name), entries[name].executables)
    if notes != last:
        write_notes(KIND, root, notes)
    return {name: _state(note) for name, note in notes.items()}


def note_deployments(root: str, deployments: Mapping[str, tuple[str, list[str]]]) -> None:
    """Note the digest of what was deployed from skills, and where, so that it need not be looked up again."""
    notes = _read(root)
    for name, (digest, places) in deployments.items():
        notes[name] = [*notes.get(name, [""] * HASHES)[:HASHES], digest, sorted(places)]
    write_notes(KIND, root, notes)


def _note(folder: str, last: list[object] | None, executables: Collection[str]) -> list[object]:
    """Return stamp, hashes and deployments of a folder; what can't be told by its stamp has none."""
    stamp = stamp_folder(folder)
    if stamp and last is not None and last[0] == stamp:
        return last
    hashes = _compute(folder, executables)
    is_stable = stamp and stamp_folder(folder) == stamp
    return [stamp if is_stable else "", *hashes, *(last[HASHES:] if last is not None else ("", None))]


def _state(note: list[object]) -> FolderState:
    content, computed, source, deployed = [str(each) for each in note[1 : HASHES + 1]]
    places = note[HASHES + 1]
    deployments = None
    if isinstance(places, list) and content == deployed:
        deployments = tuple(map(str, places))
    return FolderState(content, computed, source, deployments)


def _compute(folder: str, executables: Collection[str]) -> tuple[str, str, str]:
    try:
        content = digest_skill(folder, executables=executables).digest
        return content, compute_hash(folder), digest_files(folder)
    except SkillcError:  # a link that leaves the folder
        return "", compute_hash(folder), ""


def _read(root: str) -> Notes:
    notes = read_notes(KIND, root)
    is_valid = all(isinstance(note, list) and len(note) == VALUES for note in notes.values())
    return notes if is_valid else {}
