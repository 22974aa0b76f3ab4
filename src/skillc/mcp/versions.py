"""Serve the skills of a registry as Skills over MCP: the latest versions that one caller may read.

A version never changes, so its entry is made once. What the format or the limits of SEP-2640 rule out is
refused with a reason, as in a workspace.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

import anyio.to_thread

from skillc.errors import InvalidSkillId, RegistryRefused, SkillNotFound
from skillc.mcp.skills import (
    MAX_BYTES,
    MAX_ENTRIES,
    MAX_FILES,
    FileEntry,
    NotServed,
    SkillEntry,
    check_frontmatter,
    parse_uri,
    split_path,
)
from skillc.paths import SKILL_FILE
from skillc.registry import Caller, Registry, Version
from skillc.skills import SkillId

MAX_DEPTH = 64  # segments of a URI's path
MAX_IDS = 20_000  # of a collection
PAGE = 500


class Entries:
    """A cache of entries by version, or of the reasons why there is none; the oldest are dropped."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._entries: OrderedDict[tuple[str, str], SkillEntry | str] = OrderedDict()
        self._lock = Lock()

    def get(self, caller: Caller, version: Version) -> SkillEntry:
        """Return the entry of a version that this caller may read; raises NotServed."""
        key = version.skill, version.archive
        with self._lock:
            entry = self._entries.pop(key, None)
        if entry is None:
            try:
                entry = self._make(caller, version)
            except NotServed as error:
                entry = str(error)
        with self._lock:
            self._entries[key] = entry
            while len(self._entries) > MAX_ENTRIES:
                self._entries.popitem(last=False)
        if isinstance(entry, str):
            raise NotServed(entry)
        return entry

    def _make(self, caller: Caller, version: Version) -> SkillEntry:
        files = self._registry.files(caller, version)
        if len(files) > MAX_FILES:
            raise NotServed(f"{len(files)} files are more than the {MAX_FILES} that every host takes")
        if sum(file.size for file in files) > MAX_BYTES:
            raise NotServed(f"its files are over {MAX_BYTES >> 20} MiB, which is all that every host takes")
        if not any(file.path == SKILL_FILE for file in files):
            raise NotServed(f"its main file is not called {SKILL_FILE}")
        main = self._registry.read_file(caller, version, SKILL_FILE)
        entries = tuple(FileEntry(file.path, file.digest.partition(":")[2], file.size) for file in files)
        return SkillEntry(version.skill, "", check_frontmatter(version.skill, main), entries, ())


class CallerSkills:
    """The skills of a registry as one caller sees them."""

    def __init__(self, registry: Registry, entries: Entries, caller: Caller) -> None:
        self._registry = registry
        self._entries = entries
        self._caller = caller

    async def ids(self, prefix: str) -> list[SkillId]:
        return await anyio.to_thread.run_sync(self._ids, prefix)

    async def entry(self, skill_id: SkillId) -> SkillEntry:
        return await anyio.to_thread.run_sync(self._entry, skill_id)

    async def page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]:
        return await anyio.to_thread.run_sync(self._page, after, skills, files)

    async def find(self, uri: str) -> tuple[SkillEntry, str]:
        return await anyio.to_thread.run_sync(self._find, uri)

    async def read(self, uri: str) -> tuple[bytes, str]:
        return await anyio.to_thread.run_sync(self._read, uri)

    def _ids(self, prefix: str) -> list[SkillId]:
        ids: list[SkillId] = []
        after = ""
        try:
            while page := self._registry.skills(self._caller, prefix, after, PAGE):
                ids += (skill.id for skill in page if skill.latest and skill.id != prefix)
                after = page[-1].id
                if len(ids) >= MAX_IDS:
                    break
        except InvalidSkillId:
            return []
        return ids

    def _entry(self, skill_id: SkillId) -> SkillEntry:
        return self._entries.get(self._caller, self._version(skill_id))

    def _version(self, skill_id: SkillId) -> Version:
        try:
            return self._registry.skill(self._caller, skill_id).resolve()
        except (SkillNotFound, RegistryRefused):  # one answer: nothing is told about what may not be read
            raise NotServed(f"skill '{skill_id}' is not served") from None

    def _page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]:
        entries: list[SkillEntry] = []
        while page := self._registry.skills(self._caller, after=after, limit=skills):
            for skill in page:
                if len(entries) >= skills or files <= 0:
                    return entries, after
                after = skill.id
                try:
                    entry = self._entries.get(self._caller, skill.resolve())
                except (SkillNotFound, NotServed):
                    continue
                entries.append(entry)
                files -= len(entry.files)
        return entries, None

    def _find(self, uri: str) -> tuple[SkillEntry, str]:
        path = parse_uri(uri)
        for skill_id, rest in split_path(path) if path.count("/") < MAX_DEPTH else ():
            try:
                version = self._version(skill_id)
            except NotServed:
                continue
            return self._entries.get(self._caller, version), rest
        raise NotServed(f"nothing is served at {uri}")

    def _read(self, uri: str) -> tuple[bytes, str]:
        entry, path = self._find(uri)
        if not any(file.path == path for file in entry.files):
            raise NotServed(f"nothing is served at {uri}")
        return self._registry.read_file(self._caller, self._version(entry.skill_id), path), path
