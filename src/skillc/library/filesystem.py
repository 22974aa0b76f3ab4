"""Skills in a folder, at any depth: IDs from directories, COLLECTION.md, quarantine [D25, D26].

A directory with SKILL.md is a skill; what is below it are its files. A scan stats every SKILL.md and
parses only those that are new or changed since the last one; descriptions are kept, bodies are not.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from skillc.errors import MissingField, RepositoryUnavailable, SkillNotFound, notice
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillScope,
    derive_collections,
)
from skillc.library.sources import ALL, SkillSource, SourceDiagnostic
from skillc.places import SKILL_FILES
from skillc.skills import Metadata, SkillId, metadata, parse, to_segment
from skillc.skills.format import violations
from skillc.skills.ids import is_segment

MAX_SKILL_FILE = 1 << 20  # bytes; a larger SKILL.md is quarantined
MAX_DIRECTORIES = 100_000  # links to each other can make any number of a few
COLLECTION_FILE = "COLLECTION.md"


@dataclass(frozen=True, slots=True)
class _Found:
    """A SKILL.md as a scan met it."""

    skill_id: str
    directory: str
    path: str
    stamp: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Place:
    """A directory to look at, the ID so far, and the links (and the root) that lead there."""

    directory: str
    prefix: str
    chain: frozenset[str]

    def below(self, entry: os.DirEntry[str]) -> builtins.list[_Place]:
        """A directory in this one; none where it leads back to where we came from."""
        segment = entry.name if is_segment(entry.name) else to_segment(entry.name)
        prefix = f"{self.prefix}/{segment}" if self.prefix else segment
        if not entry.is_symlink():
            return [_Place(entry.path, prefix, self.chain)]
        real = os.path.realpath(entry.path)
        return [] if real in self.chain else [_Place(entry.path, prefix, self.chain | {real})]


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is known of a SKILL.md: a descriptor, or why there is none."""

    stamp: tuple[int, int, int]
    descriptor: SkillDescriptor | None
    diagnostics: tuple[SourceDiagnostic, ...]


@dataclass(slots=True)
class _Scan:
    """The outcome of a scan."""

    skills: dict[SkillId, SkillDescriptor] = field(default_factory=dict)
    directories: dict[SkillId, str] = field(default_factory=dict)
    paths: dict[SkillId, str] = field(default_factory=dict)
    collections: dict[str, str] = field(default_factory=dict)
    diagnostics: builtins.list[SourceDiagnostic] = field(default_factory=builtins.list)
    quarantined: int = 0


