"""Compare a store with its lock: what 'skc install' has to do, and the value that says what it did.

Hooks run 'skc install' each time, and mostly there is nothing to do. So this module loads little, and hashes
are computed anew only for folders that changed. Notes on them have an entry for each skill of the lock, in
~/.skillc/cache/installed (`notes`). `install` is loaded where there is something to do.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from skillc import errors
from skillc.contract import HIDDEN
from skillc.errors import Diagnostic, SkillcError
from skillc.install.entry import LockEntry, compute_hash
from skillc.install.lock import lock_file, read_lock, require_intact, store_folders
from skillc.install.notes import read_notes, stamp_folder, write_notes
from skillc.install.versions import installed_versions
from skillc.skills import digest_files, digest_skill

Notes = dict[str, list[object]]


KIND = "installed"
HASHES = 4  # values of a note before the deployments: the stamp and three hashes


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

    def preview(self) -> InstallResult:
        """Return what an install would do."""
        additions, same = (sorted(entry.name for entry in group) for group in (self.additions, self.same))
        return InstallResult(additions, same, self.removals, [], [])


@dataclass(frozen=True, slots=True)
class InstallResult:
    """Names of skills, warnings, and the errors of skills that failed."""

    installed: list[str]
    unchanged: list[str]
    removed: list[str]
    diagnostics: list[Diagnostic] = field(metadata=HIDDEN)
    failures: list[SkillcError] = field(metadata=HIDDEN)


def make_plan(root: str, *, frozen: bool = False) -> InstallPlan:
    """Compare a store with its lock; raises InvalidConfiguration without one, LockUnsatisfied for damage."""
    path = lock_file(root)
    if not os.path.lexists(path):
        raise errors.InvalidConfiguration(path, "there is no lock; 'skc add' writes one")
    entries = read_lock(root)
    require_intact(entries.values())
    for name, entry in entries.items() if frozen else ():
        if not entry.is_complete:
            reason = "the lock has no digest of its files; run 'skc install' once, and commit the lock"
            raise errors.LockUnsatisfied(name, reason)
    states = read_states(root, store_folders(root, entries), entries)
    additions = [entry for name, entry in entries.items() if not is_exact(entry, states.get(name))]
    names = {entry.name for entry in additions}
    same = [entry for entry in entries.values() if entry.name not in names]
    return InstallPlan(
        additions,
        same,
        idle=[entry for entry in same if not states[entry.name].is_deployed],
        loose=[entry for entry in same if not entry.is_complete],
        removals=sorted(name for name in installed_versions(root) if name not in entries),
    )


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

    `content` and `digest` are empty for a folder that has none. `deployments` are paths that have to exist.
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


def note_deployments(root: str, deployments: Mapping[str, list[str]]) -> None:
    """Note what was deployed from skills, so that it need not be looked up again."""
    notes = _read(root)
    for name, places in deployments.items():
        notes[name] = [*notes.get(name, [""] * HASHES)[:HASHES], sorted(places)]
    write_notes(KIND, root, notes)


def _note(folder: str, last: list[object] | None, executables: Collection[str]) -> list[object]:
    """Return stamp, hashes and deployments of a folder; what can't be told by its stamp has none."""
    stamp = stamp_folder(folder)
    if stamp and last is not None and last[0] == stamp:
        return last
    hashes = _compute(folder, executables)
    is_stable = stamp and stamp_folder(folder) == stamp
    return [stamp if is_stable else "", *hashes, last[HASHES] if last is not None else None]


def _state(note: list[object]) -> FolderState:
    places = note[HASHES]
    deployments = tuple(map(str, places)) if isinstance(places, list) else None
    content, computed, source = map(str, note[1:HASHES])
    return FolderState(content, computed, source, deployments)


def _compute(folder: str, executables: Collection[str]) -> tuple[str, str, str]:
    try:
        content = digest_skill(folder, executables=executables).digest
        return content, compute_hash(folder), digest_files(folder)
    except SkillcError:  # a link that leaves the folder
        return "", compute_hash(folder), ""


def _read(root: str) -> Notes:
    notes = read_notes(KIND, root)
    is_valid = all(isinstance(note, list) and len(note) == HASHES + 1 for note in notes.values())
    return notes if is_valid else {}
