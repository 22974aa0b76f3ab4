"""Make a store equal to its lock, as 'skc install' does: fetch, verify, audit, put, deploy and remove.

Nothing that the lock says is believed before it was verified: files by their digest [D64], agents by the
table [D63], and blocks of the audit by what this user accepted [D65]. What happens to the lock while files
are fetched wins: entries are read again before anything is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from skillc import atomic
from skillc.audit import audit_folder, read_policy
from skillc.compiler import check_store
from skillc.errors import LockUnsatisfied, SkillcError, unexpected, warning
from skillc.install.audit import check_blocks
from skillc.install.entry import LockEntry
from skillc.install.fetch import Fetch, fetch_entries
from skillc.install.lock import change_lock, lock_folder, read_lock, skill_of, store_folder
from skillc.install.plan import InstallPlan, InstallResult
from skillc.install.remove import remove_skill
from skillc.install.store import (
    FetchedSkill,
    check_targets,
    has_skill,
    is_edited,
    publish_entries,
    put_skill,
)
from skillc.install.versions import find_version, installed_versions, note_versions
from skillc.library import deployments_by_source, lock_store
from skillc.skills import digest_skill
from skillc.surface import Steps

REASON = "replaced by 'skc install'"


def apply_plan(
    root: str, plan: InstallPlan, steps: Steps, *, frozen: bool, accept: bool, hosts: Iterable[str]
) -> InstallResult:
    """Install what is missing, complete entries, deploy what is idle and remove what left the lock."""
    result = InstallResult([], sorted(entry.name for entry in plan.same), [], [], [])
    check_store(root)
    check_targets(root, (*plan.additions, *plan.idle, *plan.loose))
    total = 2 * len(plan.additions) + len(plan.idle)  # to fetch, and to build

    def tell_step(name: str) -> None:
        steps.step_of(name, total)

    with fetch_entries(lock_folder(root), [*plan.additions, *plan.loose], hosts, tell_step) as fetch:
        _note_failures(plan, fetch, result)
        skills = [skill for skill in fetch.skills if _may_install(skill.entry, skill.folder, accept, result)]
        idle = [e for e in plan.idle if _may_install(e, store_folder(root, e.name), accept, result)]
        if frozen and result.failures:
            raise result.failures[0]
        with lock_store(root):
            entries = _apply(root, plan, skills, result)
            _remove_all(root, plan.removals, result)
    publish_entries(root, [*entries, *idle], result.diagnostics, result.failures, tell_step)
    return result


def _note_failures(plan: InstallPlan, fetch: Fetch, result: InstallResult) -> None:
    """Note what could not be fetched; for a skill that is there, only its digest is missing still."""
    result.diagnostics.extend(fetch.diagnostics)
    names = {entry.name for entry in plan.loose}
    for error in fetch.failures:
        if isinstance(error, LockUnsatisfied) and error.skill in names:
            result.diagnostics.append(warning("W086", error.skill, error.reason))
        else:
            result.failures.append(error)


def _may_install(entry: LockEntry, folder: str, accept: bool, result: InstallResult) -> bool:
    """Return whether the audit lets a skill in, as it does with 'skc add'; note the error if not."""
    try:
        audit = audit_folder(folder, entry.name, policy=read_policy())
        # A lock from before, or of another tool, has no digest that an acceptance could be for.
        digest = entry.content or digest_skill(folder).digest
        check_blocks(entry.name, digest, audit, accept=accept)
    except (SkillcError, OSError) as error:
        result.failures.append(unexpected(error))
        return False
    return True


def _apply(
    root: str, plan: InstallPlan, skills: Sequence[FetchedSkill], result: InstallResult
) -> list[LockEntry]:
    """Put what was fetched into the store; return the entries to deploy. The store is locked."""
    before = {entry.name: entry for entry in (*plan.additions, *plan.loose)}
    additions = {entry.name for entry in plan.additions}
    now = read_lock(root)
    entries: list[LockEntry] = []
    for skill in skills:
        name = skill.entry.name
        if now.get(name) != before[name]:
            result.diagnostics.append(warning("W097", name))
            continue
        if name not in additions and skill.entry.hash != before[name].hash:
            continue  # its origin has other files now; those that are there are as locked
        try:
            is_there = has_skill(root, skill.entry)
            result.diagnostics.extend(put_skill(root, skill, REASON, is_there=is_there))
        except (SkillcError, OSError) as error:
            result.failures.append(unexpected(error))
            continue
        entries.append(skill.entry)
    entries = _with_targets(root, entries)
    result.diagnostics.extend(change_lock(root, record=[e for e in entries if e != before[e.name]]))
    note_versions(root, {entry.name: entry.content for entry in (*_find_unnoted(root, plan.same), *entries)})
    result.installed.extend(sorted(entry.name for entry in entries if entry.name in additions))
    return [entry for entry in entries if entry.name in additions]


def _find_unnoted(root: str, entries: Iterable[LockEntry]) -> list[LockEntry]:
    """Return entries whose versions are kept and not noted, because a process was killed between the two."""
    notes = installed_versions(root)
    others = [each for each in entries if each.content and notes.get(each.name) != each.content]
    return [entry for entry in others if find_version(entry.content, entry.executables) is not None]


def _with_targets(root: str, entries: Iterable[LockEntry]) -> list[LockEntry]:
    """Return entries; those that another tool wrote with the agents that have the skill, if any do."""
    records = deployments_by_source()
    result: list[LockEntry] = []
    for entry in entries:
        own = records.get(skill_of(root, entry.name).source, ())
        names = {each.target for each in own if not (each.is_at_path or entry.has_targets)}
        result.append(entry.with_own(targets=sorted(names)) if names else entry)
    return result


def _remove_all(root: str, names: Sequence[str], result: InstallResult) -> None:
    """Take out skills that left the lock, into the trash if they were edited. The store is locked."""
    now = read_lock(root)
    for name in names:
        path = store_folder(root, name)
        if name in now or not os.path.lexists(path):
            continue
        try:
            has_edits = is_edited(path)
            removal = remove_skill(skill_of(root, name), root, keep_source=not has_edits, is_locked=True)
            result.diagnostics.extend(removal.diagnostics)
            if removal.item:
                result.diagnostics.append(warning("W007", path, removal.item))
            if not has_edits:
                atomic.discard(path)
            change_lock(root, forget=[name])  # the npm package's global file may still have it
            result.removed.append(name)
        except (SkillcError, OSError) as error:
            result.failures.append(unexpected(error))
    note_versions(root, {}, forget=[name for name in names if name not in now])
