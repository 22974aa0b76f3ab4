"""Bring locked skills up to date: say what changes, merge your edits, never lose one.

The new version is merged with yours against the version that was installed, which is kept in the home, or
else fetched by its commit. What was in the store before goes to the trash if it held an edit.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import unified_diff

from skillc import atomic, trash
from skillc.audit import Audit, Changes, audit_folder, compare_audits, read_policy
from skillc.compiler import check_store
from skillc.contract import encode, extend, optional
from skillc.errors import (
    Diagnostic,
    InvalidOption,
    LockUnsatisfied,
    MergeConflict,
    SkillcError,
    unexpected,
    warning,
)
from skillc.install.apply import fetch_entries
from skillc.install.audit import admit_signer, check_blocks
from skillc.install.download import Origins
from skillc.install.entry import FolderHashes, LockEntry, hash_folder, make_entry
from skillc.install.lock import find_entries, find_root, lock_folder, read_lock, require_intact, store_folder
from skillc.install.merge import Merge, is_text, merge_trees, read_tree
from skillc.install.state import Outcome, find_edited, find_version, note_latest
from skillc.install.store import (
    FetchedSkill,
    check_targets,
    keep_in_trash,
    publish_entries,
    put_skill,
    record_entries,
)
from skillc.install.versions import Latest, describe_held, find_latest, parse_age
from skillc.library import is_path
from skillc.library.records import lock_store
from skillc.origins import Evidence, Signature, read_trust, require_same
from skillc.quotes import shell_quote
from skillc.skills import digest_skill
from skillc.surface import UNATTENDED, Here, Person
from skillc.text import count_of, one_line, terminal_text

REASON = "the version before 'skc update'"
MAX_DIFF = 1 << 20  # bytes of a file whose diff is shown


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file of a new version that was added, changed or removed."""

    file: str
    change: str


@dataclass(frozen=True, slots=True)
class Update(Latest):
    """An update of one skill: what changes in its files and in what it asks for, and the conflicts.

    Of one that is up to date, nothing of this is known.
    """

    files: tuple[FileChange, ...] | None = optional()
    asks: Changes | None = optional()
    conflicts: tuple[str, ...] | None = optional()
    diff: str = optional("")

    def lines(self, is_preview: bool) -> Iterator[str]:
        """Yield what it changes, or would change, for people."""
        verb = "Would update" if is_preview else "Updated"
        yield one_line(f"{verb} '{self.id}': {self.move}{', merged with your edits' if self.edited else ''}")
        yield from (one_line(f"  {each.change}: {each.file}") for each in self.files or ())
        if asks := self.asks:
            for sign, values in (("now asks for", asks.added), ("no longer asks for", asks.removed)):
                kinds = {kind: names for kind, names in encode(values).items() if names}
                yield from (one_line(f"  {sign} {kind}: {', '.join(names)}") for kind, names in kinds.items())
            for f in asks.findings:
                yield one_line(f"  {f.level}: {f.rule.id} {f.file}:{f.line}: {f.message}")
        yield from (one_line(f"  conflict: {name}") for name in self.conflicts or ())
        yield from (terminal_text(line) for line in self.diff.split("\n") if self.diff)


@dataclass(slots=True)
class Updates(Outcome):
    """What an update of several skills did, those that are up to date last."""

    skills: list[Update] = field(default_factory=list)

    @property
    def changes(self) -> list[Update]:
        return [each for each in self.skills if each.files is not None]

    def same(self) -> Iterator[str]:
        """Yield lines for people about the skills that did not change."""
        versions = [each for each in self.skills if each.files is None]
        if free := sum(not each.is_held for each in versions):
            yield f"{count_of(free, 'skill')} up to date"
        yield from describe_held(versions)


