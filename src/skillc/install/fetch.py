"""Fetch skills as their lock entries say, and verify them: commit, tree, and the digest of every file [D64].

Skills of one repository and commit are fetched at once. Where another tool dropped what skc had noted, a
skill is resolved again. An entry from before that digest is verified by what it has, and gets one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from skillc.errors import Diagnostic, LockUnsatisfied, OriginNotFound, SkillcError, warning
from skillc.install.download import open_download
from skillc.install.entry import LINK, FolderHashes, LockEntry, hash_folder, make_entry
from skillc.install.origin import Candidate, Download, Origin
from skillc.install.store import FetchedSkill

_COMMIT = re.compile("[0-9a-f]{40}")


@dataclass(slots=True)
class Fetch:
    """What was fetched, while it is open; errors are those of single skills."""

    skills: list[FetchedSkill] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    failures: list[SkillcError] = field(default_factory=list)


@contextmanager
def fetch_entries(
    base: str,
    entries: Iterable[LockEntry],
    hosts: Iterable[str] = (),
    tell_step: Callable[[str], None] = lambda name: None,
) -> Iterator[Fetch]:
    """Give the skills of lock entries; `base` is the folder of the lock, `hosts` may be asked, too.

    `tell_step` gets the name of each skill: of the first of an origin before that is asked.
    """
    fetch = Fetch()
    with ExitStack() as stack:
        for origin, commit, group in _group(base, entries, fetch, hosts):
            tell_step(group[0].name)
            try:
                download = stack.enter_context(_open(origin, commit, group, fetch))
            except SkillcError as error:
                reason = error.reason if isinstance(error, OriginNotFound) else error.message
                fetch.failures += [LockUnsatisfied(entry.name, reason, error.details) for entry in group]
                continue
            for number, entry in enumerate(group):
                if number:
                    tell_step(entry.name)
                try:
                    fetch.skills.append(_verify(base, entry, download, fetch))
                except SkillcError as error:
                    fetch.failures.append(error)
        yield fetch


def _group(
    base: str, entries: Iterable[LockEntry], fetch: Fetch, hosts: Iterable[str]
) -> Iterator[tuple[Origin, str, list[LockEntry]]]:
    """Yield the entries that one download has, with its origin and commit."""
    groups: dict[tuple[Origin, str], list[LockEntry]] = {}
    for entry in entries:
        if entry.text("sourceType") == "node_modules":
            fetch.diagnostics.append(warning("W089", entry.name))
            continue
        try:
            origin = entry.origin(base, hosts)
        except SkillcError as error:
            fetch.failures.append(LockUnsatisfied(entry.name, error.message))
            continue
        if origin.is_registry:
            origin = replace(origin, ref=entry.own_text("version") or origin.ref)
        whole = replace(origin, path="") if entry.text("skillPath") else origin
        groups.setdefault((whole, entry.commit), []).append(entry)
    for (origin, commit), group in groups.items():
        yield origin, commit, group


@contextmanager
def _open(origin: Origin, commit: str, entries: Sequence[LockEntry], fetch: Fetch) -> Iterator[Download]:
    names = [entry.text("skillPath") or entry.name for entry in entries]
    if commit and not _COMMIT.fullmatch(commit):
        raise LockUnsatisfied(entries[0].name, "its commit is no commit")
    with ExitStack() as stack:
        download = None
        if commit and origin.ref and not _COMMIT.fullmatch(origin.ref):
            download = _open_ref(stack, origin, commit, names, fetch)
        if download is None:
            download = stack.enter_context(open_download(origin, commit=commit, names=names))
        yield download


def _open_ref(
    stack: ExitStack, origin: Origin, commit: str, names: Sequence[str], fetch: Fetch
) -> Download | None:
    """Return the download of a ref; None, with a warning for a tag, if it is another commit now."""
    try:
        download = stack.enter_context(open_download(origin, names=names, lazy=True))
    except OriginNotFound:  # the ref or the skill is not there any more; the commit may be
        return None
    if download.commit == commit:
        download.complete(download.candidates)
        return download
    if download.is_tag:
        fetch.diagnostics.append(
            warning("W087", origin.ref, origin.source, commit[:12], download.commit[:12])
        )
    return None


def _verify(base: str, entry: LockEntry, download: Download, fetch: Fetch) -> FetchedSkill:
    """Return a skill of a download, if it is what the lock says; raises LockUnsatisfied."""
    candidate = find_candidate(entry, download)
    if candidate is None:
        raise LockUnsatisfied(entry.name, f"it is not in {download.origin.label()} any more")
    warn_of_yank(entry, candidate, fetch.diagnostics)
    label = download.origin.label()
    hashes = hash_folder(candidate.folder, candidate.links, entry.executables)
    if entry.own and not _is_locked(entry, candidate, hashes):
        hint = f"hint: 'skc update {entry.name}' takes what is there now"
        raise LockUnsatisfied(entry.name, f"the files in {label} are not those of the lock", hint)
    if entry.is_complete:
        return FetchedSkill(entry, candidate.folder, label)
    if entry.own:
        fetch.diagnostics.append(warning("W096", entry.name))
    else:
        is_other = entry.hash and hashes.computed != entry.hash
        text = "and they are other files now" if is_other else "the files are the same"
        fetch.diagnostics.append(warning("W086", entry.name, text))
    new = make_entry(
        base,
        download.origin_of(candidate),
        replace(candidate, name=entry.name),
        download,
        hashes,
        targets=entry.targets if entry.has_targets else None,
        mode=entry.own_text("mode") or LINK,
        has_pin=entry.is_pinned,
    )
    return FetchedSkill(new, candidate.folder, label)


def _is_locked(entry: LockEntry, candidate: Candidate, hashes: FolderHashes) -> bool:
    """Return whether a folder is what the lock says, by all digests that it has."""
    pairs = (
        (entry.content, hashes.content.digest),
        (entry.hash, hashes.computed),
        (entry.digest, hashes.source),
        (entry.own_text("tree"), candidate.tree),
        (entry.text("wellKnownDigest"), candidate.digest),
    )
    return all(locked == actual for locked, actual in pairs if locked and actual)


def warn_of_yank(entry: LockEntry, candidate: Candidate, diagnostics: list[Diagnostic]) -> None:
    """Add W093 for a locked version that its registry yanked since."""
    version = entry.own_text("version")
    if version in candidate.yanked:
        diagnostics.append(warning("W093", entry.name, version, candidate.yanked[version]))


def find_candidate(entry: LockEntry, download: Download) -> Candidate | None:
    """Return the skill of an entry in a download: by its path, else by its name."""
    path = entry.text("skillPath")
    for candidate in download.candidates:
        if candidate.path == path if path else candidate.name == entry.name:
            return candidate
    names = [candidate for candidate in download.candidates if candidate.name == entry.name]
    return names[0] if names else None
