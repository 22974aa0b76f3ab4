"""A folder's rows in the index: what is known of its directories and of each SKILL.md, and changes to it."""

from __future__ import annotations

import os

from skillc.index.skills.parse import trusted
from skillc.index.skills.scan import Directory, Found
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from skillc.index.skills.parse import Noticed, Reading, Stamp


class Entry(Found):
    """What is known of a SKILL.md. Without a description it is quarantined, and `noticed` tells why.

    `indexed` tells whether its text can be searched.
    """

    __slots__ = ("_metadata", "_noticed", "capabilities", "description", "indexed")

    def __init__(
        self,
        path: str,
        skill_id: str,
        stamp: Stamp,
        description: str | None,
        capabilities: tuple[str, ...],
        metadata: dict[str, str] | str | None,
        noticed: tuple[Noticed, ...] | str | None,
        indexed: bool,
    ) -> None:
        self.path = path
        self.skill_id = skill_id
        self.stamp = stamp
        self.description = description
        self.capabilities = capabilities
        self.indexed = indexed
        self._metadata = metadata  # as text until somebody asks
        self._noticed = noticed

    @classmethod
    def of(cls, found: Found, reading: Reading) -> Entry:
        told = reading.description, reading.capabilities, reading.metadata, reading.noticed
        return cls(found.path, found.skill_id, reading.stamp, *told, reading.digest is not None)

    @property
    def metadata(self) -> dict[str, str]:
        told = self._metadata
        if isinstance(told, str):
            told = self._metadata = dict(_from_json(told))
        return told or {}

    @property
    def noticed(self) -> tuple[Noticed, ...]:
        if isinstance(self._noticed, str):
            self._noticed = tuple(
                (code, severity, words) for code, severity, words in _from_json(self._noticed)
            )
        return self._noticed or ()

    def columns(self, read: int) -> tuple[Any, ...]:
        """What a row says of it, from its path to what was noticed; `read` is when, or before."""
        size, modified, changed = trusted(self.stamp, read)
        offered = int(self.description is not None)
        capabilities = utf8_text("\n".join(self.capabilities), "replace") if self.capabilities else None
        described = utf8_text(self.description, "replace") if self.description is not None else None
        told = _to_json(self._metadata), _to_json(self._noticed)
        start = stored_path(self.path), self.skill_id, offered, size, modified, changed
        return *start, described, capabilities, *told


_COLUMNS = (
    "path, id, size, modified, changed, description, capabilities, metadata, noticed, segment IS NOT NULL"
)


def number_of(execute: Any, root: str, strict: bool) -> int | None:
    """The number of a folder; None where nothing is known of it."""
    key = stored_path(root), int(strict)
    row = execute("SELECT number FROM folders WHERE root = ? AND strict = ?", key).fetchone()
    return row[0] if row else None


def revision(execute: Any, root: str, strict: bool) -> int | None:
    """A number that changes with what the index says of a folder; None where it says nothing."""
    key = stored_path(root), int(strict)
    row = execute("SELECT revision FROM folders WHERE root = ? AND strict = ?", key).fetchone()
    return row[0] if row else None


def paths(execute: Any, root: str, strict: bool) -> set[str]:
    """The paths of the skills that are known of a folder."""
    number = number_of(execute, root, strict)
    rows = execute("SELECT path FROM skills WHERE folder = ?", (number,)).fetchall()
    return {path if type(path) is str else os.fsdecode(path) for (path,) in rows}


