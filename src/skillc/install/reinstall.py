"""Install the skills of a lock that a store does not have, and remove those that left the lock."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from skillc import atomic, paths
from skillc.errors import Diagnostic, SkillcError, unexpected
from skillc.install.entry import LockEntry
from skillc.install.fetch import Fetched, fetch_locked
from skillc.install.lock import change_lock, lock_file
from skillc.install.names import store_folder
from skillc.install.place import check_store, is_edited, publish_entry, put_folder, skill_of
from skillc.install.removal import remove_skill
from skillc.install.restoration import Restoration
from skillc.install.state import note_deployments
from skillc.install.versions import find_version, keep_version, note_versions

REASON = "replaced by 'skc install'"


def reinstall(
    root: str,
    missing: Sequence[LockEntry],
    same: Sequence[LockEntry],
    idle: Sequence[LockEntry],
    gone: Sequence[str],
    *,
    frozen: bool,
) -> Restoration:
    """Install what is `missing`, deploy what is `idle` and remove what is `gone`.

    With `frozen`, the first error is raised before anything changed.
    """
    check_store(root)
    with (
        atomic.Lock(paths.mutex_file(paths.skills_store(root))),
        fetch_locked(os.path.dirname(lock_file(root)), missing) as fetch,
    ):
        failures, diagnostics = list(fetch.failures), list(fetch.diagnostics)
        if frozen and failures:
            raise failures[0]
        installed: list[LockEntry] = []
        for skill in fetch.skills:
            try:
                installed.append(put_version(root, skill, diagnostics, REASON))
            except (SkillcError, OSError) as error:
                failures.append(unexpected(error))
    if not frozen:
        diagnostics += change_lock(root, record=[each for each in installed if each not in missing])
    removed = [name for name in gone if _remove(root, name, diagnostics, failures)]
    note_versions(root, {}, forget=gone)
    publish_entries(root, [*installed, *idle], diagnostics, failures)
    unchanged = sorted(entry.name for entry in same)
    return Restoration(sorted(e.name for e in installed), unchanged, removed, diagnostics, failures)


def put_version(root: str, skill: Fetched, diagnostics: list[Diagnostic], reason: str) -> LockEntry:
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
    root: str, entries: Iterable[LockEntry], diagnostics: list[Diagnostic], failures: list[SkillcError]
) -> None:
    """Build and deploy skills; one that fails does not stop the others."""
    places: dict[str, list[str]] = {}
    for entry in entries:
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
        edited = is_edited(path)
        removal = remove_skill(skill_of(root, name), root, keep_source=not edited)
        diagnostics += removal.diagnostics
        if not edited:
            atomic.discard(path)
        change_lock(root, forget=[name])  # the npm package's global file may still have it
    except (SkillcError, OSError) as error:
        failures.append(unexpected(error))
        return False
    return True