def update_locked(
    here: Here,
    *names: str,
    is_global: bool = False,
    min_age: str = "",
    with_diff: bool = False,
    dry_run: bool = False,
    accept_blocks: bool = False,
    accept_signer: bool = False,
    hosts: Iterable[str] = (),
) -> Updates:
    """Bring locked skills up to date, all or those with these names, and merge the user's edits.

    `name@version` goes to that version, tag, branch or commit, up or down, pinned or not; the lock keeps it
    as wanted [D77]. `min_age` is an age such as 3d. `hosts` may be asked besides those of the lock. A skill
    that fails does not stop the others. One that the audit blocks is E084, unless with `accept_blocks` or it
    was accepted before; one that another signer signed is E086, unless a person accepts that or with
    `accept_signer`. A conflict is MergeConflict: the update is there, with marks, and the old version in
    the trash.
    """
    root = find_root(here.cwd, is_global=is_global)
    words = [(name, "", "") if is_path(name) else name.partition("@") for name in names]
    entries = find_entries(root, [name for name, _, _ in words], here.cwd)
    refs = {name: ref for name, mark, ref in words if mark}
    if "" in refs.values():
        raise InvalidOption("after '@' comes a version, a tag, a branch or a commit, as in pdf@v1.2")
    age = parse_age(min_age)
    check_store(root)
    require_intact(entries)
    check_targets(root, entries)
    updater = Updater(root, with_diff, dry_run, accept_blocks, accept_signer, here.person)
    result = updater.result
    free = [entry for entry in entries if not entry.is_pinned or entry.name in refs]
    result.diagnostics += [_pinned(entry) for entry in entries if entry not in free]
    with here.progress.steps(len(entries), "skills") as steps:
        with Origins(lock_folder(root), hosts, steps.step) as origins:
            versions = find_latest(origins, root, free, age, refs)
            result.diagnostics += origins.diagnostics
            news = [each for each in versions if each.changed or (each.id in refs and each.is_moved)]
            for each in versions:  # of what was asked for, or of what was there, which says why it moves
                version = each.candidate.version if each.id in refs else each.entry.own_text("version")
                is_replaced = each in news and each.id not in refs
                result.diagnostics += each.candidate.warn_of_yank(each.id, version, is_replaced=is_replaced)
            complete = updater.apply(news)
        publish_entries(root, complete, result)
    names_of_news = {each.id for each in news}
    result.skills += [extend(Update, each) for each in versions if each.id not in names_of_news]
    note_latest(root, [(entry, "") for entry in complete])
    here.renew_listings(dry_run)
    return result


def _pinned(entry: LockEntry) -> Diagnostic:
    reason = f"it is pinned; 'skc unpin {shell_quote(entry.name)}' lets it be updated"
    return warning("W088", entry.name, reason)


@dataclass(frozen=True, slots=True)
class Updater:
    """Puts versions into a store and its lock, merged with edits."""

    root: str
    with_diff: bool = False
    dry_run: bool = False
    accept: bool = False  # what the audit blocks
    accept_signer: bool = False  # another than before
    person: Person = UNATTENDED
    result: Updates = field(default_factory=Updates)

    def apply(self, versions: Sequence[Latest]) -> list[LockEntry]:
        """Take all of these, and return the entries that can be built now."""
        complete: list[LockEntry] = []
        for latest in versions:
            try:
                latest.candidate.complete()
                new = self._update(latest)
            except (SkillcError, OSError) as error:
                if read_lock(self.root).get(latest.id) != latest.entry:  # another command was faster
                    self.result.diagnostics.append(warning("W097", latest.id))
                else:
                    self.result.failures.append(unexpected(error))
                continue
            complete += [new] if new is not None else []
        return complete

    def _update(self, latest: Latest) -> LockEntry | None:
        """Update one skill; return its new entry, if it is to be built now."""
        root, result = self.root, self.result
        entry, new = latest.entry, latest.candidate.folder
        with _open_base(root, latest) as base:
            policy, hashes = read_policy(), hash_folder(new, latest.candidate.links)
            audit = audit_folder(new, entry.name, policy=policy)
            before = audit_folder(base, entry.name, policy=policy) if base else Audit(entry.name, "")
            if not (self.dry_run and self.accept):
                check_blocks(entry.name, hashes.content.digest, audit, accept=self.accept)
            signature, evidence = self._check_signer(latest, hashes)
            changes = hashes.content.changes_since(digest_skill(base).files if base else {})
            update = extend(
                Update,
                latest,
                files=tuple(FileChange(name, change) for change, name in changes),
                asks=compare_audits(before, audit),
                diff=_diff(base, new, changes) if self.with_diff and base else "",
            )
            if self.dry_run:
                merge = _merge(root, latest, base)
                result.skills.append(replace(update, conflicts=merge.conflicts if merge else ()))
                return None
            with lock_store(root):
                now = read_lock(root).get(entry.name)
                if now != entry:  # what another process did meanwhile stays
                    is_pinned = now is not None and now.is_pinned and not entry.is_pinned
                    result.diagnostics.append(_pinned(entry) if is_pinned else warning("W097", entry.name))
                    return None
                edited = bool(find_edited(root, [entry]))  # by now
                merge = _merge(root, replace(latest, edited=edited), base)
                locked = make_entry(
                    lock_folder(root),
                    latest.candidate,
                    hashes,
                    last=entry,
                    audit=audit,
                    signature=signature,
                )
                self._put(latest, locked, merge, evidence)
        conflicts = merge.conflicts if merge else ()
        result.skills.append(replace(update, conflicts=conflicts))
        if not conflicts:
            return locked
        error = MergeConflict(entry.name, *conflicts)
        error.details = (
            f"hint: edit the files in {store_folder(root, entry.name)}, then run"
            f" 'skc build {shell_quote(entry.name)}'; your version from before the update is in the trash"
        )
        result.failures.append(error)
        return None

    def _check_signer(self, latest: Latest, hashes: FolderHashes) -> tuple[Signature, Evidence]:
        """Return the signature of a new version; raises SignerRefused for another signer than before."""
        name, digest, pin = latest.entry.name, hashes.content.digest, latest.entry.signer
        signature, evidence = admit_signer(name, latest.candidate, digest, read_trust(), pin)
        require_same(name, pin, signature, self.person, accept=self.accept_signer or self.dry_run)
        return signature, evidence

    def _put(self, latest: Latest, entry: LockEntry, merge: Merge | None, evidence: Evidence) -> None:
        """Put the new version, merged or as it is, into the store and its lock. The store is locked."""
        root, diagnostics = self.root, self.result.diagnostics
        skill = FetchedSkill(entry, latest.candidate.folder, latest.download.origin.label(), evidence)
        diagnostics += put_skill(root, skill, REASON, is_there=merge is not None)
        if merge is not None and merge.changes:
            diagnostics.append(_put_merge(root, entry.name, merge))
        diagnostics += record_entries(root, [entry])