def load(execute: Any, folder: int) -> tuple[dict[str, Directory], dict[str, Entry]]:
    """What is known of a folder, by path."""
    entries: dict[str, Entry] = {}
    for path, skill_id, size, modified, changed, description, needs, metadata, noticed, indexed in execute(
        f"SELECT {_COLUMNS} FROM skills WHERE folder = ?",  # noqa: S608 -- our own words
        (folder,),
    ):
        capabilities = tuple(needs.split("\n")) if needs else ()
        stamp = size, modified, changed
        place = path if type(path) is str else os.fsdecode(path)
        entries[place] = Entry(
            place, skill_id, stamp, description, capabilities, metadata, noticed, bool(indexed)
        )
    directories = {}
    for path, modified, changed, words, stamp in execute(
        "SELECT path, modified, changed, collection, collection_stamp FROM directories WHERE folder = ?",
        (folder,),
    ):
        place = path if type(path) is str else os.fsdecode(path)
        directories[place] = Directory((0, modified, changed), [], words, stamp)
    _give_children(directories, entries)
    return directories, entries


def _give_children(directories: dict[str, Directory], entries: dict[str, Entry]) -> None:
    for path in entries:
        _give_child(directories, path.rpartition("/")[0])
    for path in directories:
        _give_child(directories, path)


def _give_child(directories: dict[str, Directory], path: str) -> None:
    parent, _, name = path.rpartition("/")
    if path and parent in directories:
        directories[parent].children.append(name)


def save(
    execute: Any, root: str, strict: bool, directories: dict[str, Directory] | None, gone: Iterable[str]
) -> int:
    """Note a folder's directories, where they changed, and forget skills; returns its number."""
    number = number_of(execute, root, strict)
    if number is None:
        key = stored_path(root), int(strict)
        # Not from one on: an index that was made anew must not be taken for the one before.
        start = "INSERT INTO folders (root, strict, revision) VALUES (?, ?, random() & 0xFFFFFFFFFFFF)"
        number = int(execute(start, key).lastrowid)
    execute("UPDATE folders SET revision = revision + 1 WHERE number = ?", (number,))
    for path in gone:
        forget(execute, number, path)
    if directories is not None:
        execute("DELETE FROM directories WHERE folder = ?", (number,))
        for path, directory in directories.items():
            row = number, stored_path(path), *directory.stamp[1:]
            told = utf8_text(directory.collection, "replace"), directory.collection_stamp
            execute("INSERT INTO directories VALUES (?, ?, ?, ?, ?, ?)", (*row, *told))
    return number


def forget_vanished(execute: Any, cache: str) -> None:
    """Forget folders of the cache that are no more: each commit of a repository has one of its own."""
    for number, root in execute("SELECT number, root FROM folders").fetchall():
        place = os.fsdecode(root)
        if place.startswith(cache + os.sep) and not os.path.exists(place):
            execute(
                "DELETE FROM postings WHERE segment IN (SELECT number FROM segments WHERE folder = ?)",
                (number,),
            )
            for table in ("skills", "segments", "directories"):
                execute(f"DELETE FROM {table} WHERE folder = ?", (number,))  # noqa: S608 -- our own words
            execute("DELETE FROM folders WHERE number = ?", (number,))


def forget(execute: Any, folder: int, path: str) -> None:
    key = folder, stored_path(path)
    row = execute("SELECT number, id FROM skills WHERE folder = ? AND path = ?", key).fetchone()
    if row:
        execute("DELETE FROM skills WHERE number = ?", row[:1])
        offer(execute, folder, row[1])


def offer(execute: Any, folder: int, skill_id: str) -> None:
    """A skill is offered where it can be described and no other directory gives its ID [D25]."""
    execute(
        "UPDATE skills SET offered = (description IS NOT NULL AND 1 = "
        "(SELECT count(*) FROM skills WHERE id = ?1 AND folder = ?2)) WHERE id = ?1 AND folder = ?2",
        (skill_id, folder),
    )


def stored_path(path: str) -> str | bytes:
    """A path as SQLite takes it: names that are not UTF-8 as bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def _to_json(value: object) -> str | None:
    if not value:
        return None
    if isinstance(value, str):
        return value
    import json

    return json.dumps(value)


def _from_json(text: str) -> Any:
    import json  # most skills have nothing that needs it

    return json.loads(text)
