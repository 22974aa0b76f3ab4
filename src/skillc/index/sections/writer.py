"""Write the section index of a skill: sections for search, headings for lookup, files to see what changed.

A new index is written beside the old one, and the build renames it. Where little changed it starts as
a copy of the old one, so that unchanged files are not indexed again [D12].
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from skillc.errors import Diagnostic
from skillc.index import Stamp
from skillc.index.cjk import segment
from skillc.index.sections import reader
from skillc.index.sections.outline import outline_lines
from skillc.startup import sqlite
from skillc.text import fold_line, one_line, utf8_text

FileState = tuple[str, Stamp]  # digest and stamp of a file as the index has it
Heading = tuple[int, str, int, int, int, int]  # level, text, first and last line, first and last byte

BUILDER = 4  # counts up when an index is written differently, so that the next build starts from nothing
BATCH = 10_000  # headings that are inserted together
LARGE = 4 * 1024 * 1024  # bytes of text from which larger pages pay

_SCHEMA = """
CREATE VIRTUAL TABLE sections USING fts5(file, section, content, tokenize='{tokenizer}');
CREATE TABLE headings (id INTEGER PRIMARY KEY, file TEXT NOT NULL, text TEXT NOT NULL, level INTEGER NOT NULL,
    start_line INTEGER NOT NULL, end_line INTEGER NOT NULL);
