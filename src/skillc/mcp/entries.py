"""Make the entry of a skill for Skills over MCP: its frontmatter, and every file with digest and size.

An entry is a snapshot: the files are listed, read and listed again, and where anything changed meanwhile
it starts over. What the format or the limits of SEP-2640 rule out is refused with a reason, because every
host would have to refuse it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from skillc.errors import MissingField
from skillc.paths import SKILL_FILE
from skillc.skills import SkillId, is_name, list_files, parse, read_metadata
from skillc.startup import file_sha256_hex, sha256_hex

if TYPE_CHECKING:
    from skillc.skills import SourceFile

MAX_FILES = 512
MAX_BYTES = 16 << 20
MAX_DESCRIPTION = 1024
ATTEMPTS = 5  # at a folder that changes meanwhile

Stamps = tuple[tuple[str, tuple[int, int, int]], ...]


class NotServed(Exception):
    """Why a skill, or something of one, is not served over MCP."""

    @property
    def message(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of a skill."""

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

    @property
    def uri(self) -> str:
        return uri_of(self.skill_id, SKILL_FILE)

    def as_json(self) -> dict[str, Any]:
        """Return the `Skill` of SEP-2640."""
        resources = [
            {"uri": uri_of(self.skill_id, file.path), "digest": f"sha256:{file.digest}", "size": file.size}
            for file in self.files
        ]
        return {"uri": self.uri, "frontmatter": self.frontmatter, "resources": resources}


def uri_of(skill_id: str, path: str = "") -> str:
    """Return the URI of a file of a skill, or of its folder.

    >>> uri_of("acme/refunds", "examples/an email.md")
    'skill://acme/refunds/examples/an%20email.md'
    """
    return f"skill://{skill_id}/{quote(path, errors='surrogateescape')}".rstrip("/")


def entry_of(skill_id: SkillId, directory: str, last: SkillEntry | None = None) -> SkillEntry:
    """Return the entry of a skill; the `last` one where nothing changed. Raises NotServed."""
    for _ in range(ATTEMPTS):
        files = list_files(directory)
        stamps = stamps_of(files)
        if last is not None and (last.directory, last.stamps) == (directory, stamps):
            return last
        _check_limits(files)
        try:
            entry = _snapshot(skill_id, directory, files, stamps)
        except FileNotFoundError:
            continue  # removed meanwhile
        if stamps_of(list_files(directory)) == stamps:
            return entry
    raise NotServed(f"'{skill_id}' changes while it is read; try again")


def stamps_of(files: list[SourceFile]) -> Stamps:
    return tuple((file.name, file.stamp) for file in files)


def _check_limits(files: list[SourceFile]) -> None:
    if len(files) > MAX_FILES:
        raise NotServed(f"{len(files)} files are more than the {MAX_FILES} that every host takes")
    if sum(file.size for file in files) > MAX_BYTES:
        raise NotServed(f"its files are over {MAX_BYTES >> 20} MiB, which is all that every host takes")


def _snapshot(skill_id: SkillId, directory: str, files: list[SourceFile], stamps: Stamps) -> SkillEntry:
    try:
        with open(os.path.join(directory, SKILL_FILE), "rb") as file:
            main = file.read()
    except FileNotFoundError:
        if any(file.name == SKILL_FILE for file in files):
            raise
        raise NotServed(f"its main file is not called {SKILL_FILE}") from None
    frontmatter = _frontmatter(skill_id, main)
    entries = []
    for source in files:
        if source.name == SKILL_FILE:
            digest = sha256_hex(main)
        else:
            with open(source.path, "rb") as content:
                digest = file_sha256_hex(content, source.size)
        entries.append(FileEntry(source.name, digest, source.size))
    return SkillEntry(skill_id, directory, frontmatter, tuple(entries), stamps)


def _frontmatter(skill_id: SkillId, main: bytes) -> dict[str, Any]:
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
