"""Which sources of a skill are still those that were indexed: by size and times, then by hash [D18]."""

from __future__ import annotations

import os

from skillc.errors import SkillcError
from skillc.index.sections import DatabaseError, open_index
from skillc.skills.files import list_files
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from skillc.library import Skill
    from skillc.skills.files import SourceFile

# Digest, size and times of a file as the index holds it.
Known = tuple[str, int, int, int]

# Bytes; the compiler's limit. Of a larger Markdown file no headings are known, built or not.
MAX_TEXT = 32 * 1024 * 1024


def indexed_files(connection: Connection) -> dict[str, Known]:
    """Every file that an index knows, by its name as it is shown."""
    rows = connection.execute("SELECT path, digest, size, modified_ns, changed_ns FROM files")
    return {row[0]: row[1:] for row in rows}


def markdown_files(skill: Skill) -> dict[str, SourceFile]:
    """The Markdown files as they are now, by their names as they are shown, bytewise by path."""
    files = list_files(skill.source)
    return {utf8_text(file.name): file for file in files if file.name[-3:].lower() == ".md"}


def changed_text(file: SourceFile, known: Known | None) -> bytes | None:
    """The bytes of a file that is not as it was indexed; None where it is, none where it is gone."""
    if known is not None and known[1:] == file.stamp:
        return None
    if file.size > MAX_TEXT:
        return b""
    try:
        data, _ = read(file.path)
    except FileNotFoundError:
        return b""
    return None if is_known(data, known) else data


def read(path: str) -> tuple[bytes, tuple[int, int, int] | None]:
    """A file's bytes, and its stamp where nothing was written while they were read."""
    with open(path, "rb") as file:
        before = _stamp(file.fileno())
        data = file.read()
        return data, before if before == _stamp(file.fileno()) else None


def _stamp(descriptor: int) -> tuple[int, int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def is_known(data: bytes, known: Known | None) -> bool:
    """Whether these are the bytes that were indexed."""
    if known is None or known[1] != len(data):
        return False
    from skillc.startup.digest import sha256_hex  # only where the times of a file tell nothing

    return sha256_hex(data) == known[0]


def changed_files(skill: Skill, tokenizer: str = "ascii") -> bool:
    """Whether any file was changed, added or removed since the index was built.

    So that a search can say that it answers from an index that is behind. Sources that can't be
    listed are not those that were indexed.
    """
    try:
        known = indexed_files(open_index(skill, tokenizer).connection)
        files = list_files(skill.source)
        return len(files) != len(known) or any(
            _changed(file, known.get(utf8_text(file.name))) for file in files
        )
    except (SkillcError, DatabaseError, OSError):
        return True


def _changed(file: SourceFile, known: Known | None) -> bool:
    if known is None or known[1] != file.size:
        return True
    if known[1:] == file.stamp:
        return False
    from skillc.startup.digest import file_sha256_hex

    with open(file.path, "rb") as source:
        return file_sha256_hex(source, file.size) != known[0]