@contextmanager
def _open_base(root: str, latest: Latest) -> Iterator[str]:
    """Give the folder of the version that was installed; an empty text if it is gone and not needed."""
    entry = latest.entry
    version, hosts = find_version(entry.content, entry.executables), latest.download.origin.hosts
    if version is not None:
        yield version
        return
    with fetch_entries(lock_folder(root), [entry] if entry.commit else [], hosts) as fetch:
        if not fetch.skills and latest.edited:
            reason = "it was edited, and the version that was installed can't be had any more"
            hint = f"hint: move {store_folder(root, entry.name)} away, run the update, and edit it again"
            raise LockUnsatisfied(entry.name, reason, hint)
        yield fetch.skills[0].folder if fetch.skills else ""


def _merge(root: str, latest: Latest, base: str) -> Merge | None:
    """Return how the new version is merged with edits; None where there are none."""
    if not latest.edited or not base:
        return None
    folder = store_folder(root, latest.entry.name)
    return merge_trees(read_tree(base), read_tree(folder), read_tree(latest.candidate.folder))


def _put_merge(root: str, name: str, merge: Merge) -> Diagnostic:
    """Change the files of a skill as a merge says, all at once; a copy from before goes to the trash."""
    diagnostic = keep_in_trash(root, name, REASON)
    path = store_folder(root, name)
    temporary = atomic.temporary_path(path)
    try:
        trash.copy(path, temporary)
        for file, change in merge.changes.items():
            place = os.path.join(temporary, *file.split("/"))
            if change is None:
                os.unlink(place)
                while (place := os.path.dirname(place)) != temporary and not os.listdir(place):
                    os.rmdir(place)
        for file, change in merge.changes.items():
            if change is not None:
                place = os.path.join(temporary, *file.split("/"))
                os.makedirs(os.path.dirname(place), exist_ok=True)
                atomic.write(place, change.data, mode=0o755 if change.is_executable else 0o644)
        atomic.replace(temporary, path)
    finally:
        atomic.discard(temporary)
    return diagnostic


def _diff(base: str, new: str, changes: Iterable[tuple[str, str]]) -> str:
    """Return the differences of two versions as a unified diff."""
    old, latest = read_tree(base), read_tree(new)
    parts: list[str] = []
    for change, name in changes:
        data = [tree[name].read() if name in tree else b"" for tree in (old, latest)]
        if not all(is_text(each) and len(each) <= MAX_DIFF for each in data):
            parts.append(f"{change}: {name} (not shown: it is no text, or large)")
            continue
        texts = [each.decode("utf-8", "backslashreplace").splitlines() for each in data]
        parts += unified_diff(texts[0], texts[1], f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(parts)
