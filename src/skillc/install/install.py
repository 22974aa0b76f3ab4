"""Make a store equal to its lock: compare the two, and install what differs. List what is locked, and pin it.

Hooks run 'skc install' each time, and mostly there is nothing to do. So this module loads little; `apply` is
loaded where there is something to do.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillc import errors
from skillc.install.entry import LockEntry
from skillc.install.lock import (
    change_lock,
    find_entries,
    find_root,
    lock_file,
    read_lock,
    require_intact,
    store_folders,
)
from skillc.install.state import Outcome, installed_versions, is_exact, read_states
from skillc.library.records import lock_store

if TYPE_CHECKING:
    from skillc.surface import Here


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


@dataclass(slots=True)
class InstallResult(Outcome):
    """Names of skills."""

    installed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


def install_locked(
    here: Here,
    *,
    is_global: bool = False,
    frozen: bool = False,
    dry_run: bool = False,
    accept_blocks: bool = False,
    hosts: Iterable[str] = (),
) -> InstallResult:
    """Make the store equal to its lock, of the project or else of the home.

    With `frozen`, the first error is raised before anything changed. `accept_blocks` takes what the audit
    blocks, and `hosts` may be asked besides those of the lock.
    """
    root = find_root(here.cwd, is_global=is_global)
    plan = make_plan(root, frozen=frozen)
    if dry_run or plan.is_empty:
        additions, same = (sorted(entry.name for entry in group) for group in (plan.additions, plan.same))
        return InstallResult(installed=additions, unchanged=same, removed=plan.removals)
    from skillc.install.apply import apply_plan  # mostly there is nothing to do

    result = InstallResult(unchanged=sorted(entry.name for entry in plan.same))
    with here.progress.steps(0, "steps") as steps:
        apply_plan(root, plan, result, steps, frozen=frozen, accept=accept_blocks, hosts=hosts)
    here.renew_listings()
    return result


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


@dataclass(frozen=True, slots=True)
class LockedSkill:
    """A skill of a lock, as 'skc lock' lists it."""

    id: str
    source: str
    ref: str | None
    commit: str | None
    pinned: bool


@dataclass(frozen=True, slots=True)
class LockedSkills:
    skills: tuple[LockedSkill, ...]


def list_locked(here: Here, *, is_global: bool = False) -> LockedSkills:
    """Return the skills of the lock with where they come from, sorted by name."""
    root = find_root(here.cwd, is_global=is_global)
    return LockedSkills(
        tuple(
            LockedSkill(
                name, entry.text("source"), entry.text("ref") or None, entry.commit or None, entry.is_pinned
            )
            for name, entry in sorted(read_lock(root).items())
        )
    )


@dataclass(frozen=True, slots=True)
class Pinned:
    """Whether a skill is pinned."""

    id: str
    pinned: bool


@dataclass(frozen=True, slots=True)
class Pins:
    skills: tuple[Pinned, ...]


def set_pins(here: Here, *names: str, is_pinned: bool = True, is_global: bool = False) -> Pins:
    """Keep locked skills at their versions, or let them be updated again; raises SkillNotFound."""
    root = find_root(here.cwd, is_global=is_global)
    with lock_store(root):
        entries = find_entries(root, names, here.cwd)
        require_intact(entries)
        here.tell(change_lock(root, record=[entry.with_own(pinned=is_pinned) for entry in entries]))
    return Pins(tuple(Pinned(entry.name, is_pinned) for entry in entries))
