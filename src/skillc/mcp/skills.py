"""The library as Skills over MCP offers it: which skills there are, their entries, and their files."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urlsplit

import anyio.to_thread

from skillc.errors import InvalidSkillId, SkillcError, SkillNotFound
from skillc.gateway import open_file
from skillc.library import at_path, locate_skill
from skillc.mcp.entries import MAX_BYTES, NotServed, SkillEntry, Stamps, entry_of, stamps_of
from skillc.paths import SKILL_FILE
from skillc.skills import SkillId, list_files
from skillc.usage import record_access, run_logged

if TYPE_CHECKING:
    from skillc.library import Skill
    from skillc.mcp.workplace import Workplace

MAX_KEPT = 4096  # entries in memory
MAX_URI = 4096  # characters

log = logging.getLogger("skillc.mcp")


class Shelf:
    """Skills by ID, as they are now; an entry is made again only when files of it changed."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._entries: dict[SkillId, SkillEntry] = {}
        self._refused: dict[SkillId, str] = {}

    async def directories(self) -> dict[SkillId, str]:
        """The folders of all skills that have one here, by ID."""
        return await self._place.library().directories()

    async def entry(self, skill_id: SkillId) -> SkillEntry:
        """One skill's entry; raises SkillNotFound or NotServed."""
        directory = (await self.directories()).get(skill_id)
        if directory is None and skill_id in await self._elsewhere():
            directory = await self._fetched(skill_id)
        if directory is None:
            raise SkillNotFound(skill_id)
        return await anyio.to_thread.run_sync(self._entry, skill_id, directory)

    async def _elsewhere(self) -> set[SkillId]:
        """The skills that have no folder here until somebody asks for them; listed they are not.

        Those of other MCP servers are not ours to serve: who wants them asks there.
        """
        library = self._place.library()
        others = {named.name for named in library.sources if getattr(named.source, "kind", "") == "mcp"}
        return {skill.id for skill in await library.list() if skill.source_name not in others}

    async def _fetched(self, skill_id: SkillId) -> str:
        """The copy of a skill that is elsewhere."""
        return (await anyio.to_thread.run_sync(locate_skill, str(skill_id), self._place.cwd)).source

    async def page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]:
        """Entries behind an ID, at most so many, and the ID to go on behind; whole entries only."""
        folders = await self.directories()
        wanted = [skill_id for skill_id in sorted(folders) if skill_id > after]
        return await anyio.to_thread.run_sync(self._page, folders, wanted, skills, files)

    def _page(
        self, folders: dict[SkillId, str], wanted: list[SkillId], skills: int, files: int
    ) -> tuple[list[SkillEntry], str | None]:
        found: list[SkillEntry] = []
        for position, skill_id in enumerate(wanted):
            try:
                entry = self._entry(skill_id, folders[skill_id])
            except (SkillcError, NotServed, OSError) as error:
                self._tell(skill_id, error)
                continue
            found.append(entry)
            files -= len(entry.files)
            if (len(found) >= skills or files <= 0) and position + 1 < len(wanted):
                return found, skill_id
        return found, None

    def _entry(self, skill_id: SkillId, directory: str) -> SkillEntry:
        entry = entry_of(skill_id, directory, self._entries.pop(skill_id, None))
        self._entries[skill_id] = entry
        while len(self._entries) > MAX_KEPT:
            self._entries.pop(next(iter(self._entries)), None)
        return entry

    def _tell(self, skill_id: SkillId, error: Exception) -> None:
        """Say once why a skill is not served."""
        reason = error.message if isinstance(error, SkillcError | NotServed) else str(error)
        if self._refused.get(skill_id) != reason:
            self._refused[skill_id] = reason
            log.warning("skill '%s' is not served over MCP: %s", skill_id, reason)

    def told(self) -> dict[SkillId, Stamps]:
        """The stamps of the entries that clients were given."""
        return {skill_id: entry.stamps for skill_id, entry in dict(self._entries).items()}

    async def stamps(self) -> dict[SkillId, Stamps]:
        """What tells whether anything changed: the stamps of all files of all skills."""
        folders = await self.directories()
        return await anyio.to_thread.run_sync(lambda: dict(_stamps(folders)))

    async def find(self, uri: str) -> tuple[SkillEntry, str]:
        """The skill that a URI leads into, and the path in it; raises NotServed."""
        path = _path(uri)
        for known in (await self.directories(), await self._elsewhere()):
            for skill_id, rest in _candidates(path):
                if skill_id in known:
                    return await self.entry(skill_id), rest
        raise NotServed(f"nothing is served at {uri}")

    async def read(self, uri: str) -> tuple[bytes, str]:
        """The bytes of a file, which are those of its entry, and its path; the access is logged."""
        entry, path = await self.find(uri)
        return await anyio.to_thread.run_sync(self._read, entry, path, uri)

    def _read(self, entry: SkillEntry, path: str, uri: str) -> tuple[bytes, str]:
        skill = at_path(entry.directory)
        known = next((file for file in entry.files if file.path == path), None)
        noted = {"path": path}
        if known is None:
            record_access(skill, "open", {**noted}, f"file not found: '{path}'", self._place.cwd)
            raise NotServed(f"nothing is served at {uri}")
        data, _ = run_logged(skill, "open", {**noted}, self._place.cwd, lambda: _bytes(skill, path))
        return data, path


def _candidates(path: str) -> Iterator[tuple[SkillId, str]]:
    """The skills that a path may lead into, and the rest of it, the longest ID first."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        try:
            yield SkillId("/".join(parts[:length])), "/".join(parts[length:])
        except InvalidSkillId:
            continue


def _bytes(skill: Skill, path: str) -> bytes:
    opened = open_file(skill, path)
    if opened.size > MAX_BYTES:
        raise NotServed(f"'{path}' has grown over {MAX_BYTES >> 20} MiB")
    return b"".join(opened.pieces())


def _stamps(folders: dict[SkillId, str]) -> Iterator[tuple[SkillId, Stamps]]:
    for skill_id, directory in folders.items():
        try:
            yield skill_id, stamps_of(list_files(directory))
        except (SkillcError, OSError):
            yield skill_id, ()


def _path(uri: str) -> str:
    """What is behind `skill://`, decoded; raises NotServed for what is no such URI."""
    try:
        parts = urlsplit(uri)
        plain = uri.startswith("skill://") and not (parts.query or parts.fragment) and len(uri) <= MAX_URI
        text = unquote_to_bytes(f"{parts.netloc}{parts.path}").decode("utf-8", "surrogateescape")
    except ValueError:
        plain, text = False, ""
    if not plain or "\0" in text or not all(text.split("/")):
        raise NotServed(f"nothing is served at {uri[:MAX_URI]}")
    return text


def main_of(uri: str) -> SkillId | None:
    """The skill whose SKILL.md a URI is; None for any other."""
    try:
        path = _path(uri)
        head, _, name = path.rpartition("/")
        return SkillId(head) if name == SKILL_FILE else None
    except (NotServed, InvalidSkillId):
        return None
