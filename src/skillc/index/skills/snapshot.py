"""A folder at one moment, and as the skill index has it."""

from __future__ import annotations

import os

from skillc.index import Stamp, settle
from skillc.index.skills.database import checksum, damage, select_in, verify
from skillc.index.skills.scan import UNREADABLE, DiagnosticRow, Directory, SkillFile
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

# Stamp, description, capabilities, metadata, diagnostics, digest, tags; as JSON from the index.
Values = tuple[
    Stamp,
    str | None,
    tuple[str, ...],
    dict[str, str] | str | None,
    tuple[DiagnosticRow, ...] | str | None,
    int | None,
    tuple[str, ...],
]

# The columns that a search reads: where a skill is, and what it says. All are in the row's checksum.
COLUMNS = (
    "number, folder, segment, slot,"
    " path, id, description, capabilities, tags, digest, size, modified, changed, sketch, twins"
)
SEGMENT, SLOT, PLACE = 2, 3, 4  # of them: two, and how many say where a skill is
_PLACES = {name: at for at, name in enumerate(COLUMNS.replace(" ", "").split(","))}
OFFERED, HIDDEN = "yes", "no"  # whether a skill can be found; damage to one byte makes neither of the other


class Entry(SkillFile):
    """A SKILL.md and what it says. Without a description it is quarantined; `diagnostics` say why.

    One whose text is in the index has a `digest` of its body. Only one that was just read has `tags`.
    """

    __slots__ = ("_metadata", "_noticed", "capabilities", "description", "digest", "tags")

    def __init__(self, path: str, skill_id: str, row: Values) -> None:
        super().__init__(path, skill_id, row[0])
        _, self.description, self.capabilities, self._metadata, self._noticed, self.digest, self.tags = row

    @property
    def metadata(self) -> dict[str, str]:
        if isinstance(self._metadata, str):
            self._metadata = dict(_from_json(self._metadata))
        return self._metadata or {}

    @property
    def diagnostics(self) -> tuple[DiagnosticRow, ...]:
        if isinstance(self._noticed, str):
            self._noticed = tuple(map(tuple, _from_json(self._noticed)))
        return self._noticed or ()

    def is_outdated(self, file: SkillFile, with_text: bool) -> bool:
        """Return whether the file must be read again, or for its text the first time."""
        has_no_text = self.digest is None and self.description is not None
        return self.stamp != file.stamp or (with_text and has_no_text)

    def columns(self, time_read: int) -> tuple[Any, ...]:
        """Return the values of its row from `path` to `tags`; it was read at `time_read` or later.

        It counts as offered as long as no other directory is known to have its ID.
        """
        description = utf8_text(self.description, "replace") if self.description is not None else None
        return (
            stored_path(self.path),
            self.skill_id,
            OFFERED if self.description is not None else HIDDEN,
            *settle(self.stamp, time_read),
            description,
            _join_lines(self.capabilities),
            _to_json(self._metadata),
            _to_json(self._noticed),
            _join_lines(self.tags),
        )


class Snapshot:
    """A folder at one moment; never changed afterwards.

    `skills` are the entries that can be used, by ID; `duplicates` are those that share an ID. `revision`
    is that of the folder in the index, None where the index has nothing of it. `diagnostics` are those
    of directories; an entry has its own. `partial` says how much there is if time was not enough for all.
    """

    def __init__(
        self,
        directories: dict[str, Directory],
        entries: dict[str, Entry],
        diagnostics: list[tuple[str, DiagnosticRow]],
        error: OSError | None,
        revision: int | None,
        partial: str = "",
    ) -> None:
        self.revision = revision
        self.partial = partial
        self.directories = directories
        self.entries = entries
        self.diagnostics = diagnostics
        self.error = error
        by_id: dict[str, list[Entry]] = {}
        for path in sorted(entries):
            by_id.setdefault(entries[path].skill_id, []).append(entries[path])
        self.duplicates = {skill_id: same for skill_id, same in by_id.items() if len(same) > 1}
        self.skills = {
            skill_id: same[0]
            for skill_id, same in sorted(by_id.items())
            if len(same) == 1 and same[0].description is not None
        }

    def unreadable(self) -> list[tuple[str, DiagnosticRow]]:
        """Return what could not be read, directories and SKILL.md files, each with its diagnostic."""
        hidden = (entry for entry in self.entries.values() if entry.description is None)
        files = ((entry.path, row) for entry in hidden for row in entry.diagnostics)
        return [(path, row) for path, row in (*self.diagnostics, *files) if UNREADABLE in row[2]]

    def in_part(self, reason: str) -> Snapshot:
        """Return the same as a part of what there is; as all of it without a reason."""
        return Snapshot(self.directories, self.entries, [], None, self.revision, reason)

    def has_directories(self, directories: dict[str, Directory]) -> bool:
        """Return whether these directories need not be stored again."""
        if self.directories.keys() != directories.keys():
            return False
        return all(
            directory is self.directories[path] or directory.columns() == self.directories[path].columns()
            for path, directory in directories.items()
        )


