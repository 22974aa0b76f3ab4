"""Write the index of a skill: sections for search, headings for lookup, files to know what changed.

A new index is written beside the old one and renamed over it by `build`. Where little changed it
starts as a copy of the old one, so that unchanged files are not indexed again [D12].
"""

from __future__ import annotations

import os

from skillc.compiler.read_files import kind
from skillc.errors import Diagnostic
from skillc.index.cjk import segment
from skillc.index.sections import reader
from skillc.startup import sqlite
from skillc.text import one_line, utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from sqlite3 import Connection

    from skillc.compiler.read_files import Content

# Counts up when what is written into an index changes, so that `build` starts anew.
BUILDER = 1
BATCH = 10_000  # headings that are held back
LARGE = 4 * 1024 * 1024  # bytes of text from which larger pages pay

_SCHEMA = """
CREATE VIRTUAL TABLE sections USING fts5(file, section, content, tokenize='{tokenizer}');
CREATE TABLE headings (
    id INTEGER PRIMARY KEY,
    file TEXT NOT NULL,
    text TEXT NOT NULL,
    level INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL
);
CREATE TABLE index_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    digest TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    first_row INTEGER NOT NULL,
    row_count INTEGER NOT NULL,
    first_heading INTEGER NOT NULL,
    heading_count INTEGER NOT NULL,
    description TEXT,
    diagnostics TEXT NOT NULL
) WITHOUT ROWID;
"""
_KEPT = {"name", "description", "stub", "manifest", "indexed_at"}  # what the next build wants to know
_HEADING_INDEX = "CREATE INDEX IF NOT EXISTS idx_headings_text ON headings(text COLLATE NOCASE)"

# Digest and stamp of a file as the index holds it.
Known = tuple[str, tuple[int, int, int]]


def known_files(connection: Connection) -> dict[str, Known]:
    """Digest and stamp of every indexed file."""
    rows = connection.execute("SELECT path, digest, size, modified_ns, changed_ns FROM files")
    return {path: (digest, (size, modified, changed)) for path, digest, size, modified, changed in rows}


def diagnostics(connection: Connection) -> tuple[Diagnostic, ...]:
    """What was noticed in the files, by path."""
    rows = connection.execute("SELECT path, diagnostics FROM files WHERE diagnostics != '' ORDER BY path")
    return tuple(
        Diagnostic(code, message, path)
        for path, packed in rows
        for code, _, message in (line.partition(" ") for line in packed.split("\n"))
    )


def probe(connection: Connection) -> None:
    """Touch every table, so that an index that can't be read is known before it is kept."""
    connection.execute("SELECT count(*) FROM headings INDEXED BY idx_headings_text").fetchone()
    connection.execute("SELECT rowid FROM sections WHERE sections MATCH 'a' LIMIT 1").fetchone()
    connection.execute("SELECT file, section, content FROM sections LIMIT 1").fetchone()


