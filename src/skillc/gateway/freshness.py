"""Compare the source files with their index records: by size and times, then by hash [D18].

The headings of a file come from the index as long as the file is the one that was indexed, and from
the file itself otherwise. In a skill of more than EXACT files, asking each one would take longer than all the
rest: as long as its directories are as they were, only the files that an answer comes from are asked.
"""

from __future__ import annotations

import os

from skillc.errors import SkillcError
from skillc.index import EXACT, has_times, stamp_of
from skillc.index.sections import DatabaseError, open_index
from skillc.skills import SourceFile, list_files, open_inside
from skillc.startup import READ
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from sqlite3 import Connection
    from typing import Any

    from skillc.library import Skill

FileRecord = tuple[str, int, int, int]  # digest, size and two times of a file as the index holds them

# Bytes; the compiler's limit. The headings of a larger Markdown file are not read, with or without an index.
MAX_TEXT = 32 * 1024 * 1024


class Heading:
    """A heading and its section: the lines from `line` up to, but without, `end_line`."""

    __slots__ = ("end_line", "file", "heading", "level", "line")

    def __init__(self, file: str, heading: str, level: int, line: int, end_line: int) -> None:
        self.file = file
        self.heading = heading
        self.level = level
        self.line = line
        self.end_line = end_line

    def as_json(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in ("file", "level", "heading", "line")}


def read_file_records(connection: Connection, only: str | None = None) -> dict[str, FileRecord]:
    """Return the record of every indexed file, or of one, by its name as it is shown."""
    sql = "SELECT path, digest, size, modified_ns, changed_ns FROM files"
    rows = connection.execute(sql) if only is None else connection.execute(f"{sql} WHERE path = ?", (only,))
    return {row[0]: row[1:] for row in rows}


def has_same_names(skill: Skill, connection: Connection, meta: Mapping[str, str]) -> bool:
    """Return whether a large skill has the files that were indexed, by the times of its directories.

    A file that was written in place does not show here. Small skills, and indexes of older versions, which
    do not list directories, are always asked file by file.
    """
    try:
        if int(meta.get("files", "0")) <= EXACT:
            return False
        rows = connection.execute("SELECT path, modified_ns, changed_ns FROM directories").fetchall()
        return bool(rows) and all(
            has_times(os.path.join(skill.source, path), (mtime, ctime)) for path, mtime, ctime in rows
        )
    except (DatabaseError, TypeError, ValueError):  # a damaged index
        return False


def has_same_markdown(skill: Skill, connection: Connection, meta: Mapping[str, str]) -> bool:
    """Return whether a large skill has the Markdown files that were indexed, and each is as it was.

    False for a small one and for indexes of older versions, which have no lists of files: then they are
    asked one by one, as they are where this finds a change.
    """
    try:
        if int(meta.get("files", "0")) <= EXACT:
            return False
        sql = "SELECT path, modified_ns, changed_ns, names, stamps FROM directories"
        rows = connection.execute(sql).fetchall()
        return bool(rows) and all(
            _is_same_directory(os.path.join(skill.source, path), *known) for path, *known in rows
        )
    except (DatabaseError, AttributeError, TypeError, ValueError):  # a damaged index
        return False
    except OSError:  # a file that is gone, a system that can't open directories
        return False