_SEGMENTS = "SELECT number, size, skills, removed FROM segments WHERE folder = ? ORDER BY number"
_SKILLS = (
    "SELECT path, id, size, modified, changed, description, capabilities, metadata, noticed, digest "
    "FROM skills WHERE folder = ? ORDER BY path"
)
_DIRECTORIES = """
SELECT path, modified, changed, collection, collection_stamp FROM directories WHERE folder = ? ORDER BY path
"""


def find_folder(execute: Any, root: str, strict: bool) -> tuple[int | None, int | None, int | None]:
    """Return a folder's number, its revision, which changes with its rows, and their digest; else Nones."""
    key = stored_path(root), int(strict)
    sql = "SELECT number, revision, digest, seal FROM folders WHERE root = ? AND strict = ?"
    row = execute(sql, key).fetchone()
    if row is None:
        return None, None, None
    number, revision, digest, seal = row
    verify(seal, number, *key, revision, digest, execute(_SEGMENTS, (number,)).fetchall())
    return number, revision, digest


def read_skills(
    execute: Any, column: str, values: Sequence[Any], within: tuple[str, int] = ("1", 1)
) -> Iterator[tuple[bool, list[Any]]]:
    """Yield the COLUMNS of skills, with whether they are offered: those with one of some values in a column.

    `within` is another column, and the value that they have there.
    """
    name, key = within
    sql = f"SELECT offered, checksum, {COLUMNS} FROM skills WHERE {name} = ? AND {column}"  # noqa: S608
    wanted = set(values)
    for state, check, *row in select_in(execute, sql, key, values):
        verify(check, *row)
        is_wanted = row[_PLACES[column]] in wanted and (name not in _PLACES or row[_PLACES[name]] == key)
        if not is_wanted or state not in (OFFERED, HIDDEN):
            raise damage()
        yield state == OFFERED, row


def seal_folder(execute: Any, number: int, with_digest: bool = True) -> None:
    """Store the checksums of a folder after a change, in the same transaction."""
    rows = [execute(sql, (number,)).fetchall() for sql in (_SKILLS, _DIRECTORIES)] if with_digest else []
    digest = checksum(*rows)
    sql = "SELECT root, strict, revision FROM folders WHERE number = ?"
    row = execute(sql, (number,)).fetchone()
    seal = checksum(number, *row, digest, execute(_SEGMENTS, (number,)).fetchall())
    execute("UPDATE folders SET digest = ?, seal = ? WHERE number = ?", (digest, seal, number))


def load_snapshot(execute: Any, root: str, strict: bool) -> Snapshot:
    number, revision, folder_digest = find_folder(execute, root, strict)
    if number is None:
        return Snapshot({}, {}, [], None, None)
    rows, directory_rows = (execute(sql, (number,)).fetchall() for sql in (_SKILLS, _DIRECTORIES))
    verify(folder_digest, rows, directory_rows)
    entries: dict[str, Entry] = {}
    for path, skill_id, size, mtime, ctime, description, needs, metadata, diagnostics, digest in rows:
        name = path if type(path) is str else os.fsdecode(path)
        values = (size, mtime, ctime), description, split_lines(needs), metadata, diagnostics, digest, ()
        entries[name] = Entry(name, skill_id, values)
    directories: dict[str, Directory] = {}
    for path, mtime, ctime, collection, stamp in directory_rows:
        name = path if type(path) is str else os.fsdecode(path)
        directories[name] = Directory((0, mtime, ctime), [], collection, stamp)
    for path in (*(path.rpartition("/")[0] for path in entries), *directories):
        parent, _, name = path.rpartition("/")
        if path and parent in directories:
            directories[parent].children.append(name)
    return Snapshot(directories, entries, [], None, revision)


def stored_path(path: str) -> str | bytes:
    """Return a path as SQLite takes it: bytes where it is not UTF-8."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def _join_lines(values: tuple[str, ...]) -> str | None:
    return utf8_text("\n".join(values), "replace") if values else None


def split_lines(text: str | None) -> tuple[str, ...]:
    """Return the values of a column that has one on each line."""
    return tuple(text.split("\n")) if text else ()


def _to_json(value: object) -> str | None:
    if not value:
        return None
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value)


def _from_json(text: str) -> Any:
    import json  # few skills have metadata or diagnostics

    return json.loads(text)
