"""Compare a store with its lock: what 'skc install' has to do, and the value that says what it did.

Hooks run 'skc install' each time, and mostly there is nothing to do. So this module loads little, and hashes
are computed anew only for folders that changed: a folder whose files have the same names, sizes and times as
before has the same hashes. What is noted of them is a cache with an entry for each skill of the lock, safe to
delete: ~/.skillc/cache/installed/<hash of the root>.json. `install` is loaded where there is something to do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import time_ns

from skillc import atomic, errors, paths
from skillc.contract import HIDDEN
from skillc.errors import Diagnostic, SkillcError
from skillc.install.entry import LockEntry, compute_hash
from skillc.install.lock import lock_file, read_lock, require_intact, store_folders
from skillc.install.versions import installed_versions
from skillc.skills import digest_files, digest_skill
from skillc.startup import new_sha256

Notes = dict[str, list[object]]


RECENT = (
    2_000_000_000  # nanoseconds; a file that changed so lately may change again within one tick of its clock
)
MAX_BYTES = 64 << 20
LEFT_OUT = ".git"
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
        _write(root, notes)
    return {name: _state(note) for name, note in notes.items()}


def note_deployments(root: str, deployments: Mapping[str, list[str]]) -> None:
    """Note what was deployed from skills, so that it need not be looked up again."""
    notes = _read(root)
    for name, places in deployments.items():
        notes[name] = [*notes.get(name, [""] * HASHES)[:HASHES], sorted(places)]
    _write(root, notes)


def _note(folder: str, last: list[object] | None, executables: Collection[str]) -> list[object]:
    """Return stamp, hashes and deployments of a folder; what can't be told by its stamp has none."""
    stamp, newest = _stamp(folder)
    if last is not None and last[0] == stamp:
        return last
    hashes = _compute(folder, executables)
    is_stable = time_ns() - newest > RECENT and _stamp(folder)[0] == stamp
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


def _stamp(folder: str) -> tuple[str, int]:
    """Return a digest of the names, sizes and times of everything in a folder, and the newest time."""
    lines: list[str] = []
    newest = 0
    stack = [folder]
    while stack:
        directory = stack.pop()
        with os.scandir(directory) as scan:
            entries = sorted(scan, key=_name)
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                if entry.name != LEFT_OUT:
                    stack.append(entry.path)
                continue
            newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
            numbers = status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
            lines.append(f"{numbers} {entry.path[len(folder) :]}")
    whole = new_sha256()
    whole.update("\0".join(lines).encode("utf-8", "surrogateescape"))
    return whole.hexdigest(), newest


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _file(root: str) -> str:
    return os.path.join(
        paths.cache_directory(), "installed", f"{paths.path_hash(os.path.realpath(root))}.json"
    )


def _read(root: str) -> Notes:
    try:
        notes = json.loads(paths.read_regular(_file(root), MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(notes, dict):
        return {}
    is_valid = all(isinstance(note, list) and len(note) == HASHES + 1 for note in notes.values())
    return notes if is_valid else {}


def _write(root: str, notes: Notes) -> None:
    try:
        os.makedirs(os.path.dirname(_file(root)), mode=0o700, exist_ok=True)
        atomic.write(_file(root), json.dumps(notes).encode(), private=True)
    except OSError:
        pass  # a home that can't be written has no cache
