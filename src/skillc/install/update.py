"""Bring locked skills up to date: say what changes, merge your edits, never lose one.

The new version is merged with yours against the version that was installed, which is kept in the home, or
else fetched by its commit. What was in the store before goes to the trash if it held an edit.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import unified_diff
from typing import Any

from skillc import atomic, paths
from skillc.audit import BLOCK, VERSION as RULES_VERSION, Audit, Changes, audit_folder, compare_audits
from skillc.errors import (
    AuditBlocked,
    Diagnostic,
    LockUnsatisfied,
    MergeConflict,
    SkillcError,
    unexpected,
    warning,
)
from skillc.install.entry import LockEntry, make_entry
from skillc.install.fetch import fetch_entries
from skillc.install.hash import compute_hash
from skillc.install.latest import Latest, find_latest
from skillc.install.lock import change_lock, lock_file
from skillc.install.merge import Merge, is_text, merge_trees, read_tree
from skillc.install.names import store_folder
from skillc.install.place import check_store, keep_in_trash, put_folder
from skillc.install.reinstall import publish_entries
from skillc.install.versions import find_version, keep_version, note_versions
from skillc.quotes import shell_quote
from skillc.skills import digest_files

REASON = "the version before 'skc update'"
MAX_DIFF = 1 << 20  # bytes of a file whose diff is shown


@dataclass(frozen=True, slots=True)
class Update:
    """An update of one skill: what changes in its files and in what it asks for, and the conflicts."""

    latest: Latest
    files: tuple[tuple[str, str], ...]  # of the new version: added, changed or removed, and the name
    asks: Changes
    blocks: tuple[str, ...]  # rules of findings that block and that were not accepted before
    conflicts: tuple[str, ...] = ()
    diff: str = ""

    @property
    def name(self) -> str:
        return self.latest.entry.name

    def as_json(self) -> dict[str, Any]:
        return {
            **self.latest.as_json(),
            "files": [{"file": name, "change": change} for change, name in self.files],
            "asks": self.asks.as_json(),
            "conflicts": list(self.conflicts),
            **({"diff": self.diff} if self.diff else {}),
        }


@dataclass(slots=True)
class Updates:
    """What an update of several skills did: those that changed, and what failed."""

    skills: list[Update] = field(default_factory=list)
    unchanged: list[Latest] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    failures: list[SkillcError] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        same = [latest.as_json() for latest in self.unchanged]
        return {"skills": [update.as_json() for update in self.skills] + same}


def list_latest(
    root: str,
    entries: Sequence[LockEntry],
    *,
    min_age: int = 0,
    hosts: Iterable[str] = (),
    tell_step: Callable[[str], None] = lambda name: None,
) -> Updates:
    """Return which skills have a newer version, without fetching its files."""
    result = Updates()
    base = os.path.dirname(lock_file(root))
    with find_latest(
        base, entries, result.diagnostics, min_age=min_age, hosts=hosts, tell_step=tell_step
    ) as versions:
        result.unchanged = [_with_edits(root, latest) for latest in versions]
    return result


def update_locked(
    root: str,
    entries: Sequence[LockEntry],
    *,
    min_age: int = 0,
    with_diff: bool = False,
    dry_run: bool = False,
    accept: bool = False,
    hosts: Iterable[str] = (),
    tell_step: Callable[[str], None] = lambda name: None,
) -> Updates:
    """Update skills of a lock; a skill that fails does not stop the others.

    `hosts` may be asked besides those of the lock. One whose audit has a new finding that blocks is
    AuditBlocked, unless `accept`. A conflict is MergeConflict: the update is there, with marks, and the old
    version in the trash.
    """
    result = Updates()
    base = os.path.dirname(lock_file(root))
    check_store(root)
    free = [entry for entry in entries if not entry.is_pinned]
    for entry in entries:
        if entry.is_pinned:
            reason = f"it is pinned; 'skc unpin {shell_quote(entry.name)}' lets it be updated"
            result.diagnostics.append(warning("W088", entry.name, reason))
    with (
        atomic.Lock(paths.mutex_file(paths.skills_store(root))),
        find_latest(
            base, free, result.diagnostics, min_age=min_age, hosts=hosts, tell_step=tell_step
        ) as versions,
    ):
        complete: list[LockEntry] = []
        for latest in versions:
            latest = _with_edits(root, latest)
            if not latest.is_changed:
                result.unchanged.append(latest)
                continue
            try:
                latest.download.complete([latest.candidate])
                update, entry = _update(root, latest, result, with_diff, dry_run, accept)
            except (SkillcError, OSError) as error:
                result.failures.append(unexpected(error))
                continue
            result.skills.append(update)
            if dry_run:
                continue
            if update.conflicts:
                result.failures.append(_conflict(root, update))
            else:
                complete.append(entry)
    publish_entries(root, complete, result.diagnostics, result.failures)
    return result


def _with_edits(root: str, latest: Latest) -> Latest:
    """Return the same with whether the skill in the store differs from what was installed."""
    folder = store_folder(root, latest.entry.name)
    has_edits = os.path.isdir(folder) and compute_hash(folder) != latest.entry.store_hash
    return replace(latest, is_edited=has_edits)


def _conflict(root: str, update: Update) -> MergeConflict:
    error = MergeConflict(update.name, *update.conflicts)
    folder = store_folder(root, update.name)
    error.details = (
        f"hint: edit the files in {folder}, then run 'skc build {shell_quote(update.name)}'; your version"
        " from before the update is in the trash"
    )
    return error


def _update(
    root: str, latest: Latest, result: Updates, with_diff: bool, dry_run: bool, accept: bool
) -> tuple[Update, LockEntry]:
    entry, new = latest.entry, latest.candidate.folder
    with _open_base(root, latest) as base:
        audit = audit_folder(new, entry.name)
        before = audit_folder(base, entry.name) if base else Audit(entry.name, "")
        asks = compare_audits(before, audit)
        blocks = _new_blocks(entry, audit)
        merge = _merge(store_folder(root, entry.name), base, new) if latest.is_edited and base else None
        conflicts = merge.conflicts if merge else ()
        diff = _diff(base, new) if with_diff and base else ""
        update = Update(latest, _list_files(base, new), asks, blocks, conflicts, diff)
        if blocks and not accept:
            hint = f"hint: 'skc update {shell_quote(entry.name)} --yes' takes it all the same"
            raise AuditBlocked(entry.name, f"the new version has findings of {', '.join(blocks)}", hint)
        return update, entry if dry_run else _apply(root, latest, audit, blocks, merge, result)


def _new_blocks(entry: LockEntry, audit: Audit) -> tuple[str, ...]:
    """Return the rules whose findings block, without those that were accepted for this skill."""
    rules = {finding.rule.id for finding in audit.findings if finding.level == BLOCK}
    return tuple(sorted(rules - _accepted_rules(entry)))


@contextmanager
def _open_base(root: str, latest: Latest) -> Iterator[str]:
    """Give the folder of the version that was installed; an empty text if it is gone and not needed."""
    entry = latest.entry
    version, hosts = find_version(entry.store_hash), latest.download.origin.hosts
    if version is not None:
        yield version
        return
    with fetch_entries(os.path.dirname(lock_file(root)), [entry] if entry.commit else [], hosts) as fetch:
        if not fetch.skills and latest.is_edited:
            reason = "it was edited, and the version that was installed can't be had any more"
            hint = f"hint: move {store_folder(root, entry.name)} away, run the update, and edit it again"
            raise LockUnsatisfied(entry.name, reason, hint)
        yield fetch.skills[0].folder if fetch.skills else ""


def _merge(folder: str, base: str, new: str) -> Merge:
    return merge_trees(read_tree(base), read_tree(folder), read_tree(new))


def _apply(
    root: str, latest: Latest, audit: Audit, blocks: tuple[str, ...], merge: Merge | None, result: Updates
) -> LockEntry:
    """Put the new version, merged or as it is, into the store, and write the lock."""
    old, download, candidate = latest.entry, latest.download, latest.candidate
    version = keep_version(candidate.folder)
    folder = find_version(version) or candidate.folder
    digest = digest_files(candidate.folder)
    rules = sorted({*blocks, *_accepted_rules(old)})
    note = {"rules": str(RULES_VERSION), "asks": audit.asks_digest()} | ({"accepted": rules} if rules else {})
    entry = make_entry(
        os.path.dirname(lock_file(root)),
        download.origin_of(candidate),
        replace(candidate, name=old.name),
        download,
        computed_hash=compute_hash(candidate.folder, candidate.links),
        store_hash=version,
        digest=digest,
        targets=old.targets,
        mode=old.own_text("mode") or "link",
        has_pin=old.is_pinned,
        audit=note,
    )
    if merge is None:
        label = download.origin.label()
        result.diagnostics += put_folder(root, old.name, folder, origin=label, digest=digest, reason=REASON)
    elif merge.changes:
        result.diagnostics.append(_put_merge(store_folder(root, old.name), merge))
    result.diagnostics += change_lock(root, record=[entry])
    note_versions(root, {old.name: version})  # after the lock, which needs the old one until now
    return entry


def _accepted_rules(entry: LockEntry) -> set[str]:
    """Return the rules whose findings a person accepted for a skill."""
    note = entry.own.get("audit")
    rules = note.get("accepted") if isinstance(note, dict) else None
    return {rule for rule in rules if isinstance(rule, str)} if isinstance(rules, list) else set()


def _put_merge(path: str, merge: Merge) -> Diagnostic:
    """Change the files of a skill as a merge says, all at once; a copy from before goes to the trash."""
    diagnostic = keep_in_trash(path, REASON)
    temporary = atomic.temporary_path(path)
    try:
        shutil.copytree(path, temporary, symlinks=True)
        for name, change in merge.changes.items():
            place = os.path.join(temporary, *name.split("/"))
            if change is None:
                os.unlink(place)
                _remove_empty(os.path.dirname(place), temporary)
        for name, change in merge.changes.items():
            if change is not None:
                place = os.path.join(temporary, *name.split("/"))
                os.makedirs(os.path.dirname(place), exist_ok=True)
                atomic.write(place, change.data, mode=0o755 if change.is_executable else 0o644)
        atomic.replace(temporary, path)
    finally:
        atomic.discard(temporary)
    return diagnostic


def _remove_empty(folder: str, root: str) -> None:
    while folder != root and not os.listdir(folder):
        os.rmdir(folder)
        folder = os.path.dirname(folder)


def _list_files(base: str, new: str) -> tuple[tuple[str, str], ...]:
    """Return what the new version adds, changes and removes."""
    old, latest = read_tree(base) if base else {}, read_tree(new)
    lines = []
    for name in sorted({*old, *latest}):
        one, two = old.get(name), latest.get(name)
        if one is None or two is None:
            lines.append(("removed" if two is None else "added", name))
        elif (one.digest, one.is_executable) != (two.digest, two.is_executable):
            lines.append(("changed", name))
    return tuple(lines)


def _diff(base: str, new: str) -> str:
    """Return the differences of two versions as a unified diff."""
    old, latest = read_tree(base), read_tree(new)
    parts: list[str] = []
    for change, name in _list_files(base, new):
        data = [tree[name].read() if name in tree else b"" for tree in (old, latest)]
        if not all(is_text(each) and len(each) <= MAX_DIFF for each in data):
            parts.append(f"{change}: {name} (not shown: it is no text, or large)")
            continue
        texts = [each.decode("utf-8", "backslashreplace").splitlines() for each in data]
        parts += unified_diff(texts[0], texts[1], f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(parts)
