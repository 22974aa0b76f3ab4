"""Serve the library as Skills over MCP: which skills there are, their entries, and their files.

An entry has a skill's frontmatter, and every file with digest and size. It is a snapshot: the files are
listed, read and listed again, and where anything changed meanwhile it starts over. What the format or the
limits of SEP-2640 rule out is refused with a reason, because every host would have to refuse it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

import anyio.to_thread

from skillc.errors import InvalidSkillId, MissingField, SkillcError, SkillNotFound
from skillc.gateway import open_file
from skillc.library import Skill, at_path, locate_skill
from skillc.paths import SKILL_FILE
from skillc.skills import SkillId, SourceFile, is_name, list_files, open_inside
from skillc.skills.document import parse, read_metadata
from skillc.startup import file_sha256_hex, sha256_hex
from skillc.usage import record_access
from skillc.workspace import Workspace

MAX_FILES = 512
MAX_BYTES = 16 << 20
MAX_DESCRIPTION = 1024
ATTEMPTS = 5  # at a folder that changes meanwhile
MAX_ENTRIES = 4096  # in memory
MAX_URI = 4096  # characters

log = logging.getLogger("skillc.mcp")
Stamps = tuple[tuple[str, tuple[int, int, int]], ...]


class NotServed(Exception):
    """The reason why a skill, or something of one, is not served over MCP."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    path: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class SkillEntry:
    """A skill at one moment. Its `stamps` change when it does."""

    skill_id: SkillId
    directory: str
    frontmatter: dict[str, Any]
    files: tuple[FileEntry, ...]
    stamps: Stamps

    def as_json(self) -> dict[str, Any]:
        """Return the `Skill` of SEP-2640."""
        resources = [
            {"uri": uri_of(self.skill_id, file.path), "digest": f"sha256:{file.digest}", "size": file.size}
            for file in self.files
        ]
        uri = uri_of(self.skill_id, SKILL_FILE)
        return {"uri": uri, "frontmatter": self.frontmatter, "resources": resources}


def uri_of(skill_id: str, path: str = "") -> str:
    """Return the URI of a file of a skill, or of its folder.

    >>> uri_of("acme/refunds", "examples/an email.md")
    'skill://acme/refunds/examples/an%20email.md'
    """
    return f"skill://{skill_id}/{quote(path, errors='surrogateescape')}".rstrip("/")


def entry_of(skill_id: SkillId, directory: str, last: SkillEntry | None = None) -> SkillEntry:
    """Return the entry of a skill; the `last` one where nothing changed. Raises NotServed."""
    for _ in range(ATTEMPTS):
        files = list_files(directory, strict=True)
        stamps = stamps_of(files)
        if last is not None and (last.directory, last.stamps) == (directory, stamps):
            return last
        check_files(file.size for file in files)
        try:
            entry = _snapshot(skill_id, directory, files, stamps)
        except FileNotFoundError:
            continue  # removed meanwhile
        if stamps_of(list_files(directory, strict=True)) == stamps:
            return entry
    raise NotServed(f"'{skill_id}' changes while it is read; try again")


def stamps_of(files: list[SourceFile]) -> Stamps:
    return tuple((file.name, file.stamp) for file in files)


def _snapshot(skill_id: SkillId, directory: str, files: list[SourceFile], stamps: Stamps) -> SkillEntry:
    try:
        with open(open_inside(directory, SKILL_FILE), "rb") as file:
            main = file.read(MAX_BYTES)
    except FileNotFoundError:
        if any(file.name == SKILL_FILE for file in files):
            raise
        raise NotServed(f"its main file is not called {SKILL_FILE}") from None
    frontmatter = check_frontmatter(skill_id, main)
    entries = []
    for source in files:
        if source.name == SKILL_FILE:
            digest = sha256_hex(main)
        else:
            with open(open_inside(directory, source.name), "rb") as content:
                digest = file_sha256_hex(content, source.size)
        entries.append(FileEntry(source.name, digest, source.size))
    return SkillEntry(skill_id, directory, frontmatter, tuple(entries), stamps)


def check_files(sizes: Iterable[int]) -> None:
    """Raise NotServed for more or larger files than every host takes."""
    all_sizes = [*sizes]
    if len(all_sizes) > MAX_FILES:
        raise NotServed(f"{len(all_sizes)} files are more than the {MAX_FILES} that every host takes")
    if sum(all_sizes) > MAX_BYTES:
        raise NotServed(f"its files are over {MAX_BYTES >> 20} MiB, which is all that every host takes")


