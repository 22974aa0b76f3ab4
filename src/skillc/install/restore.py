"""Compare a store with its lock, and have it made equal: what 'skc install' does.

With nothing to do it takes the time to look at each file's size and time; what does the work is loaded only
where there is some (`reinstall`).
"""

from __future__ import annotations

import os

from skillc import errors
from skillc.install.lock import lock_file, read_lock
from skillc.install.names import store_folders
from skillc.install.restoration import Plan, Restoration
from skillc.install.state import FolderState, read_states
from skillc.install.versions import installed_versions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from skillc.install.entry import LockEntry


def is_exact(entry: LockEntry, state: FolderState | None) -> bool:
    """Return whether a folder is what the lock says."""
    if state is None or not entry.hash:
        return False
    return state.hash == entry.store_hash and entry.digest in ("", state.digest)


def restore_locked(
    root: str,
    *,
    frozen: bool = False,
    dry_run: bool = False,
    hosts: Iterable[str] = (),
    tell_step: Callable[[str, int], None] = lambda name, total: None,
) -> Restoration:
    """Make the store of a project or the home equal to its lock; `hosts` may be asked besides those it has.

    With `frozen`, what can't be had exactly raises LockUnsatisfied, and nothing has changed then. `tell_step`
    gets the name of each skill that is fetched or built, and the number of all steps.
    """
    path = lock_file(root)
    if not os.path.lexists(path):
        raise errors.InvalidConfiguration(path, "there is no lock; 'skc add' writes one")
    entries = read_lock(root)
    if frozen:
        for name, entry in entries.items():
            if not entry.is_complete:
                raise errors.LockUnsatisfied(name, "the lock does not say which commit; run 'skc install'")
    states = read_states(root, store_folders(root, entries))
    additions = [entry for name, entry in entries.items() if not is_exact(entry, states.get(name))]
    names = {entry.name for entry in additions}
    same = [entry for entry in entries.values() if entry.name not in names]
    idle = [entry for entry in same if not states[entry.name].is_deployed]
    loose = [entry for entry in same if not entry.is_complete]
    removals = sorted(name for name in installed_versions(root) if name not in entries)
    if not (additions or removals or idle or loose) or dry_run:
        return Restoration(sorted(names), sorted(entry.name for entry in same), removals, [], [])
    from skillc.install.reinstall import reinstall  # there is something to do

    return reinstall(
        root, Plan(additions, same, idle, loose, removals), frozen=frozen, hosts=hosts, tell_step=tell_step
    )
