"""Compare a store with its lock: what an install has to do, and the value that says what it did.

That takes the time to look at each file's size and time: hooks run 'skc install' each time, and mostly there
is nothing to do. `install` is loaded where there is something.
"""

from __future__ import annotations

import os

from skillc import errors
from skillc.install.lock import lock_file, read_lock, require_intact
from skillc.install.names import store_folders
from skillc.install.state import read_states
from skillc.install.versions import installed_versions
from skillc.startup import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.errors import Diagnostic, SkillcError
    from skillc.install.entry import LockEntry
    from skillc.install.state import FolderState


@value
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


@value
class InstallResult:
    """Names of skills, warnings, and the errors of skills that failed."""

    installed: list[str]
    unchanged: list[str]
    removed: list[str]
    diagnostics: list[Diagnostic]
    failures: list[SkillcError]

    def as_json(self) -> dict[str, Any]:
        return {"installed": self.installed, "unchanged": self.unchanged, "removed": self.removed}


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
    installed = entry.own_text("installed") or entry.hash  # another one where links became files
    return bool(entry.hash) and state.hash == installed and entry.digest in ("", state.digest)