class FilesystemSkillSource(SkillSource):
    """A folder of skills. `strict` quarantines whatever breaks the Agent Skills format.

    A folder that is not there holds no skills, unless it is `required`.
    """

    kind = "filesystem"

    def __init__(
        self,
        root: str | os.PathLike[str],
        scope: SkillScope = SkillScope.PROJECT,
        *,
        strict: bool = False,
        required: bool = False,
    ) -> None:
        self.root = os.path.abspath(os.fspath(root))
        self.scope = scope
        self.strict = strict
        self.required = required
        self._turn = threading.Lock()  # of those who ask at once, one parses what is new
        self._known: dict[str, _Entry] = {}
        self.quarantined = 0  # at the last look

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs of it; locks don't travel."""
        return {name: value for name, value in vars(self).items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _turn=threading.Lock())

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        scan = await asyncio.to_thread(self.scan)
        return [skill for skill in scan.skills.values() if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        return await asyncio.to_thread(self._load, skill_id)

    async def collections(self) -> builtins.list[SkillCollection]:
        scan = await asyncio.to_thread(self.scan)
        return derive_collections(scan.skills.values(), scan.collections)

    @property
    def unused(self) -> bool:
        """Whether the folder is not there."""
        return not os.path.isdir(self.root)

    async def diagnostics(self) -> builtins.list[SourceDiagnostic]:
        """What was repaired and what is quarantined, with the reason."""
        return (await asyncio.to_thread(self.scan)).diagnostics

    async def directory(self, skill_id: SkillId) -> str:
        """The folder of a skill."""
        scan = await asyncio.to_thread(self.scan)
        if skill_id not in scan.directories:
            raise SkillNotFound(skill_id)
        return scan.directories[skill_id]

    async def directories(self) -> dict[SkillId, str]:
        """The folders of all skills, in one look."""
        return (await asyncio.to_thread(self.scan)).directories

    def scan(self) -> _Scan:
        """Look at the folder as it is now; unchanged files are not read again."""
        with self._turn:
            return self._scan()

    def _scan(self) -> _Scan:
        scan = _Scan()
        found = self._walk(scan)
        known = {item.path: self._entry(item) for item in found}
        self._known = known
        by_id: dict[str, builtins.list[_Found]] = {}
        for item in found:
            by_id.setdefault(item.skill_id, []).append(item)
        for skill_id in sorted(by_id):
            _sort_in(scan, by_id[skill_id], known)
        self.quarantined = scan.quarantined
        return scan

    def _walk(self, scan: _Scan) -> builtins.list[_Found]:
        """Every SKILL.md below the root; directories below one are its files."""
        found: builtins.list[_Found] = []
        pending = [_Place(self.root, "", frozenset({os.path.realpath(self.root)}))]
        seen = 0
        while pending:
            place = pending.pop()
            seen += 1
            if seen > MAX_DIRECTORIES:
                problem = f"over {MAX_DIRECTORIES} directories; the rest was not looked at"
                scan.diagnostics.append(_problem(self.root, "E999", problem))
                break
            try:
                entries = builtins.list(os.scandir(place.directory))
            except OSError as error:
                if place.directory == self.root:
                    self._missing(error)
                    return []
                problem = f"cannot be read: {error.strerror}"
                scan.diagnostics.append(_problem(place.directory, "E999", problem))
                continue
            main = _main(entries)
            if main is not None:
                found += self._found(main, place.directory, place.prefix)
                continue
            for entry in entries:
                if entry.name == COLLECTION_FILE and _is(entry.is_file):
                    scan.collections[place.prefix] = _first_line(entry.path)
                elif entry.name[0] != "." and _is(entry.is_dir):
                    pending += place.below(entry)
        return found

    def _missing(self, error: OSError) -> None:
        if self.required:
            raise RepositoryUnavailable(self.root, error.strerror or str(error)) from None

    def _found(self, main: os.DirEntry[str], directory: str, prefix: str) -> builtins.list[_Found]:
        try:
            status = main.stat()
        except OSError:
            return []  # gone since the directory was read
        own = prefix or to_segment(os.path.basename(self.root))  # the root itself is a skill
        stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return [_Found(own, directory, main.path, stamp)]

    def _entry(self, item: _Found) -> _Entry:
        known = self._known.get(item.path)
        if known is not None and known.stamp == item.stamp:
            return known
        if item.stamp[0] > MAX_SKILL_FILE:
            problem = _problem(item.path, "E010", f"SKILL.md is over {MAX_SKILL_FILE >> 20} MiB")
            return _Entry(item.stamp, None, (problem,))
        try:
            with open(item.path, "rb") as file:
                raw = file.read(MAX_SKILL_FILE + 1)
        except OSError as error:
            problem = _problem(item.path, "E010", f"SKILL.md cannot be read: {error.strerror}")
            return _Entry(item.stamp, None, (problem,))
        return self._parsed(item, raw)

    def _parsed(self, item: _Found, raw: bytes) -> _Entry:
        """A descriptor from the bytes of a SKILL.md, or the reason why there is none."""
        name = os.path.basename(item.directory)
        try:
            told = metadata(parse(raw), name)
        except MissingField as error:
            noticed = [_noticed(item.path, d.code, d.message) for d in error.diagnostics]
            return _Entry(item.stamp, None, (*noticed, _problem(item.path, error.code, error.message)))
        diagnostics = [_noticed(item.path, d.code, d.message) for d in told.diagnostics]
        if told.name != item.skill_id.rpartition("/")[2]:
            unlike = notice("W021", told.name, name)
            diagnostics.append(_noticed(item.path, unlike.code, unlike.message))
        broken = violations(told, name) if self.strict else []
        if broken:
            problem = _problem(item.path, "E010", f"breaks the Agent Skills format: {'; '.join(broken)}")
            return _Entry(item.stamp, None, (*diagnostics, problem))
        return _Entry(item.stamp, self._descriptor(item, told), tuple(diagnostics))

    def _descriptor(self, item: _Found, told: Metadata) -> SkillDescriptor:
        return SkillDescriptor(
            SkillId(item.skill_id),
            description=told.description.strip(),
            scope=self.scope,
            requires_capabilities=_texts(told.fields.get("requires_capabilities")),
            metadata=_text_map(told.fields.get("metadata")),
        )

    def _load(self, skill_id: SkillId) -> SkillDocument:
        scan = self.scan()
        descriptor = scan.skills.get(skill_id)
        if descriptor is None:
            raise SkillNotFound(skill_id)
        try:
            with open(scan.paths[skill_id], "rb") as file:
                document = parse(file.read(MAX_SKILL_FILE + 1))
        except OSError as error:  # gone, or closed, since the scan
            raise SkillNotFound(skill_id, error.strerror or "") from None
        told = metadata(document, descriptor.name)
        body = document.data[document.body :].decode("utf-8", "replace").lstrip("\r\n")
        known = ("name", "description", "metadata", "requires_capabilities")
        extensions = {key: value for key, value in told.fields.items() if key not in known}
        return SkillDocument(descriptor, body, extensions)


def _sort_in(scan: _Scan, items: builtins.list[_Found], known: dict[str, _Entry]) -> None:
    """Offer a skill, or quarantine it; of two directories that give one ID, both."""
    for item in items:
        entry = known[item.path]
        scan.diagnostics += entry.diagnostics
        if len(items) > 1:
            others = ", ".join(other.directory for other in items if other is not item)
            problem = f"'{item.skill_id}' is also the id of {others}"
            scan.diagnostics.append(_problem(item.path, "E070", problem))
        elif entry.descriptor is not None:
            scan.skills[entry.descriptor.id] = entry.descriptor
            scan.directories[entry.descriptor.id] = item.directory
            scan.paths[entry.descriptor.id] = item.path
            continue
        scan.quarantined += 1


def _main(entries: builtins.list[os.DirEntry[str]]) -> os.DirEntry[str] | None:
    for name in SKILL_FILES:
        for entry in entries:
            if entry.name == name and _is(entry.is_file):
                return entry
    return None


def _is(kind: Callable[[], bool]) -> bool:
    """Whether an entry is of a kind; one that can't be told (a link to itself) is of none."""
    try:
        return kind()
    except OSError:
        return False


def _first_line(path: str) -> str:
    """A collection's description: the first line that is not empty [D26]."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return next((line.strip() for line in file.read(4096).splitlines() if line.strip()), "")
    except OSError:
        return ""


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    return tuple(str(item) for item in value) if isinstance(value, builtins.list) else ()


def _text_map(value: Any) -> dict[str, str]:
    """Metadata as text to text: what is not text is written as JSON."""
    if not isinstance(value, dict):
        return {}
    return {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in value.items()}


def _noticed(path: str, code: str, message: str) -> SourceDiagnostic:
    return SourceDiagnostic(path, code, "warning", message)


def _problem(path: str, code: str, message: str) -> SourceDiagnostic:
    return SourceDiagnostic(path, code, "error", message)
