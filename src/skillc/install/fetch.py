"""Ask the origins of locked skills: for just what the lock says, or for their latest versions.

What the lock says is verified: commit, tree, and the digest of every file [D64]. Where another tool dropped
what skc had noted, a skill is resolved again. An entry from before that digest is verified by what it has,
and gets one.
"""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from skillc.contract import HIDDEN
from skillc.errors import Diagnostic, InvalidOption, LockUnsatisfied, OriginNotFound, SkillcError, warning
from skillc.install.download import open_download
from skillc.install.entry import FolderHashes, LockEntry, hash_folder, make_entry
from skillc.install.latest import NEW_FILES, note_latest
from skillc.install.lock import lock_folder, store_folder
from skillc.install.origin import Candidate, Download, Origin, check_ref
from skillc.install.store import FetchedSkill

UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_COMMIT = re.compile("[0-9a-f]{40}")

TellStep = Callable[[str], None]
Refs = Mapping[str, str]  # the version, tag, branch or commit that is asked for, by the name of a skill
NO_REFS: Refs = {}
Match = tuple[Download, Candidate]  # a download and a skill in it


def ignore_step(name: str) -> None:
    """Show no progress."""


def open_origins(
    stack: ExitStack,
    base: str,
    entries: Iterable[LockEntry],
    diagnostics: list[Diagnostic],
    *,
    is_exact: bool,
    hosts: Iterable[str] = (),
    tell_step: TellStep = ignore_step,
    refs: Refs = NO_REFS,
) -> Iterator[tuple[LockEntry, Match | SkillcError]]:
    """Yield each skill with what matches it in a download, or with the reason why nothing does.

    `base` is the folder of the lock, and `hosts` may be asked besides those in it. If it `is_exact`, the
    commits and versions of the lock are opened, else what is there now, or of some skills what `refs` says.
    Skills of one origin are asked for at once. `tell_step` gets the name of each skill: of the first of an
    origin before that is asked.
    """
    groups: dict[tuple[Origin, str], list[LockEntry]] = {}
    for entry in entries:
        try:
            origin = entry.origin(base, hosts)
            if entry.name in refs:
                origin = _move(origin, refs[entry.name])
        except SkillcError as error:
            yield entry, SkillcError(error.message)
            continue
        if is_exact and origin.is_registry:
            origin = replace(origin, ref=entry.own_text("version") or origin.ref)
        whole = replace(origin, path="") if entry.text("skillPath") else origin
        groups.setdefault((whole, entry.commit if is_exact else ""), []).append(entry)
    for (origin, commit), group in groups.items():
        tell_step(group[0].name)
        results = _open_group(stack, origin, commit, group, diagnostics, is_exact)
        for number, (entry, result) in enumerate(results):
            if number:
                tell_step(entry.name)
            yield entry, result


def _move(origin: Origin, ref: str) -> Origin:
    """Return an origin at another version, tag, branch or commit; HEAD is git's default branch."""
    if not (origin.is_git or origin.is_registry):
        raise OriginNotFound(origin.label(), "it has no versions, just what is there now")
    return replace(origin, ref="" if ref == "HEAD" and origin.is_git else check_ref(origin.label(), ref))


def _open_group(
    stack: ExitStack,
    origin: Origin,
    commit: str,
    entries: Sequence[LockEntry],
    diagnostics: list[Diagnostic],
    is_exact: bool,
) -> Iterator[tuple[LockEntry, Match | SkillcError]]:
    """Yield each skill of one origin as `open_origins` does; where one is gone, each is asked for alone."""
    names = [entry.text("skillPath") or entry.name for entry in entries]
    try:
        if is_exact:
            download = _open_exactly(stack, origin, commit, names, diagnostics)
        else:
            download = stack.enter_context(open_download(origin, names=names, lazy=True))
    except SkillcError as error:
        if len(entries) > 1 and isinstance(error, OriginNotFound) and "there is no skill" in error.reason:
            for entry in entries:
                yield from _open_group(stack, origin, commit, [entry], diagnostics, is_exact)
        else:
            yield from ((entry, error) for entry in entries)
    else:
        yield from _match(entries, download)


def _open_exactly(
    stack: ExitStack, origin: Origin, commit: str, names: Sequence[str], diagnostics: list[Diagnostic]
) -> Download:
    """Return the download of a commit: by its ref while that leads there; a tag that moved is a warning."""
    if commit and not _COMMIT.fullmatch(commit):
        raise OriginNotFound(origin.label(), "its commit is no commit")
    if commit and origin.ref and not _COMMIT.fullmatch(origin.ref):
        try:
            download = stack.enter_context(open_download(origin, names=names, lazy=True))
        except OriginNotFound:  # the ref or the skill is not there any more; the commit may be
            pass
        else:
            if download.commit == commit:
                download.complete(download.candidates)
                return download
            if download.is_tag:
                new = download.commit[:12]
                diagnostics.append(warning("W087", origin.ref, origin.source, commit[:12], new))
    return stack.enter_context(open_download(origin, commit=commit, names=names, report=diagnostics.append))


