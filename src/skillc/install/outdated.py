"""Ask the origins of locked skills for their latest versions, as `outdated` and `update` do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from skillc.contract import HIDDEN
from skillc.errors import Diagnostic, InvalidOption, OriginNotFound, SkillcError, warning
from skillc.install.download import open_download
from skillc.install.entry import LockEntry, compute_hash
from skillc.install.fetch import find_candidate, warn_of_yank
from skillc.install.lock import lock_file, store_folder
from skillc.install.origin import Candidate, Download, Origin
from skillc.skills import digest_skill

UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Latest:
    """A locked skill and its latest version, whose folder is there while its download is open."""

    entry: LockEntry
    download: Download
    candidate: Candidate
    is_changed: bool
    is_edited: bool = False

    @property
    def current_name(self) -> str:
        return self.entry.own_text("version") or self.entry.commit[:12] or self.entry.hash[:12]

    @property
    def latest_name(self) -> str:
        if not self.is_changed:
            return self.current_name
        return self.candidate.version or self.download.commit[:12] or "new files"

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
    tell_step: Callable[[str], None] = lambda name: None,
) -> Outdated:
    """Return which skills have a newer version, without fetching its files."""
    diagnostics: list[Diagnostic] = []
    base = os.path.dirname(lock_file(root))
    with find_latest(
        base, entries, diagnostics, min_age=min_age, hosts=hosts, tell_step=tell_step
    ) as versions:
        return Outdated(tuple(with_edits(root, latest) for latest in versions), tuple(diagnostics))


@contextmanager
def find_latest(
    base: str,
    entries: Iterable[LockEntry],
    diagnostics: list[Diagnostic],
    *,
    min_age: int = 0,
    hosts: Iterable[str] = (),
    tell_step: Callable[[str], None] = lambda name: None,
) -> Iterator[list[Latest]]:
    """Give the latest version of each skill; one that can't be asked for is a warning (W088).

    A commit that is younger than `min_age` seconds is not taken, and neither is what has no date; a folder on
    this machine needs none. `hosts` may be asked besides those of the lock. `tell_step` gets the name of each
    skill: of the first of an origin before that is asked.
    """
    with ExitStack() as stack:
        versions: list[Latest] = []
        for origin, group in _group(base, entries, diagnostics, hosts):
            tell_step(group[0].name)
            for number, (entry, download) in enumerate(_ask(stack, origin, group, diagnostics)):
                if number:
                    tell_step(entry.name)
                latest = _compare(entry, download, diagnostics)
                if latest is not None and _is_old_enough(latest, min_age, diagnostics):
                    versions.append(latest)
        yield versions


def parse_age(text: str, option: str = "--min-age") -> int:
    """Return the seconds of an age such as 3d, 12h or 2w.

    >>> parse_age("3d")
    259200
    """
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS or not (number.isascii() and number.isdecimal()) or len(number) > 6:
        raise InvalidOption(f"{option} takes a number and m, h, d or w, such as 3d, not '{text}'")
    return int(number) * UNITS[unit]


def _group(
    base: str, entries: Iterable[LockEntry], diagnostics: list[Diagnostic], hosts: Iterable[str]
) -> Iterator[tuple[Origin, list[LockEntry]]]:
    groups: dict[Origin, list[LockEntry]] = {}
    for entry in entries:
        try:
            origin = entry.origin(base, hosts)
        except SkillcError as error:
            diagnostics.append(warning("W088", entry.name, error.message))
            continue
        groups.setdefault(replace(origin, path="") if entry.text("skillPath") else origin, []).append(entry)
    yield from groups.items()


def _ask(
    stack: ExitStack, origin: Origin, entries: Sequence[LockEntry], diagnostics: list[Diagnostic]
) -> Iterator[tuple[LockEntry, Download]]:
    """Yield each skill with the download that has it; where one is gone, the others are asked for alone."""
    names = [entry.text("skillPath") or entry.name for entry in entries]
    try:
        download = stack.enter_context(open_download(origin, names=names, lazy=True))
    except SkillcError as error:
        if len(entries) > 1 and isinstance(error, OriginNotFound) and "there is no skill" in error.reason:
            for entry in entries:
                yield from _ask(stack, origin, [entry], diagnostics)
            return
        reason = error.reason if isinstance(error, OriginNotFound) else error.message
        diagnostics += [warning("W088", entry.name, reason) for entry in entries]
        return
    for entry in entries:
        yield entry, download


def _compare(entry: LockEntry, download: Download, diagnostics: list[Diagnostic]) -> Latest | None:
    candidate = find_candidate(entry, download)
    if candidate is None:
        diagnostics.append(warning("W088", entry.name, f"it is not in {download.origin.label()} any more"))
        return None
    warn_of_yank(entry, candidate, diagnostics)
    if candidate.source_digest and entry.digest:  # nothing but the list of versions was fetched
        is_changed = candidate.source_digest != f"sha256:{entry.digest}"
        return Latest(entry, download, candidate, is_changed)
    tree = entry.own_text("tree")
    if tree and candidate.tree:  # nothing but trees was fetched
        return Latest(entry, download, candidate, candidate.tree != tree)
    try:
        download.complete([candidate])
    except OriginNotFound as error:  # of this skill; the others may be there
        diagnostics.append(warning("W088", entry.name, error.reason))
        return None
    if entry.content:
        content = digest_skill(candidate.folder, executables=entry.executables)
        return Latest(entry, download, candidate, content.digest != entry.content)
    whole = compute_hash(candidate.folder, candidate.links)
    return Latest(entry, download, candidate, whole != entry.hash)


def _is_old_enough(latest: Latest, min_age: int, diagnostics: list[Diagnostic]) -> bool:
    if not min_age or not latest.is_changed or latest.download.origin.type == "local":
        return True
    version = latest.candidate.version
    name = f"version {version}" if version else f"commit {latest.download.commit[:12]}"
    age = int(time.time()) - latest.download.time
    if not latest.download.time:
        reason = "its origin does not say how old it is, and --min-age is set"
    elif age < min_age:
        reason = f"{name} is {_age(age)} old, younger than --min-age"
    else:
        return True
    diagnostics.append(warning("W088", latest.entry.name, reason))
    return False


def _age(seconds: int) -> str:
    unit = next((unit for unit in ("d", "h", "m") if seconds >= UNITS[unit]), "m")
    return f"{max(seconds, 0) // UNITS[unit]}{unit}"


def with_edits(root: str, latest: Latest) -> Latest:
    """Return the same with whether the skill in the store differs from what was installed."""
    folder, entry = store_folder(root, latest.entry.name), latest.entry
    has_edits = os.path.isdir(folder) and not _is_as_installed(folder, entry)
    return replace(latest, is_edited=has_edits)


def _is_as_installed(folder: str, entry: LockEntry) -> bool:
    if entry.content:
        return digest_skill(folder, executables=entry.executables).digest == entry.content
    return compute_hash(folder) == (entry.own_text("installed") or entry.hash)
