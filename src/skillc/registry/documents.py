"""The skills of a registry in an index for searching, with a copy of each SKILL.md.

The finder says what changed, so nothing is scanned, and notes in the same transaction how far it got: the
mark. Several processes can share one file. Writing has a connection of its own, so that searches go on
while segments are merged.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any
from zlib import compress, decompress

from skillc import atomic
from skillc.index.skills import (
    Database,
    SkillFile,
    SkillIndex,
    checksum,
    read_batch,
    read_note,
    select_in,
    verify,
    write_change,
    write_note,
)
from skillc.library.sources import VirtualFolder
from skillc.paths import SKILL_FILES

Document = tuple[str, str, bytes]  # the ID of a skill, a label that changes with its text, its SKILL.md

MARK = "mark"
MAX_NOTES = 16
MAX_WAL = 16 << 20  # bytes of the write-ahead log that stay on the disk
FAST = 1  # zlib's level: twice as fast as its default, for a tenth more

_TABLE = """CREATE TABLE IF NOT EXISTS documents
(id TEXT PRIMARY KEY, label TEXT, data BLOB, checksum INTEGER)"""


class DocumentFolder(VirtualFolder):
    """The skills of one index file, by ID. One thread writes at a time."""

    def __init__(self, index: SkillIndex) -> None:
        super().__init__(index.database)
        self._index = index
        self._writer = Database(self.database.path, mapped=False)
        self._file = self._written_file = _identify(self.database.path)

    def lock(self) -> atomic.Lock | None:
        """Return a lock for the one process that brings the file up to date."""
        return self._writer.lock()

    def mark(self) -> str:
        """Return what was noted with the last change; empty where there was none, or where it is lost."""
        if self._writer.persistent and _is_deleted(self._writer.path, self._written_file):
            self._writer.close()
        mark = self._writer.read(lambda execute: read_note(execute, MARK)) or ""
        self._written_file = _identify(self._writer.path)
        return mark

    def list_labels(self, after: str, last: str | None) -> dict[str, str]:
        """Return the labels of the documents behind one ID and up to another, by ID."""
        condition, values = ("id > ?", [after]) if last is None else ("id > ? AND id <= ?", [after, last])
        sql = f"SELECT id, label FROM documents WHERE {condition}"  # noqa: S608 -- our own words
        return self._writer.read(
            lambda execute: dict(execute(sql, values).fetchall()) if _has_documents(execute) else {}
        )

    def find_labels(self, ids: Iterable[str]) -> dict[str, str]:
        """Return the labels of the documents with some IDs."""
        sql = "SELECT id, label FROM documents WHERE ? AND id"
        values = sorted(ids)
        return self._writer.read(
            lambda execute: dict(select_in(execute, sql, 1, values)) if _has_documents(execute) else {}
        )

    def change(self, documents: Sequence[Document], removals: Iterable[str], mark: str | None) -> bool:
        """Add or replace documents, remove others, and note a mark; return whether it could be written.

        Without a mark, more follows, and segments are merged when all is there.
        """
        contents = {_path_of(skill_id): data for skill_id, _, data in documents}
        files = [SkillFile(_path_of(skill_id), skill_id, (0, 0, 0)) for skill_id, _, _ in documents]
        batch = read_batch("", False, files, True, contents=contents)
        gone = [*removals]

        def apply(execute: Any) -> bool:
            execute(_TABLE)
            for skill_id in gone:
                execute("DELETE FROM documents WHERE id = ?", (skill_id,))
            for skill_id, label, data in documents:
                row = skill_id, label, compress(data, FAST)
                execute("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)", (*row, checksum(*row)))
            paths = map(_path_of, gone)
            is_last = mark is not None
            write_change(execute, *self.key, None, paths, batch, with_digest=False, with_merge=is_last)
            if mark is not None:
                write_note(execute, MARK, mark, MAX_NOTES)
            return True

        is_written = bool(self._writer.write(apply))
        if mark is not None and _size_of(f"{self._writer.path}-wal") > MAX_WAL:
            self._writer.checkpoint()
        return is_written

    def close(self) -> None:
        self._writer.close()
        self.database.close()

    def refresh(self, force: bool = False, time_out: float | None = None) -> int | None:
        self._reopen()
        return super().refresh(force, time_out)

    def read_skill_file(self, path: str | bytes) -> bytes:
        """Return the SKILL.md of a skill; empty where it is gone meanwhile."""
        skill_id = os.path.dirname(os.fsdecode(path))

        def query(execute: Any) -> bytes:
            sql = "SELECT checksum, id, label, data FROM documents WHERE id = ?"
            row = execute(sql, (skill_id,)).fetchone() if _has_documents(execute) else None
            if row is None:
                return b""
            verify(*row)
            return decompress(row[3])

        return self.database.read(query)

    def _reopen(self) -> None:
        """Read where it is written: a damaged file was deleted by another process, or none can be used."""
        with self._index.lock:  # no search is under way
            if not self._writer.persistent:
                self.database = self._writer
            elif not self.database.persistent or _is_deleted(self.database.path, self._file):
                self.database = Database(self._writer.path, mapped=False)
                self._file = None
            self._file = self._file or _identify(self._writer.path)


def _path_of(skill_id: str) -> str:
    """Return the path of a skill that has no folder."""
    return f"{skill_id}/{SKILL_FILES[0]}"


def _size_of(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def _is_deleted(path: str, file: tuple[int, int] | None) -> bool:
    """Return whether a path has another file than it had, where it had one."""
    return file is not None and _identify(path) != file


def _identify(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _has_documents(execute: Any) -> bool:
    return execute("SELECT 1 FROM sqlite_master WHERE name = 'documents'").fetchone() is not None