def reason_of(error: SkillcError) -> str:
    """Return why an origin could not be asked."""
    return error.reason if isinstance(error, OriginNotFound) else error.message


def _match(
    entries: Iterable[LockEntry], download: Download
) -> Iterator[tuple[LockEntry, Match | OriginNotFound]]:
    """Yield entries with their skills in a download: by the path, else by a name."""
    candidates = download.candidates[::-1]  # of two with one name, the first counts
    by_path = {each.path: each for each in candidates if each.path}
    by_name = {posixpath.basename(posixpath.dirname(path)): each for path, each in by_path.items()}
    by_name |= {each.name: each for each in candidates}
    for entry in entries:
        candidate = by_path.get(entry.text("skillPath")) or by_name.get(entry.name)
        if candidate is None and candidates and download.origin.is_registry:  # asked for this skill alone
            candidate = candidates[-1]
        label = download.origin.label()
        missing = OriginNotFound(label, f"it is not in {label} any more")
        yield entry, missing if candidate is None else (download, candidate)


def _warn_of_yank(entry: LockEntry, candidate: Candidate, diagnostics: list[Diagnostic]) -> None:
    """Add W093 for a locked version that its registry yanked since."""
    version = entry.own_text("version")
    if version in candidate.yanked:
        diagnostics.append(warning("W093", entry.name, version, candidate.yanked[version]))


@dataclass(slots=True)
class Fetch:
    """What was fetched, while it is open; errors are those of single skills."""

    skills: list[FetchedSkill] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    failures: list[SkillcError] = field(default_factory=list)


@contextmanager
def fetch_entries(
    base: str, entries: Iterable[LockEntry], hosts: Iterable[str] = (), tell_step: TellStep = ignore_step
) -> Iterator[Fetch]:
    """Give the skills of lock entries, verified; the arguments are those of `open_origins`."""
    fetch = Fetch()
    some = []
    for entry in entries:
        if entry.text("sourceType") == "node_modules":
            fetch.diagnostics.append(warning("W089", entry.name))
        else:
            some.append(entry)
    with ExitStack() as stack:
        for entry, result in open_origins(
            stack, base, some, fetch.diagnostics, is_exact=True, hosts=hosts, tell_step=tell_step
        ):
            if isinstance(result, SkillcError):
                fetch.failures.append(LockUnsatisfied(entry.name, reason_of(result), result.details))
                continue
            try:
                fetch.skills.append(_verify(base, entry, *result, fetch.diagnostics))
            except SkillcError as error:
                fetch.failures.append(error)
        yield fetch


def _verify(
    base: str, entry: LockEntry, download: Download, candidate: Candidate, diagnostics: list[Diagnostic]
) -> FetchedSkill:
    """Return a skill of a download, if it is what the lock says; raises LockUnsatisfied."""
    _warn_of_yank(entry, candidate, diagnostics)
    label = download.origin.label()
    hashes = hash_folder(candidate.folder, candidate.links, entry.executables)
    if entry.own and not _is_locked(entry, candidate, hashes):
        hint = f"hint: 'skc update {entry.name}' takes what is there now"
        raise LockUnsatisfied(entry.name, f"the files in {label} are not those of the lock", hint)
    if entry.is_complete:
        return FetchedSkill(entry, candidate.folder, label)
    if entry.own:
        diagnostics.append(warning("W096", entry.name))
    else:
        is_other = entry.hash and hashes.computed != entry.hash
        text = "and they are other files now" if is_other else "the files are the same"
        diagnostics.append(warning("W086", entry.name, text))
    return FetchedSkill(make_entry(base, download, candidate, hashes, last=entry), candidate.folder, label)


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


@dataclass(frozen=True, slots=True)
class Latest:
    """A locked skill and its latest version, whose folder is there while its download is open."""

    entry: LockEntry
    download: Download
    candidate: Candidate
    is_changed: bool
    is_edited: bool = False

    @property
    def is_moved(self) -> bool:
        """Whether another version, tag, branch or commit is wanted than the lock says."""
        return self.download.origin.ref != self.entry.text("ref")

    @property
    def current_name(self) -> str:
        return self.entry.own_text("version") or self.entry.commit[:12] or self.entry.hash[:12]

    @property
    def latest_name(self) -> str:
        if not self.is_changed:
            return self.current_name
        return self.candidate.version or self.download.commit[:12] or NEW_FILES

    @property
    def move(self) -> str:
        """The two versions, with the refs that name them, for people."""
        pairs = (
            (self.entry.text("ref"), self.current_name),
            (self.download.origin.ref, self.latest_name),
        )
        return " -> ".join(f"{ref} ({name})" if ref not in ("", name) else name for ref, name in pairs)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.entry.name,
            "current": self.current_name,
            "latest": self.latest_name,
            "commit": self.download.commit or None,
            "changed": self.is_changed,
            "edited": self.is_edited,
        }


