"""Make a store equal to its lock, as 'skc install' does: fetch, verify, audit, put, deploy and remove.

Nothing that the lock says is believed before it was verified: files by their digest [D64], agents by the
table [D63], and blocks of the audit by what this user accepted [D65]. Where another tool dropped what skc had
noted, a skill is resolved again; an entry from before that digest is verified by what it has, and gets one.
What happens to the lock while files are fetched wins: entries are read again before anything is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillc import atomic
from skillc.compiler import check_store
from skillc.errors import Diagnostic, LockUnsatisfied, SkillcError, warning
from skillc.install.audit import admit, admit_locked_signer
from skillc.install.download import Origins, reason_of
from skillc.install.entry import FolderHashes, LockEntry, hash_folder, make_entry
from skillc.install.lock import change_lock, lock_folder, read_lock, skill_of, store_folder
from skillc.install.origin import Candidate
from skillc.install.remove import remove_skill
from skillc.install.state import (
    Outcome,
    TellStep,
    find_version,
    ignore_step,
    installed_versions,
    note_versions,
)
from skillc.install.store import FetchedSkill, check_targets, has_skill, is_edited, publish_entries, put_skill
from skillc.library.records import deployments_by_source, lock_store
from skillc.surface import Steps

if TYPE_CHECKING:
    from skillc.install.install import InstallPlan, InstallResult

REASON = "replaced by 'skc install'"


def apply_plan(
    root: str,
    plan: InstallPlan,
    result: InstallResult,
    steps: Steps,
    *,
    frozen: bool,
    accept: bool,
    hosts: Iterable[str],
) -> None:
    """Install what is missing, complete entries, deploy what is idle and remove what left the lock."""
    check_store(root)
    check_targets(root, (*plan.additions, *plan.idle, *plan.loose))
    total = 2 * len(plan.additions) + len(plan.idle)  # to fetch, and to build

    def tell_step(name: str) -> None:
        steps.step_of(name, total)

    with fetch_entries(lock_folder(root), [*plan.additions, *plan.loose], hosts, tell_step) as fetch:
        _note_failures(plan, fetch, result)
        skills, idle = [], []
        for skill in fetch.skills:
            with result.attempt():
                admit(skill.entry.name, skill.folder, skill.entry.content, accept=accept)
                result.diagnostics.extend(admit_locked_signer(skill.entry, skill.folder, skill.evidence))
                skills.append(skill)
        for entry in plan.idle:
            with result.attempt():
                admit(entry.name, store_folder(root, entry.name), entry.content, accept=accept)
                idle.append(entry)
        if frozen and result.failures:
            raise result.failures[0]
        with lock_store(root):
            entries = _apply(root, plan, skills, result)
            _remove_all(root, plan.removals, result)
    publish_entries(root, [*entries, *idle], result, tell_step)


def _note_failures(plan: InstallPlan, fetch: Fetch, result: InstallResult) -> None:
    """Note what could not be fetched; for a skill that is there, only its digest is missing still."""
    result.diagnostics.extend(fetch.diagnostics)
    names = {entry.name for entry in plan.loose}
    for error in fetch.failures:
        if isinstance(error, LockUnsatisfied) and error.skill in names:
            result.diagnostics.append(warning("W086", error.skill, error.reason))
        else:
            result.failures.append(error)


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
        with result.attempt():
            is_there = has_skill(root, skill.entry)
            result.diagnostics.extend(put_skill(root, skill, REASON, is_there=is_there))
            entries.append(skill.entry)
    entries = _with_targets(root, entries)
    result.diagnostics.extend(change_lock(root, record=[e for e in entries if e != before[e.name]]))
    # Versions may be kept and not noted, because a process was killed between the two.
    notes = installed_versions(root)
    unnoted = [each for each in plan.same if each.content and notes.get(each.name) != each.content]
    kept = [each for each in unnoted if find_version(each.content, each.executables) is not None]
    note_versions(root, {entry.name: entry.content for entry in (*kept, *entries)})
    result.installed.extend(sorted(entry.name for entry in entries if entry.name in additions))
    return [entry for entry in entries if entry.name in additions]


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
        with result.attempt():
            has_edits = is_edited(path)
            removal = remove_skill(skill_of(root, name), root, keep_source=not has_edits, is_locked=True)
            result.diagnostics.extend(removal.diagnostics)
            if removal.item:
                result.diagnostics.append(warning("W007", path, removal.item))
            if not has_edits:
                atomic.discard(path)
            change_lock(root, forget=[name])  # the npm package's global file may still have it
            result.removed.append(name)
    note_versions(root, {}, forget=[name for name in names if name not in now])


@dataclass(slots=True)
class Fetch(Outcome):
    """What was fetched, while it is open."""

    skills: list[FetchedSkill] = field(default_factory=list)


@contextmanager
def fetch_entries(
    base: str, entries: Sequence[LockEntry], hosts: Iterable[str] = (), tell_step: TellStep = ignore_step
) -> Iterator[Fetch]:
    """Give the skills of lock entries, verified; the arguments are those of `Origins`."""
    with Origins(base, hosts, tell_step) as origins:
        fetch = Fetch(origins.diagnostics)
        packages = [entry.name for entry in entries if entry.text("sourceType") == "node_modules"]
        fetch.diagnostics += [warning("W089", name) for name in packages]
        others = [entry for entry in entries if entry.name not in packages]
        for entry, result in origins.open(others, is_exact=True):
            with fetch.attempt():
                if isinstance(result, SkillcError):
                    raise LockUnsatisfied(entry.name, reason_of(result), result.details)
                fetch.skills.append(_verify(base, entry, result, fetch.diagnostics))
        yield fetch


def _verify(base: str, entry: LockEntry, candidate: Candidate, diagnostics: list[Diagnostic]) -> FetchedSkill:
    """Return a skill of a download, if it is what the lock says; raises LockUnsatisfied."""
    diagnostics += candidate.warn_of_yank(entry.name, entry.own_text("version"))
    label = candidate.download.origin.label()
    hashes = hash_folder(candidate.folder, candidate.links, entry.executables)
    if entry.own and not is_locked(entry, candidate, hashes):
        hint = f"hint: 'skc update {entry.name}' takes what is there now"
        raise LockUnsatisfied(entry.name, f"the files in {label} are not those of the lock", hint)
    evidence = candidate.find_evidence()
    if entry.is_complete:
        return FetchedSkill(entry, candidate.folder, label, evidence)
    if entry.own:
        diagnostics.append(warning("W096", entry.name))
    else:
        has_hash = entry.hash or (entry.text("wellKnownDigest") and candidate.digest)
        same = "the files are the same" if has_hash else "it has no hash, so the files may be others"
        if not is_locked(entry, candidate, hashes):
            same = "and they are other files now"
        diagnostics.append(warning("W086", entry.name, same))
    new = make_entry(base, candidate, hashes, last=entry)
    return FetchedSkill(new, candidate.folder, label, evidence)


def is_locked(entry: LockEntry, candidate: Candidate, hashes: FolderHashes) -> bool:
    """Return whether a folder is what the lock says, by all digests that it has."""
    pairs = (
        (entry.content, hashes.content.digest),
        (entry.hash, hashes.computed),
        (entry.digest, hashes.source),
        (entry.own_text("tree"), candidate.tree),
        (entry.text("wellKnownDigest"), candidate.digest),
    )
    return all(locked == actual for locked, actual in pairs if locked and actual)