class Writer:
    """An index under its temporary name; `finish` makes it complete."""

    def __init__(self, path: str, tokenizer: str, *, size: int, copy_of: str | None) -> None:
        self._cjk = tokenizer == "cjk"
        self._headings: list[tuple[int, str, str, int, int, int]] = []
        self._files: list[tuple[object, ...]] = []
        if copy_of is not None:
            _copy(copy_of, path)
        self._connection: Connection = sqlite.connect(path, isolation_level=None)
        # Only a complete index gets its name, so SQLite need not guard a half-written one.
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE", "cache_size=-65536"):
            self._connection.execute(f"PRAGMA {pragma}").fetchall()
        if copy_of is None:
            self._create(tokenizer, size >= LARGE)
        self._connection.execute("BEGIN")
        self._next_row = self._after("SELECT max(first_row + row_count) FROM files")
        self._next_heading = self._after("SELECT max(first_heading + heading_count) FROM files")

    def _create(self, tokenizer: str, large: bool) -> None:
        stems = tokenizer == "porter" or (tokenizer == "cjk" and reader.has_porter())
        if large:
            self._connection.execute("PRAGMA page_size=16384")
        for statement in _SCHEMA.format(tokenizer="porter unicode61" if stems else "unicode61").split(";"):
            if statement.strip():
                self._connection.execute(statement)
        if large:  # fewer and larger pieces to merge
            for option, value in (("pgsz", 16000), ("hashsize", 1 << 25)):
                self._connection.execute("INSERT INTO sections(sections, rank) VALUES(?, ?)", (option, value))

    def _after(self, query: str) -> int:
        return int(self._connection.execute(query).fetchone()[0] or 1)

    def remove(self, name: str) -> None:
        """Take out all that is known of a file."""
        found = self._connection.execute(
            "SELECT first_row, row_count, first_heading, heading_count FROM files WHERE path = ?",
            (utf8_text(name),),
        ).fetchone()
        if found is None:
            return
        row, rows, heading, headings = found
        self._connection.execute("DELETE FROM sections WHERE rowid >= ? AND rowid < ?", (row, row + rows))
        self._connection.execute(
            "DELETE FROM headings WHERE id >= ? AND id < ?", (heading, heading + headings)
        )
        self._connection.execute("DELETE FROM files WHERE path = ?", (utf8_text(name),))

    def add(self, content: Content) -> None:
        """Put in a file that is not there."""
        name = utf8_text(content.name)
        row, heading = self._next_row, self._next_heading
        self._connection.executemany(
            "INSERT INTO sections(rowid, file, section, content) VALUES (?, ?, ?, ?)",
            self._sections(name, content),
        )
        self._headings += [
            (heading + n, name, text, level, line, end_line)
            for n, (level, text, line, end_line, _, _) in enumerate(content.headings)
        ]
        self._next_heading += len(content.headings)
        counts = (row, self._next_row - row, heading, len(content.headings))
        noticed = _packed(content.diagnostics)
        self._files.append((name, content.digest, *content.stamp, *counts, content.description, noticed))
        if len(self._headings) > BATCH:
            self.flush()

    def flush(self) -> None:
        """Write the small rows, which wait for each other because one long statement is cheaper than many."""
        self._connection.executemany("INSERT INTO headings VALUES (?, ?, ?, ?, ?, ?)", self._headings)
        self._connection.executemany(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self._files
        )
        self._headings, self._files = [], []

    def _sections(self, name: str, content: Content) -> Iterator[tuple[int, str, str, str]]:
        """The rows of a file: one for each section, one for what stands before the first."""
        for section, text in content.documents:
            yield self._row(name, section, text)
        data = content.data
        opening_end = content.headings[0][4] if content.headings else len(data)
        pieces = [("", content.body, opening_end)] if data[content.body : opening_end].strip() else []
        pieces += [(text, start, end) for _, text, _, _, start, end in content.headings]
        for section, start, end in pieces:
            yield self._row(name, section, data[start:end].decode("utf-8", "replace"))

    def _row(self, name: str, section: str, text: str) -> tuple[int, str, str, str]:
        self._next_row += 1
        if self._cjk:
            return self._next_row - 1, segment(name), segment(section), segment(text)
        return self._next_row - 1, name, section, text

    def restamp(self, name: str, stamp: tuple[int, int, int]) -> None:
        """Note that a file was touched but holds the same."""
        self._connection.execute(
            "UPDATE files SET size = ?, modified_ns = ?, changed_ns = ? WHERE path = ?",
            (*stamp, utf8_text(name)),
        )

    def note(self, name: str, noticed: Iterable[Diagnostic]) -> None:
        """Replace what was noticed in a file."""
        packed = _packed((d.code, d.message) for d in noticed)
        self._connection.execute("UPDATE files SET diagnostics = ? WHERE path = ?", (packed, name))

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return diagnostics(self._connection)

    def digests(self) -> dict[str, str]:
        """The digest of every file, by path."""
        return dict(self._connection.execute("SELECT path, digest FROM files"))

    def headings_of(self, path: str) -> list[tuple[int, str]]:
        """Level and text of a document's headings, in order."""
        return self._connection.execute(
            "SELECT level, text FROM headings JOIN files ON path = ?"
            " WHERE id >= first_heading AND id < first_heading + heading_count ORDER BY id",
            (path,),
        ).fetchall()

    def references(self, main: str, limit: int) -> tuple[list[tuple[str, str | None]], int]:
        """Label and description of the first documents besides `main` by path, and how many there are."""
        rows = self._connection.execute("SELECT path, description FROM files ORDER BY path")
        others = [(path, description) for path, description in rows if kind(path) == "md" and path != main]
        labelled = [(self._title(path) or path, description) for path, description in others[:limit]]
        return labelled, len(others)

    def _title(self, path: str) -> str | None:
        return next((text for level, text in self.headings_of(path) if level == 1 and text), None)

    def finish(self, meta: dict[str, str]) -> None:
        """Note what the index is of, and close it."""
        self._connection.execute(_HEADING_INDEX)
        self._connection.executemany("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", meta.items())
        self._connection.execute("COMMIT")
        self.close()

    def close(self) -> None:
        self._connection.close()


def _copy(source: str, target: str) -> None:
    """A copy of a file, its room allocated first: renaming it later then costs no more than a rename."""
    with open(source, "rb") as old, open(target, "xb") as new:
        size = os.fstat(old.fileno()).st_size
        if hasattr(os, "posix_fallocate") and size:
            os.posix_fallocate(new.fileno(), 0, size)
        try:
            while new.tell() < size and os.copy_file_range(old.fileno(), new.fileno(), size):
                pass
        except (AttributeError, OSError):  # not on this system, or not between these files
            import shutil

            old.seek(0)
            new.seek(0)
            shutil.copyfileobj(old, new, 1 << 20)


def _packed(diagnostics: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{code} {one_line(message)}" for code, message in diagnostics)


def metadata(
    skill_path: str, source_hash: str, tokenizer: str, formats: frozenset[str], indexed_at: str
) -> dict[str, str]:
    """The required keys of an index [RFC-0004:C-INDEX], and those that say how it was written."""
    return {
        "skill_path": utf8_text(skill_path),
        "source_hash": source_hash,
        "schema_version": str(reader.SCHEMA_VERSION),
        "indexed_at": indexed_at,
        "tokenizer": tokenizer,
        "formats": " ".join(sorted(formats)),
        "builder": str(BUILDER),
    }


def is_current(meta: dict[str, str], setting: str, formats: frozenset[str]) -> bool:
    """Whether an index was written as it would be written now, and whole."""
    written = meta.get("builder") == str(BUILDER) and meta.keys() >= _KEPT
    same = meta.get("formats") == " ".join(sorted(formats))
    return written and same and reader.current_metadata(meta, setting)