def check_frontmatter(skill_id: SkillId, main: bytes) -> dict[str, Any]:
    """Return the frontmatter as JSON; raises NotServed for one that a host could not verify."""
    try:
        fields = read_metadata(parse(main), skill_id.name)
    except MissingField as error:
        raise NotServed(error.message) from None
    if fields.diagnostics:
        raise NotServed(f"its frontmatter had to be repaired: {fields.diagnostics[0].message}")
    if fields.name != skill_id.name or not is_name(fields.name):
        raise NotServed(f"its name '{fields.name}' is not its folder's, '{skill_id.name}', or not valid")
    if len(fields.description) > MAX_DESCRIPTION:
        raise NotServed(f"its description has over {MAX_DESCRIPTION} characters")
    try:
        json.dumps(fields.fields, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise NotServed("its frontmatter has halves of characters") from None
    return fields.fields


class ServedSkills:
    """The skills of a workspace by ID, as they are now.

    Entries are cached, at most `MAX_ENTRIES` of them; one is made again when files of its skill changed.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._entries: dict[SkillId, SkillEntry] = {}
        self._refusals: dict[SkillId, str] = {}  # by skill, the reason that was logged

    async def directories(self) -> dict[SkillId, str]:
        """Return the folders of all skills that have one here, by ID; none if skills are switched off.

        Skills that need a capability which is not there are left out [D58].
        """
        if self._workspace.switched_off_by():
            return {}
        return await self._workspace.engine().directories()

    async def ids(self, prefix: str) -> list[SkillId]:
        """Return the skills with a folder that are below a prefix."""
        below = f"{prefix}/" if prefix else ""
        return [skill_id for skill_id in await self.directories() if skill_id.startswith(below)]

    async def entry(self, skill_id: SkillId) -> SkillEntry:
        """Return one skill's entry; raises SkillNotFound or NotServed."""
        directory = (await self.directories()).get(skill_id)
        if directory is None and skill_id in await self._remote_ids():
            locate = anyio.to_thread.run_sync(locate_skill, str(skill_id), self._workspace.cwd)
            directory = (await locate).source  # fetched now
        if directory is None:
            raise SkillNotFound(skill_id)
        return await anyio.to_thread.run_sync(self._entry, skill_id, directory)

    async def _remote_ids(self) -> set[SkillId]:
        """Return the skills that have no folder here until they are asked for; they are not listed.

        Skills of other MCP servers are left to those servers.
        """
        sources = self._workspace.library().sources
        skills = await self._workspace.engine().list_skills()
        others = {part.name for part in sources if getattr(part.source, "kind", "") == "mcp"}
        return {skill.id for skill in skills if skill.source_name not in others}

    async def page(self, after: str, skills: int, files: int) -> tuple[list[SkillEntry], str | None]:
        """Return a page of entries after an ID, and the cursor of the next page.

        It has at most `skills` entries, and ends with the one that reaches `files` files.
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
                reason = error.message if isinstance(error, SkillcError) else str(error)
                if self._refusals.get(skill_id) != reason:
                    self._refusals[skill_id] = reason
                    log.warning("skill '%s' is not served over MCP: %s", skill_id, reason)
                continue
            entries.append(entry)
            files -= len(entry.files)
            if (len(entries) >= skills or files <= 0) and position + 1 < len(ids):
                return entries, skill_id
        return entries, None

    def _entry(self, skill_id: SkillId, directory: str) -> SkillEntry:
        entry = entry_of(skill_id, directory, self._entries.pop(skill_id, None))
        self._entries[skill_id] = entry
        if len(self._entries) > MAX_ENTRIES:
            oldest, *_ = list(self._entries)  # a copy, because other threads add entries
            self._entries.pop(oldest, None)
        return entry

    def entry_stamps(self) -> dict[SkillId, Stamps]:
        """Return the stamps of the entries that clients were given."""
        return {skill_id: entry.stamps for skill_id, entry in dict(self._entries).items()}

    async def stamps(self) -> dict[SkillId, Stamps]:
        """Return the stamps of all files of all skills, which change with anything in them."""
        folders = await self.directories()
        return await anyio.to_thread.run_sync(lambda: dict(_stamps(folders)))

    async def find(self, uri: str) -> tuple[SkillEntry, str]:
        """Return the skill that a URI leads into, and the path in it; raises NotServed."""
        path = parse_uri(uri)
        for ids in (await self.directories(), await self._remote_ids()):
            for skill_id, rest in split_path(path):
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

        def read(skill: Skill) -> bytes:
            content = open_file(skill, path)
            if content.size > MAX_BYTES:
                raise NotServed(f"'{path}' has grown over {MAX_BYTES >> 20} MiB")
            return b"".join(content.pieces())

        return self._workspace.operate("open", skill, {"path": path}, read), path


def split_path(path: str) -> Iterator[tuple[SkillId, str]]:
    """Yield the skills that a path may lead into, and the rest of it, the longest ID first."""
    parts = path.split("/")
    for length in range(len(parts), 0, -1):
        try:
            yield SkillId("/".join(parts[:length])), "/".join(parts[length:])
        except InvalidSkillId:
            continue


def _stamps(folders: dict[SkillId, str]) -> Iterator[tuple[SkillId, Stamps]]:
    for skill_id, directory in folders.items():
        try:
            yield skill_id, stamps_of(list_files(directory))
        except (SkillcError, OSError):
            yield skill_id, ()


def parse_uri(uri: str) -> str:
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
        head, _, name = parse_uri(uri).rpartition("/")
        return SkillId(head) if name == SKILL_FILE else None
    except (NotServed, InvalidSkillId):
        return None
