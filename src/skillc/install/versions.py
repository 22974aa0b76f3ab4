"""Versions of locked skills: the latest that their origins have, and old ones.

And the skills of a registry that are on this machine, in whatever version.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

from skillc import paths
from skillc.contract import HIDDEN
from skillc.errors import Diagnostic, InvalidOption, InvalidSkillId, SkillcError, warning
from skillc.install.address import parse_origin
from skillc.install.download import NO_REFS, Origins, Refs, open_download, reason_of
from skillc.install.entry import LockEntry
from skillc.install.lock import (
    find_entries,
    find_root,
    lock_folder,
    read_lock,
    skill_of,
)
from skillc.install.origin import OURS, Candidate, Download
from skillc.install.state import NEW_FILES, find_edited, installed_roots, note_latest
from skillc.library import GLOBAL, Skill, copy_path, list_copies
from skillc.library.repositories import SkillsConfig
from skillc.remotes.http import parse_registry
from skillc.skills import SkillId
from skillc.surface import Here
from skillc.text import first_of, one_line

MAX_NAMED = 3  # skills that stay as they are
UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Latest:
    """A locked skill and its latest version, whose folder is there while its download is open."""

    id: str
    current: str
    latest: str
    commit: str | None
    changed: bool
    edited: bool
    entry: LockEntry = field(metadata=HIDDEN)
    candidate: Candidate = field(metadata=HIDDEN)

    @classmethod
    def of(cls, entry: LockEntry, candidate: Candidate, *, changed: bool, edited: bool) -> Self:
        """Return what an origin has for a locked skill, which may have been edited where it is."""
        current = entry.own_text("version") or entry.commit[:12] or entry.hash[:12]
        latest = (candidate.version or candidate.download.commit[:12] or NEW_FILES) if changed else current
        commit = candidate.download.commit or None
        return cls(entry.name, current, latest, commit, changed, edited, entry, candidate)

    @property
    def download(self) -> Download:
        return self.candidate.download

    @property
    def is_moved(self) -> bool:
        """Whether another version, tag, branch or commit is wanted than the lock says."""
        return self.download.origin.ref != self.entry.text("ref")

    @property
    def is_held(self) -> bool:
        """Whether the lock wants one version, tag or commit, which stays until another is asked for [D77]."""
        ref = self.entry.text("ref")
        is_commit = self.download.commit.startswith(ref)
        return bool(ref) and (self.candidate.version == ref or self.download.is_tag or is_commit)

    @property
    def move(self) -> str:
        """The two versions, with the refs that name them, for people."""
        pairs = ((self.entry.text("ref"), self.current), (self.download.origin.ref, self.latest))
        return " -> ".join(f"{ref} ({name})" if ref not in ("", name) else name for ref, name in pairs)


@dataclass(frozen=True, slots=True)
class Outdated:
    """Locked skills with their latest versions, and why others could not be asked for."""

    skills: tuple[Latest, ...]
    diagnostics: tuple[Diagnostic, ...] = field(metadata=HIDDEN)

    def held(self) -> Iterator[str]:
        """Yield a line for people about the skills that stay where they are."""
        return describe_held(self.skills)


def list_latest(
    here: Here, *names: str, is_global: bool = False, min_age: str = "", hosts: Iterable[str] = ()
) -> Outdated:
    """Return locked skills with their latest versions, without fetching files; `min_age` is such as 3d."""
    root = find_root(here.cwd, is_global=is_global)
    age = parse_age(min_age)
    entries = find_entries(root, names, here.cwd)
    with (
        here.progress.steps(len(entries), "skills") as steps,
        Origins(lock_folder(root), hosts, steps.step) as origins,
    ):
        versions = find_latest(origins, root, entries, age)
        for each in versions:
            origins.diagnostics += each.candidate.warn_of_yank(each.id, each.entry.own_text("version"))
    here.tell(origins.diagnostics)
    return Outdated(tuple(versions), tuple(origins.diagnostics))


def describe_held(versions: Iterable[Latest]) -> Iterator[str]:
    """Yield a line for people that names the skills which stay at the version that was asked for."""
    names = [one_line(each.id) for each in versions if each.is_held]
    if names:
        verb, version = ("stays", "version") if len(names) == 1 else ("stay", "versions")
        listing = first_of(names, MAX_NAMED)
        yield f"{listing} {verb} at the {version} asked for; 'skc update <skill>@<version>' takes another"


def find_latest(
    origins: Origins, root: str, entries: Sequence[LockEntry], min_age: int, refs: Refs = NO_REFS
) -> list[Latest]:
    """Return the latest version of each skill; one that can't be asked for is a warning (W088).

    Of skills in `refs` it is that version; one that can't be had is OriginNotFound [D77]. A commit that is
    younger than `min_age` seconds is not taken, and neither is what has no date; a folder on this machine
    needs none. Files are there until the origins are closed.
    """
    versions: list[Latest] = []
    diagnostics = origins.diagnostics
    edited = find_edited(root, entries)
    for entry, result in origins.open(entries, is_exact=False, refs=refs):
        try:
            if isinstance(result, SkillcError):
                raise result
            latest = _compare(entry, result, edited=entry.name in edited)
        except SkillcError as error:  # of this skill; the others may be there
            if entry.name in refs:
                lines = error.details.splitlines()
                error.details = "\n".join(line for line in lines if "--skill" not in line)  # is for 'skc add'
                raise
            diagnostics.append(warning("W088", entry.name, reason_of(error)))
            continue
        if _is_old_enough(latest, min_age, diagnostics):
            versions.append(latest)
    news = [each for each in versions if each.entry.name not in refs]
    note_latest(root, [(each.entry, each.latest if each.changed else "") for each in news])
    return versions


def parse_age(text: str, option: str = "--min-age") -> int:
    """Return the seconds of an age such as 3d, 12h or 2w; 0 for an empty text.

    >>> parse_age("3d")
    259200
    """
    if not text:
        return 0
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not (number.isascii() and number.isdecimal()) or len(number) > 6:
        raise InvalidOption(f"{option} takes a number and m, h, d or w, such as 3d, not '{text}'")
    return int(number) * UNITS[unit]


def _compare(entry: LockEntry, candidate: Candidate, *, edited: bool) -> Latest:
    """Return what an origin has now, by as little as tells it: the list of versions, trees, or files."""
    tree = entry.own_text("tree")
    if candidate.source and candidate.remote.digest and entry.digest:
        is_changed = candidate.remote.digest != f"sha256:{entry.digest}"
    elif tree and candidate.tree:
        is_changed = candidate.tree != tree
    else:
        candidate.complete()
        is_changed = not entry.is_about(candidate.folder, candidate.links)
    return Latest.of(entry, candidate, changed=is_changed, edited=edited)


def _is_old_enough(latest: Latest, min_age: int, diagnostics: list[Diagnostic]) -> bool:
    if not min_age or not latest.changed or latest.download.origin.type == "local":
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


@contextmanager
def fetch_old(skill: Skill, ref: str, cwd: str) -> Iterator[str]:
    """Give the folder of an old version: a folder that is named, a version of its origin, or a commit.

    Without `ref` it is what git has committed of the folder. Raises InvalidOption and OriginNotFound.
    """
    folder = os.path.join(cwd, os.path.expanduser(ref))
    if ref and os.path.isfile(os.path.join(folder, paths.SKILL_FILE)):
        yield folder
        return
    root = skill.root if skill.is_stored else find_root(cwd)
    entry = read_lock(root).get(skill.name) if ref else None
    with Origins(lock_folder(root)) as origins:
        if entry is not None and entry.text("sourceType") != "local":
            (_, match), *_ = origins.open([entry], is_exact=False, refs={entry.name: ref})
        else:
            match = _find_committed(origins, skill, ref, cwd)
        if isinstance(match, SkillcError):
            raise match
        match.complete()
        yield match.folder


def _find_committed(downloads: ExitStack, skill: Skill, ref: str, cwd: str) -> Candidate:
    """Return a skill as it is in a commit of the git repository that its folder is in."""
    in_git = any(os.path.exists(os.path.join(each, ".git")) for each in paths.with_parents(skill.source))
    if not in_git:
        way = "name an old folder with --old"
        raise InvalidOption(f"'{skill.name}' is in no git repository and not in the lock; {way}")
    origin = parse_origin(f"{skill.source}@HEAD", cwd).at(ref or "HEAD")
    download = downloads.enter_context(open_download(origin, lazy=True))
    found = [each for each in download.candidates if each.name == skill.name] or [*download.candidates]
    if len(found) != 1:
        raise InvalidOption(f"'{origin.label()}' has no skill '{skill.name}'; name a folder with --old")
    return found[0]


def find_shared(registry: str, cwd: str) -> dict[str, list[Skill]]:
    """Return the skills of a registry on this machine, whose use it may be told: their folders, by ID.

    They were added from it, in any project, or are of a repository with its address.
    """
    folders: dict[str, dict[str, Skill]] = {}
    for skill_id, skill in (*_find_locked(registry, cwd), *_find_copies(registry, cwd)):
        folders.setdefault(skill_id, {})[skill.source] = skill
    return {skill_id: list(skills.values()) for skill_id, skills in folders.items()}


def _roots(cwd: str) -> Iterable[str]:
    """Return the projects of this machine that skills were added to, that of `cwd`, and the home."""
    projects = (*paths.lock_roots(cwd), *paths.project_roots(cwd), *installed_roots())
    return dict.fromkeys((paths.require_home(), *projects))


def _find_locked(registry: str, cwd: str) -> Iterator[tuple[str, Skill]]:
    prefix = f"{OURS}{registry}/"
    for root in _roots(cwd):
        try:
            entries = read_lock(root)
        except (SkillcError, OSError):
            continue  # another command says what is wrong with it
        for name, entry in entries.items():
            source = entry.text("source")
            with suppress(InvalidSkillId):
                if source.startswith(prefix):
                    yield SkillId(source.removeprefix(prefix)), skill_of(root, name)


def _find_copies(registry: str, cwd: str) -> Iterator[tuple[str, Skill]]:
    home = paths.require_home()
    for root in (cwd, *_roots(cwd)):
        try:
            repositories = SkillsConfig.load(root).repositories
        except (SkillcError, OSError):
            continue
        for repository in repositories:
            try:
                address = parse_registry(repository.settings.get("url", ""))
            except SkillcError:
                continue
            if repository.type != "http" or address != registry:
                continue
            for skill_id, folder in list_copies(os.path.dirname(copy_path(repository, "x"))):
                yield skill_id, Skill(skill_id, folder, GLOBAL, home, True, repository.name, is_copy=True)
