"""Serve the library as Skills over MCP: which skills there are, their entries, and their files."""

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
    from skillc.workspace import Workspace

MAX_ENTRIES = 4096  # in memory
MAX_URI = 4096  # characters

log = logging.getLogger("skillc.mcp")


class ServedSkills:
    """The skills of a workspace by ID, as they are now.

    Entries are cached, at most `MAX_ENTRIES` of them; one is made again when files of its skill changed.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._entries: dict[SkillId, SkillEntry] = {}
        self._refusals: dict[SkillId, str] = {}  # by skill, the reason that was logged

    async def directories(self) -> dict[SkillId, str]:
        """Return the folders of all skills that have one here, by ID."""
        return await self._workspace.library().source.directories()

    async def entry(self, skill_id: SkillId) -> SkillEntry:
        """Return one skill's entry; raises SkillNotFound or NotServed."""
        directory = (await self.directories()).get(skill_id)
        if directory is None and skill_id in await self._remote_ids():
            directory = await self._fetch(skill_id)
        if directory is None:
            raise SkillNotFound(skill_id)
        return await anyio.to_thread.run_sync(self._entry, skill_id, directory)

    async def _remote_ids(self) -> set[SkillId]:
        """Return the skills that have no folder here until they are asked for; they are not listed.

        Skills of other MCP servers are left to those servers.
        """
        library = self._workspace.library().source
        others = {named.name for named in library.sources if getattr(named.source, "kind", "") == "mcp"}
        return {skill.id for skill in await library.list() if skill.source_name not in others}

    async def _fetch(self, skill_id: SkillId) -> str:
        """Return the folder of a remote skill, fetched now."""
        return (await anyio.to_thread.run_sync(locate_skill, str(skill_id), self._workspace.cwd)).source

    async def page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]:
        """Return a page of entries after an ID, and the cursor of the next page.

        It has at most so many skills, and ends with the skill that reaches the number of files.
        """
        folders = await self.directories()
        ids = [skill_id for skill_id in sorted(folders) if skill_id > after]
        return await anyio.to_thread.run_sync(self._page, folders, ids, skills, files)

    def _page(
        self, folders: dict[SkillId, str], ids: list[SkillId], skills: int, files: int
    ) -> tuple[list[SkillEntry], str | None]:
        entries: list[SkillEntry] = []
        for position, skill_id in enumerate(ids):
            try:
                entry = self._entry(skill_id, folders[skill_id])
            except (SkillcError, NotServed, OSError) as error:
                self._log_refusal(skill_id, error)
                continue
            entries.append(entry)
            files -= len(entry.files)
            if (len(entries) >= skills or files <= 0) and position + 1 < len(ids):
                return entries, skill_id
        return entries, None

    def _entry(self, skill_id: SkillId, directory: str) -> SkillEntry:
        entry = entry_of(skill_id, directory, self._entries.pop(skill_id, None))
        self._entries[skill_id] = entry
        while len(self._entries) > MAX_ENTRIES:
            self._entries.pop(next(iter(self._entries)), None)
        return entry

    def _log_refusal(self, skill_id: SkillId, error: Exception) -> None:
        """Log once why a skill is not served."""
        reason = error.message if isinstance(error, SkillcError | NotServed) else str(error)
        if self._refusals.get(skill_id) != reason:
            self._refusals[skill_id] = reason
            log.warning("skill '%s' is not served over MCP: %s", skill_id, reason)

    def entry_stamps(self) -> dict[SkillId, Stamps]:
        """Return the stamps of the entries that clients were given."""
        return {skill_id: entry.stamps for skill_id, entry in dict(self._entries).items()}

    async def stamps(self) -> dict[SkillId, Stamps]:
        """Return the stamps of all files of all skills, which change with anything in them."""
        folders = await self.directories()
        return await anyio.to_thread.run_sync(lambda: dict(_stamps(folders)))

    async def find(self, uri: str) -> tuple[SkillEntry, str]:
        """Return the skill that a URI leads into, and the path in it; raises NotServed."""
        path = _path(uri)
        for ids in (await self.directories(), await self._remote_ids()):
            for skill_id, rest in _candidates(path):
                if skill_id in ids:
                    return await self.entry(skill_id), rest
        raise NotServed(f"nothing is served at {uri}")

    async def read(self, uri: str) -> tuple[bytes, str]:
        """Return the bytes of a file, which are those of its entry, and its path; log the access."""
        entry, path = await self.find(uri)
        return await anyio.to_thread.run_sync(self._read, entry, path, uri)

    def _read(self, entry: SkillEntry, path: str, uri: str) -> tuple[bytes, str]:
        skill = at_path(entry.directory)
        if not any(file.path == path for file in entry.files):
            record_access(skill, "open", {"path": path}, f"file not found: '{path}'", self._workspace.cwd)
            raise NotServed(f"nothing is served at {uri}")
        data, _ = run_logged(skill, "open", {"path": path}, self._workspace.cwd, lambda: _read(skill, path))
        return data, path


def _candidates(path: str) -> Iterator[tuple[SkillId, str]]:
    """Yield the skills that a path may lead into, and the rest of it, the longest ID first."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        try:
            yield SkillId("/".join(parts[:length])), "/".join(parts[length:])
        except InvalidSkillId:
            continue


def _read(skill: Skill, path: str) -> bytes:
    file = open_file(skill, path)
    if file.size > MAX_BYTES:
        raise NotServed(f"'{path}' has grown over {MAX_BYTES >> 20} MiB")
    return b"".join(file.pieces())


def _stamps(folders: dict[SkillId, str]) -> Iterator[tuple[SkillId, Stamps]]:
    for skill_id, directory in folders.items():
        try:
            yield skill_id, stamps_of(list_files(directory))
        except (SkillcError, OSError):
            yield skill_id, ()


def _path(uri: str) -> str:
    """Return what follows `skill://`, decoded; raises NotServed for any other URI."""
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
    """Return the skill whose SKILL.md a URI is; None for any other."""
    try:
        path = _path(uri)
        head, _, name = path.rpartition("/")
        return SkillId(head) if name == SKILL_FILE else None
    except (NotServed, InvalidSkillId):
        return None
