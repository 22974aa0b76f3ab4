"""Install the skills of a lock that a store does not have, and remove those that left the lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from skillc import atomic, paths
from skillc.errors import Diagnostic, LockUnsatisfied, SkillcError, unexpected, warning
from skillc.install.entry import LockEntry
from skillc.install.fetch import FetchedSkill, fetch_entries
from skillc.install.lock import change_lock, lock_file
from skillc.install.names import store_folder
from skillc.install.place import check_store, is_edited, publish_entry, put_folder, skill_of
from skillc.install.removal import remove_skill
from skillc.install.restoration import Plan, Restoration
from skillc.install.state import note_deployments
from skillc.install.versions import find_version, keep_version, note_versions
from skillc.library import read_deployments

REASON = "replaced by 'skc install'"


def reinstall(
    root: str,
    plan: Plan,
    *,
    frozen: bool,
    hosts: Iterable[str] = (),
    tell_step: Callable[[str, int], None] = lambda name, total: None,
) -> Restoration:
    """Install what is missing, complete entries, deploy what is idle and remove what left the lock.

    With `frozen`, the first error is raised before anything changed.
    """
    check_store(root)
    base = os.path.dirname(lock_file(root))
    total = 2 * len(plan.additions) + len(plan.idle)  # to fetch, and to build

    def tell(name: str) -> None:
        tell_step(name, total)

    with (
        atomic.Lock(paths.mutex_file(paths.skills_store(root))),
        fetch_entries(base, plan.additions, hosts, tell) as fetch,
    ):
        failures, diagnostics = list(fetch.failures), list(fetch.diagnostics)
        if frozen and failures:
            raise failures[0]
        entries: list[LockEntry] = []
        for skill in fetch.skills:
            try:
                entries.append(put_version(root, skill, diagnostics, REASON))
            except (SkillcError, OSError) as error:
                failures.append(unexpected(error))
    if not frozen:
        complete = _complete(root, base, plan.loose, diagnostics, hosts)
        diagnostics += change_lock(root, record=[e for e in entries if e not in plan.additions] + complete)
    removals = [name for name in plan.removals if _remove(root, name, diagnostics, failures)]
    note_versions(root, {}, forget=plan.removals)
    publish_entries(root, [*entries, *plan.idle], diagnostics, failures, tell)
    names = sorted(entry.name for entry in plan.same)
    return Restoration(sorted(e.name for e in entries), names, removals, diagnostics, failures)


def _complete(
    root: str,
    base: str,
    entries: Sequence[LockEntry],
    diagnostics: list[Diagnostic],
    hosts: Iterable[str],
) -> list[LockEntry]:
    """Return entries of another tool with what is ours, as far as their origins still have the same files."""
    complete: list[LockEntry] = []
    with fetch_entries(base, entries, hosts) as fetch:
        diagnostics += fetch.diagnostics
        diagnostics += [
            warning("W086", e.skill, e.reason) for e in fetch.failures if isinstance(e, LockUnsatisfied)
        ]
        for skill in fetch.skills:
            old = next(entry for entry in entries if entry.name == skill.entry.name)
            if skill.entry.hash == old.hash:
                version = keep_version(store_folder(root, old.name))
                note_versions(root, {old.name: version})
                targets = old.targets or _find_targets(root, old.name)
                complete.append(skill.entry.with_store_hash(version).with_own(targets=targets))
    return complete


def _find_targets(root: str, name: str) -> list[str]:
    """Return the agents that a skill is deployed to."""
    source = skill_of(root, name).source
    return sorted({record.target for record in read_deployments() if record.source == source})


def put_version(root: str, skill: FetchedSkill, diagnostics: list[Diagnostic], reason: str) -> LockEntry:
    """Put a skill that was fetched into the store, note its version, and return its entry."""
    version = keep_version(skill.folder)
    entry = skill.entry.with_store_hash(version)
    folder = find_version(version) or skill.folder
    diagnostics += put_folder(
        root, entry.name, folder, origin=skill.label, digest=entry.digest, reason=reason
    )
    note_versions(root, {entry.name: version})
    return entry


def publish_entries(
    root: str,
    entries: Iterable[LockEntry],
    diagnostics: list[Diagnostic],
    failures: list[SkillcError],
    tell_step: Callable[[str], None] = lambda name: None,
) -> None:
    """Build and deploy skills; one that fails does not stop the others."""
    places: dict[str, list[str]] = {}
    for entry in entries:
        tell_step(entry.name)
        try:
            places[entry.name], warnings, errors = publish_entry(root, entry)
        except (SkillcError, OSError) as error:
            failures.append(unexpected(error))
            continue
        diagnostics += warnings
        failures += errors
    note_deployments(root, places)


def _remove(root: str, name: str, diagnostics: list[Diagnostic], failures: list[SkillcError]) -> bool:
    """Take a skill out that left the lock: into the trash if it was edited; return whether it was there."""
    path = store_folder(root, name)
    if not os.path.lexists(path):
        return False
    try:
        has_edits = is_edited(path)
        removal = remove_skill(skill_of(root, name), root, keep_source=not has_edits)
        diagnostics += removal.diagnostics
        if removal.item:
            diagnostics.append(warning("W007", path, removal.item))
        if not has_edits:
            atomic.discard(path)
        change_lock(root, forget=[name])  # the npm package's global file may still have it
    except (SkillcError, OSError) as error:
        failures.append(unexpected(error))
        return False
    return True