CREATE TABLE index_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE files (path TEXT PRIMARY KEY, digest TEXT NOT NULL,
    size INTEGER NOT NULL, modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
    first_row INTEGER NOT NULL, row_count INTEGER NOT NULL,
    first_heading INTEGER NOT NULL, heading_count INTEGER NOT NULL,
    description TEXT, diagnostics TEXT NOT NULL, outline TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE directories (path TEXT PRIMARY KEY, modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL,
    names BLOB, stamps BLOB) WITHOUT ROWID;
CREATE TABLE whole_outline (id INTEGER PRIMARY KEY, text BLOB NOT NULL);
"""
# The outline of a large skill in one piece: reading 2,000 rows takes ten times as long.
_WHOLE_OUTLINE = """
INSERT INTO whole_outline SELECT 1, CAST(ifnull(group_concat(outline || char(10), ''), '') AS BLOB)
    FROM (SELECT outline FROM files WHERE outline != '' ORDER BY path)
"""
_BUILD_KEYS = {
    "name",
    "description",
    "fields",
    "stub",
    "manifest",
    "indexed_at",
}  # metadata for the next build
_HEADING_INDEX = "CREATE INDEX IF NOT EXISTS idx_headings_text ON headings(text COLLATE NOCASE)"


def read_file_states(connection: sqlite.Connection) -> dict[str, FileState]:
    """Return digest and stamp of every indexed file, by path."""
    rows = connection.execute("SELECT path, digest, size, modified_ns, changed_ns FROM files")
    return {path: (digest, (size, mtime, ctime)) for path, digest, size, mtime, ctime in rows}


def read_diagnostics(connection: sqlite.Connection) -> tuple[Diagnostic, ...]:
    rows = connection.execute("SELECT path, diagnostics FROM files WHERE diagnostics != '' ORDER BY path")
    return tuple(
        Diagnostic(code, message, path)
        for path, text in rows
        for code, _, message in (line.partition(" ") for line in text.split("\n"))
    )


def probe_index(connection: sqlite.Connection) -> None:
    """Read a row of every table, so that a damaged index fails here and not after its reuse."""
    connection.execute("SELECT count(*) FROM headings INDEXED BY idx_headings_text").fetchone()
    connection.execute("SELECT rowid FROM sections WHERE sections MATCH 'a' LIMIT 1").fetchone()
    connection.execute("SELECT file, section, content FROM sections LIMIT 1").fetchone()


class SectionWriter:
    """An index under its temporary name; `finish` completes it.

    A small one that is new is made in memory and written at once, for a third of the system calls.
    """

    def __init__(self, path: str, tokenizer: str, *, size: int, copy_of: str | None) -> None:
        self._cjk = tokenizer == "cjk"
        self._headings: list[tuple[int, str, str, int, int, int]] = []
        self._files: list[tuple[object, ...]] = []
        if copy_of is not None:
            _copy(copy_of, path)
        self._path = path
        self._is_in_memory = copy_of is None and size < LARGE and hasattr(sqlite.Connection, "serialize")
        place = ":memory:" if self._is_in_memory else path
        self._connection: sqlite.Connection = sqlite.connect(place, isolation_level=None)
        try:
            self._begin(tokenizer, size, is_copy=copy_of is not None)
        except BaseException:
            self.close()
            raise

    def _begin(self, tokenizer: str, size: int, *, is_copy: bool) -> None:
        # Only a complete index is renamed, so SQLite need not guard a half-written one.
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "locking_mode=EXCLUSIVE", "cache_size=-65536"):
            self._connection.execute(f"PRAGMA {pragma}").fetchall()
        if not is_copy:
            self._create(tokenizer, size >= LARGE)
        self._connection.execute("BEGIN")
        self._next_row = self._after("SELECT max(first_row + row_count) FROM files")
        self._next_heading = self._after("SELECT max(first_heading + heading_count) FROM files")

    def _create(self, tokenizer: str, large: bool) -> None:
        porter = tokenizer == "porter" or (tokenizer == "cjk" and reader.has_porter())
        if large:
            self._connection.execute("PRAGMA page_size=16384")
        for statement in _SCHEMA.format(tokenizer="porter unicode61" if porter else "unicode61").split(";"):
            if statement.strip():
                self._connection.execute(statement)
        if large:  # fewer and larger pieces to merge
            for option, value in (("pgsz", 16000), ("hashsize", 1 << 25)):
                self._connection.execute("INSERT INTO sections(sections, rank) VALUES(?, ?)", (option, value))

    def _after(self, query: str) -> int:
        return int(self._connection.execute(query).fetchone()[0] or 1)

    def remove(self, name: str) -> None:
        execute, key = self._connection.execute, (utf8_text(name),)
        sql = "SELECT first_row, row_count, first_heading, heading_count FROM files WHERE path = ?"
        for row, rows, heading, headings in execute(sql, key).fetchall():
            execute("DELETE FROM sections WHERE rowid >= ? AND rowid < ?", (row, row + rows))
            execute("DELETE FROM headings WHERE id >= ? AND id < ?", (heading, heading + headings))
            execute("DELETE FROM files WHERE path = ?", key)

    def add(
        self,
        name: str,
        digest: str,
        stamp: Stamp,
        data: bytes = b"",
        body: int = 0,
        headings: Sequence[Heading] = (),
        description: str | None = None,
        diagnostics: Iterable[tuple[str, str]] = (),
        documents: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Add a file that the index does not have.

        A Markdown file has `data`, of which the frontmatter ends at `body`; other files have `documents`,
        each a section and a text, or none if they are not indexed.
        """
        name = utf8_text(name)
        row, heading = self._next_row, self._next_heading
        self._connection.executemany(
            "INSERT INTO sections(rowid, file, section, content) VALUES (?, ?, ?, ?)",
            self._rows(name, chain(documents, _sections(data, body, headings))),
        )
        self._headings += [
            (heading + n, name, text, level, line, end_line)
            for n, (level, text, line, end_line, _, _) in enumerate(headings)
        ]
        self._next_heading += len(headings)
        counts = (row, self._next_row - row, heading, len(headings))
        outline = outline_lines(name, ((level, text) for level, text, *_ in headings))
        self._files.append((name, digest, *stamp, *counts, description, _join(diagnostics), outline))
        if len(self._headings) > BATCH:
            self.flush()

    def _rows(self, name: str, sections: Iterable[tuple[str, str]]) -> Iterator[tuple[int | str, ...]]:
        for section, text in sections:
            self._next_row += 1
            row = name, section, text
            yield self._next_row - 1, *(map(segment, row) if self._cjk else row)

    def flush(self) -> None:
        """Insert the small rows that are pending: one `executemany` is cheaper than many."""
        self._connection.executemany("INSERT INTO headings VALUES (?, ?, ?, ?, ?, ?)", self._headings)
        sql = "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        self._connection.executemany(sql, self._files)
        self._headings, self._files = [], []

    def restamp(self, name: str, stamp: Stamp) -> None:
        """Give a file that was touched but not changed its new stamp."""
        sql = "UPDATE files SET size = ?, modified_ns = ?, changed_ns = ? WHERE path = ?"
        self._connection.execute(sql, (*stamp, utf8_text(name)))

    def set_diagnostics(self, name: str, diagnostics: Iterable[Diagnostic]) -> None:
        text = _join((d.code, d.message) for d in diagnostics)
        self._connection.execute("UPDATE files SET diagnostics = ? WHERE path = ?", (text, name))

    def set_directories(self, stamps: Iterable[tuple[str, Stamp]], *, is_large: bool) -> None:
        """Record the directories of the skill, so that readers see that no file was added or removed.

        In a large skill, also the Markdown files in each with their stamps, and the whole outline, which is
        true as long as all of them are the same.
        """
        self._connection.execute("DELETE FROM directories")
        self._connection.execute("DELETE FROM whole_outline")
        files: dict[str, list[tuple[str, Stamp]]] = {}
        if is_large:
            self._connection.execute(_WHOLE_OUTLINE)
            sql = "SELECT path, size, modified_ns, changed_ns FROM files WHERE path LIKE '%.md' ORDER BY path"
            for path, *stamp in self._connection.execute(sql):
                folder, _, name = path.rpartition("/")
                files.setdefault(folder, []).append((name, tuple(stamp)))
        self._connection.executemany(
            "INSERT INTO directories VALUES (?, ?, ?, ?, ?)",
            [
                (path, mtime, ctime, *(_pack_files(files.get(path, ())) if is_large else (None, None)))
                for path, (_, mtime, ctime) in ((utf8_text(path), stamp) for path, stamp in stamps)
            ],
        )

    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return read_diagnostics(self._connection)

    def digests(self) -> dict[str, str]:
        return dict(self._connection.execute("SELECT path, digest FROM files"))

    def headings_of(self, path: str) -> list[tuple[int, str]]:
        """Return level and text of a document's headings, in order."""
        sql = (
            "SELECT level, text FROM headings JOIN files ON path = ? "
            "WHERE id >= first_heading AND id < first_heading + heading_count ORDER BY id"
        )
        return self._connection.execute(sql, (path,)).fetchall()

    def references(self, main: str, limit: int) -> tuple[list[tuple[str, str | None]], int]:
        """Return label and description of the first documents besides `main`, and how many there are."""
        rows = self._connection.execute("SELECT path, description FROM files ORDER BY path")
        others = [row for row in rows if row[0][-3:].lower() == ".md" and row[0] != main]
        references = [(self._title(path) or path, description) for path, description in others[:limit]]
        return references, len(others)

    def _title(self, path: str) -> str:
        return next((text for level, text in self.headings_of(path) if level == 1 and fold_line(text)), "")

    def finish(self, meta: dict[str, str]) -> None:
        self._connection.execute(_HEADING_INDEX)
        self._connection.executemany("INSERT OR REPLACE INTO index_meta VALUES (?, ?)", meta.items())
        self._connection.execute("COMMIT")
        if self._is_in_memory:
            with open(self._path, "xb") as file:
                file.write(reader.sealed(self._connection.serialize()))
            self.close()
        else:
            self.close()
            reader.seal(self._path)

    def close(self) -> None:
        self._connection.close()


def _copy(source: str, target: str) -> None:
    """Copy a file; allocate its space first, which makes the rename that follows cheaper."""
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


def _sections(data: bytes, body: int, headings: Sequence[Heading]) -> Iterator[tuple[str, str]]:
    """Yield heading and text of each section, the text before the first heading included."""
    first = headings[0][4] if headings else len(data)
    if data[body:first].strip():
        yield "", data[body:first].decode("utf-8", "replace")
    for _, heading, _, _, start, end in headings:
        yield heading, data[start:end].decode("utf-8", "replace")


def _pack_files(files: Sequence[tuple[str, Stamp]]) -> tuple[bytes, bytes]:
    """Return the names of files and their stamps as readers compare them."""
    names = "/".join(name for name, _ in files).encode()
    return names, array("q", chain.from_iterable(stamp for _, stamp in files)).tobytes()


def _join(diagnostics: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"{code} {one_line(message)}" for code, message in diagnostics)


def index_metadata(
    skill_path: str, source_hash: str, tokenizer: str, formats: frozenset[str], indexed_at: str
) -> dict[str, str]:
    """Return the required keys of an index [RFC-0004:C-INDEX] and those that say how it was written."""
    return {
        "skill_path": utf8_text(skill_path),
        "source_hash": source_hash,
        "schema_version": str(reader.SCHEMA_VERSION),
        "indexed_at": indexed_at,
        "tokenizer": tokenizer,
        "formats": " ".join(sorted(formats)),
        "builder": str(BUILDER),
    }


def is_reusable(
    meta: dict[str, str], setting: str, formats: frozenset[str], manifest_data: bytes = b""
) -> bool:
    """Return whether an index is complete, of the manifest's build, and a build would write it the same now.

    A manifest without a hash is put right; one with another hash makes the index stale [RFC-0004:C-INDEX].
    """
    if reader.find_source_hash(manifest_data) and not reader.is_of_build(meta, manifest_data):
        return False
    if int(meta["schema_version"]) != reader.SCHEMA_VERSION:
        return False
    complete = meta.get("builder") == str(BUILDER) and meta.keys() >= _BUILD_KEYS
    same_formats = meta.get("formats") == " ".join(sorted(formats))
    return complete and same_formats and reader.has_current_format(meta, setting)