def _is_same_directory(path: str, mtime: int, ctime: int, names: bytes, stamps: bytes) -> bool:
    """Return whether a directory has these times and the files of these names these stamps.

    The files are asked below the open directory: of whole paths, the system looks up each directory again.
    """
    directory = os.open(path, READ | getattr(os, "O_DIRECTORY", 0))
    try:
        if stamp_of(os.fstat(directory))[1:] != (mtime, ctime):
            return False
        found: list[int] = []
        for name in names.split(b"/") if names != b"" else ():
            status = os.stat(name, dir_fd=directory)
            found += (status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return found == memoryview(stamps).cast("q").tolist()
    finally:
        os.close(directory)


def read_headings(connection: Connection, condition: str = "1", *values: str) -> list[Heading]:
    """Return the indexed headings that meet an SQL condition, in order."""
    rows = connection.execute(
        f"SELECT file, text, level, start_line, end_line FROM headings WHERE {condition} ORDER BY id",  # noqa: S608 -- our own
        values,
    )
    try:
        return [
            Heading(file, str(text), int(level), int(line), int(end)) for file, text, level, line, end in rows
        ]
    except (TypeError, ValueError) as error:
        raise DatabaseError(f"damaged: {error}") from None


def parse_headings(name: str, data: bytes) -> list[Heading]:
    from skillc.skills.document import parse  # only for a file that is not as it was indexed

    return [Heading(name, h.text, h.level, h.line, h.end_line) for h in parse(data).headings()]


def list_markdown(skill: Skill) -> dict[str, SourceFile]:
    """Return the Markdown files by their names as they are shown, in bytewise order of their paths."""
    files = list_files(skill.source)
    return {utf8_text(file.name): file for file in files if file.name[-3:].lower() == ".md"}


def read_if_changed(root: str, file: SourceFile, record: FileRecord | None) -> bytes | None:
    """Return the bytes of a file of the skill at `root` that differs from its record, None if it does not.

    A file that is too large or has just been removed counts as empty.
    """
    if record is not None and record[1:] == file.stamp:
        return None
    if file.size > MAX_TEXT:
        return b""
    try:
        data, _ = read_with_stamp(root, file.name)
    except FileNotFoundError:
        return b""
    return None if matches_record(data, record) else data


def read_with_stamp(root: str, name: str) -> tuple[bytes, tuple[int, int, int] | None]:
    """Return the bytes of a skill's file and its stamp, None for the stamp if it was written meanwhile.

    Raises FileNotFoundError if no regular file has the name, and PathEscapes if that leads out of the skill.
    """
    with open(_open(root, name), "rb", buffering=0) as file:
        before = _stamp(file.fileno())
        data = file.read()
        return data, before if before == _stamp(file.fileno()) else None


def _open(root: str, name: str) -> int:
    """Return a descriptor of a skill's file. A name from an index that a clone brought may be any path."""
    try:
        return open_inside(root, name)
    except PermissionError:
        raise
    except OSError:
        raise FileNotFoundError(name) from None


def _stamp(descriptor: int) -> tuple[int, int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def matches_record(data: bytes, record: FileRecord | None) -> bool:
    """Return whether these bytes are the ones that were indexed."""
    if record is None or record[1] != len(data):
        return False
    from skillc.startup import sha256_hex  # only where the times differ

    return sha256_hex(data) == record[0]


def has_changes(skill: Skill, tokenizer: str = "ascii", folder: str = "", names: Iterable[str] = ()) -> bool:
    """Return whether any file was changed, added or removed since the index was built.

    A search uses this to say that its index is out of date. Sources that can't be listed count as changed.
    `folder` is the one that the skill was imported from, if that was searched. In a large skill whose
    directories are the same, only the files of these `names` are asked.
    """
    try:
        with open_index(skill, tokenizer) as index:
            if folder in ("", skill.source) and has_same_names(skill, index.connection, index.meta):
                return any(_has_change(skill, index.connection, name) for name in set(names))
            records = read_file_records(index.connection)
        files = list_files(folder or skill.source)
        root = folder or skill.source
        if len(files) != len(records):
            return True
        return any(_differs(root, file, records.get(utf8_text(file.name))) for file in files)
    except (SkillcError, OSError):
        return True


def _has_change(skill: Skill, connection: Connection, name: str) -> bool:
    path = os.path.join(skill.source, name)
    file = SourceFile(name, path, os.stat(path))
    return _differs(skill.source, file, read_file_records(connection, name).get(name))


def _differs(root: str, file: SourceFile, record: FileRecord | None) -> bool:
    if record is None or record[1] != file.size:
        return True
    if record[1:] == file.stamp:
        return False
    from skillc.startup import file_sha256_hex  # only where the times differ

    with open(_open(root, file.name), "rb") as source:
        return file_sha256_hex(source, file.size) != record[0]
