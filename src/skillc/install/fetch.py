"""Ask the origins of locked skills, for just what the lock says or for what is there now, and verify it.

What the lock says is verified: commit, tree, and the digest of every file [D64]. Where another tool dropped
what skc had noted, a skill is resolved again. An entry from before that digest is verified by what it has,
and gets one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from skillc.errors import Diagnostic, LockUnsatisfied, OriginNotFound, SkillcError, warning
from skillc.install.address import check_ref
from skillc.install.download import open_download
from skillc.install.entry import FolderHashes, LockEntry, hash_folder, make_entry
from skillc.install.origin import Candidate, Download, Origin
from skillc.install.state import Outcome
from skillc.install.store import FetchedSkill, TellStep, ignore_step

COMMIT = re.compile("[0-9a-f]{40}")

Refs = Mapping[str, str]  # the version, tag, branch or commit that is asked for, by the name of a skill
NO_REFS: Refs = {}
Result = tuple[LockEntry, Candidate | SkillcError]


class Origins(ExitStack):
    """Asks the origins of the skills of a lock. Downloads are there until it is closed.

    `base` is the folder of the lock, and `hosts` may be asked besides those in it. `tell_step` gets the name
    of each skill: of the first of an origin before that is asked.
    """

    def __init__(self, base: str, hosts: Iterable[str] = (), tell_step: TellStep = ignore_step) -> None:
        super().__init__()
        self.base, self.hosts = base, hosts
        self.diagnostics: list[Diagnostic] = []
        self._tell_step = tell_step

    def open(self, entries: Iterable[LockEntry], *, is_exact: bool, refs: Refs = NO_REFS) -> Iterator[Result]:
        """Yield each skill with what matches it in a download, or with the reason why nothing does.

        If it `is_exact`, the commits and versions of the lock are opened, else what is there now, or of some
        skills what `refs` says. Skills of one origin are asked for at once.
        """
        groups: dict[tuple[Origin, str], list[LockEntry]] = {}
        for entry in entries:
            try:
                origin = entry.origin(self.base, self.hosts)
                if entry.name in refs:
                    origin = move_origin(origin, refs[entry.name])
            except SkillcError as error:
                yield entry, SkillcError(error.message)
                continue
            if is_exact and origin.is_registry:
                origin = replace(origin, ref=entry.own_text("version") or origin.ref)
            whole = replace(origin, path="") if entry.text("skillPath") else origin
            groups.setdefault((whole, entry.commit if is_exact else ""), []).append(entry)
        for (origin, commit), group in groups.items():
            self._tell_step(group[0].name)
            for number, result in enumerate(self._open_group(origin, commit, group, is_exact)):
                if number:
                    self._tell_step(result[0].name)
                yield result

    def _open_group(
        self, origin: Origin, commit: str, entries: Sequence[LockEntry], is_exact: bool
    ) -> Iterator[Result]:
        """Yield each skill of one origin as `open` does; where one is gone, each is asked for alone."""
        names = [entry.text("skillPath") or entry.name for entry in entries]
        try:
            if is_exact:
                download = self._open_exactly(origin, commit, names)
            else:
                download = self.enter_context(open_download(origin, names=names, lazy=True))
        except SkillcError as error:
            if len(entries) > 1 and isinstance(error, OriginNotFound) and "there is no skill" in error.reason:
                for entry in entries:
                    yield from self._open_group(origin, commit, [entry], is_exact)
            else:
                yield from ((entry, error) for entry in entries)
        else:
            yield from _match(entries, download)

    def _open_exactly(self, origin: Origin, commit: str, names: Sequence[str]) -> Download:
        """Return the download of a commit: by its ref while that leads there; a moved tag is a warning."""
        if commit and not COMMIT.fullmatch(commit):
            raise OriginNotFound(origin.label(), "its commit is no commit")
        if commit and origin.ref and not COMMIT.fullmatch(origin.ref):
            try:
                download = self.enter_context(open_download(origin, names=names, lazy=True))
            except OriginNotFound:  # the ref or the skill is not there any more; the commit may be
                pass
            else:
                if download.commit == commit:
                    download.complete(download.candidates)
                    return download
                if download.is_tag:
                    new = download.commit[:12]
                    self.diagnostics.append(warning("W087", origin.ref, origin.source, commit[:12], new))
        return self.enter_context(
            open_download(origin, commit=commit, names=names, report=self.diagnostics.append)
        )


def move_origin(origin: Origin, ref: str) -> Origin:
    """Return an origin at another version, tag, branch or commit; HEAD is git's default branch."""
    if not (origin.is_git or origin.is_registry):
        raise OriginNotFound(origin.label(), "it has no versions, just what is there now")
    return replace(origin, ref="" if ref == "HEAD" and origin.is_git else check_ref(origin.label(), ref))


def _match(
    entries: Iterable[LockEntry], download: Download
) -> Iterator[tuple[LockEntry, Candidate | OriginNotFound]]:
    """Yield entries with their skills in a download: by the path, else by a name."""
    candidates = download.candidates[::-1]  # of two with one name, the first counts
    by_path = {each.path: each for each in candidates if each.path}
    by_name = {posixpath.basename(each.inside): each for each in by_path.values()}
    by_name |= {each.name: each for each in candidates}
    for entry in entries:
        candidate = by_path.get(entry.text("skillPath")) or by_name.get(entry.name)
        if candidate is None and candidates and download.origin.is_registry:  # asked for this skill alone
            candidate = candidates[-1]
        label = download.origin.label()
        missing = OriginNotFound(label, f"it is not in {label} any more")
        yield entry, candidate or missing


def reason_of(error: SkillcError) -> str:
    """Return why an origin could not be asked."""
    return error.reason if isinstance(error, OriginNotFound) else error.message


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
