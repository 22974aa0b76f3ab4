"""The files of a skill as a server of the Skills API lists them, checked and bounded."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from skillc.paths import SKILL_FILES
from skillc.remotes.protocol import Failure
from skillc.skills import SkillId, find_collision, is_portable
from skillc.startup import sha256_hex

MAX_FILES = 10_000  # of a skill
MAX_BYTES = 64 << 20  # of all files of a skill
_DIGEST = re.compile("sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of a skill; its digest names its bytes."""

    path: str
    size: int
    digest: str
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files of a skill as a server lists them, checked; `version` is empty if it has none."""

    version: str
    files: tuple[FileEntry, ...]

    @property
    def key(self) -> str:
        """A name for this set of files."""
        lines = sorted(f"{file.path}\n{file.digest}\n{file.is_executable}" for file in self.files)
        return sha256_hex("\n".join(lines).encode())[:32]


def read_files(skill_id: SkillId, data: Any) -> FileListing:
    """Read the list of a skill's files; raise Failure for one that can't be stored as it says."""
    items = data.get("files") if isinstance(data, dict) else None
    if not isinstance(items, list):
        raise Failure(f"the answer has no list of the 'files' of '{skill_id}'")
    if len(items) > MAX_FILES:
        raise Failure(f"'{skill_id}' has {len(items)} files; {MAX_FILES} are the limit")
    files = tuple(_read_file(skill_id, item) for item in items)
    if sum(file.size for file in files) > MAX_BYTES:
        raise Failure(f"the files of '{skill_id}' are over {MAX_BYTES >> 20} MiB")
    names = [file.path for file in files]
    if len(set(names)) < len(names) or find_collision(names):
        raise Failure(f"'{skill_id}' names a file twice")
    if not any(name in SKILL_FILES for name in names):
        raise Failure(f"'{skill_id}' has no SKILL.md among its files")
    version = data.get("version")
    return FileListing(version if isinstance(version, str) else "", files)


def _read_file(skill_id: SkillId, item: Any) -> FileEntry:
    fields = item if isinstance(item, dict) else {}
    path, size, digest = fields.get("path"), fields.get("size"), fields.get("digest")
    if not isinstance(path, str) or not is_portable(path) or "/." in f"/{path}":
        raise Failure(f"a file of '{skill_id}' has a name that is hidden, or that not every system can hold")
    if type(size) is not int or not 0 <= size <= MAX_BYTES:
        raise Failure(f"a file of '{skill_id}' has no size, or one over {MAX_BYTES >> 20} MiB")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise Failure(f"a file of '{skill_id}' has no SHA-256 digest")
    return FileEntry(path, size, digest, fields.get("executable") is True)