@dataclass(frozen=True, slots=True)
class Outdated:
    """Locked skills with their latest versions, and why others could not be asked for."""

    skills: tuple[Latest, ...]
    diagnostics: tuple[Diagnostic, ...] = field(metadata=HIDDEN)


def list_latest(
    root: str,
    entries: Sequence[LockEntry],
    *,
    min_age: int = 0,
    hosts: Iterable[str] = (),
    tell_step: TellStep = ignore_step,
) -> Outdated:
    """Return which skills have a newer version, without fetching its files."""
    diagnostics: list[Diagnostic] = []
    with ExitStack() as stack:
        versions = find_latest(stack, root, entries, diagnostics, min_age, hosts, tell_step)
    return Outdated(tuple(versions), tuple(diagnostics))


def find_latest(
    stack: ExitStack,
    root: str,
    entries: Iterable[LockEntry],
    diagnostics: list[Diagnostic],
    min_age: int,
    hosts: Iterable[str],
    tell_step: TellStep,
    refs: Refs = NO_REFS,
) -> list[Latest]:
    """Return the latest version of each skill; one that can't be asked for is a warning (W088).

    Of skills in `refs` it is that version; one that can't be had is OriginNotFound [D77]. A commit that is
    younger than `min_age` seconds is not taken, and neither is what has no date; a folder on this machine
    needs none. Files are there until the stack is closed.
    """
    versions: list[Latest] = []
    for entry, result in open_origins(
        stack,
        lock_folder(root),
        entries,
        diagnostics,
        is_exact=False,
        hosts=hosts,
        tell_step=tell_step,
        refs=refs,
    ):
        try:
            latest = result if isinstance(result, SkillcError) else _compare(entry, *result, diagnostics)
        except OriginNotFound as error:  # of this skill; the others may be there
            latest = error
        if isinstance(latest, SkillcError) and entry.name in refs:
            latest.details = (
                latest.details if "--skill" not in latest.details else ""
            )  # that is for 'skc add'
            raise latest
        if isinstance(latest, SkillcError):
            diagnostics.append(warning("W088", entry.name, reason_of(latest)))
        elif _is_old_enough(latest, min_age, diagnostics):
            versions.append(with_edits(root, latest))
    news = [each for each in versions if each.entry.name not in refs]
    note_latest(root, [(each.entry, each.latest_name if each.is_changed else "") for each in news])
    return versions


def parse_age(text: str, option: str = "--min-age") -> int:
    """Return the seconds of an age such as 3d, 12h or 2w.

    >>> parse_age("3d")
    259200
    """
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not (number.isascii() and number.isdecimal()) or len(number) > 6:
        raise InvalidOption(f"{option} takes a number and m, h, d or w, such as 3d, not '{text}'")
    return int(number) * UNITS[unit]


def _compare(
    entry: LockEntry, download: Download, candidate: Candidate, diagnostics: list[Diagnostic]
) -> Latest:
    """Return what an origin has now, by as little as tells it: the list of versions, trees, or files."""
    _warn_of_yank(entry, candidate, diagnostics)
    tree = entry.own_text("tree")
    if candidate.source_digest and entry.digest:
        is_changed = candidate.source_digest != f"sha256:{entry.digest}"
    elif tree and candidate.tree:
        is_changed = candidate.tree != tree
    else:
        download.complete([candidate])
        is_changed = not entry.is_about(candidate.folder, candidate.links)
    return Latest(entry, download, candidate, is_changed)


def _is_old_enough(latest: Latest, min_age: int, diagnostics: list[Diagnostic]) -> bool:
    if not min_age or not latest.is_changed or latest.download.origin.type == "local":
        return True
    version = latest.candidate.version
    name = f"version {version}" if version else f"commit {latest.download.commit[:12]}"
    age = int(time.time()) - latest.download.time
    if not latest.download.time:
        reason = "its origin does not say how old it is, and --min-age is set"
    elif age < min_age:
        unit = next((unit for unit in ("d", "h", "m") if age >= UNITS[unit]), "m")
        reason = f"{name} is {max(age, 0) // UNITS[unit]}{unit} old, younger than --min-age"
    else:
        return True
    diagnostics.append(warning("W088", latest.entry.name, reason))
    return False


def with_edits(root: str, latest: Latest) -> Latest:
    """Return the same with whether the skill in the store differs from what was installed."""
    return replace(latest, is_edited=latest.entry.is_edited(store_folder(root, latest.entry.name)))
