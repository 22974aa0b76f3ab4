"""Skills on their way into the index: read first, which may take long, then written in one transaction."""

from __future__ import annotations

import os
from time import time_ns

from skillc.index.skills import rows
from skillc.index.skills.merge import merge_if_due, next_segment
from skillc.index.skills.postings import MAX_SLOTS, Joined
from skillc.index.skills.rows import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from skillc.index.skills.database import Database
    from skillc.index.skills.folder import Folder
    from skillc.index.skills.parse import Reading
    from skillc.index.skills.scan import Directory, Found

AT_ONCE = 500  # values in a statement

_INSERT = "INSERT INTO skills VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Harvest:
    """Skills that were read, in the order of their IDs, with the lists of their terms by segment."""

    __slots__ = ("digests", "entries", "lists", "started")

    def __init__(self) -> None:
        self.started = time_ns()  # what changed since then may have changed after it was read
        self.entries: list[Entry] = []
        self.digests: list[int | None] = []  # None where the text of a skill was not read
        self.lists: list[Joined] = []

    def add(self, entries: list[Entry], digests: list[int | None], lists: Joined) -> None:
        """Take in the skills of one segment."""
        self.entries += entries
        self.digests += digests
        self.lists.append(lists)


def gather(
    root: str,
    strict: bool,
    todo: Iterable[Found],
    searched: bool,
    known: Outside | None,
    watch: Callable[[int], None],
) -> Harvest:
    """Read files; where they are to be `searched`, with the lists of their terms.

    `watch` is told how many are read.
    """
    from skillc.index.skills.workers import read_all

    harvest = Harvest()
    news = sorted(todo, key=lambda found: (found.skill_id, found.path))
    for start in range(0, len(news), MAX_SLOTS):
        some = news[start : start + MAX_SLOTS]
        jobs = [(n, os.path.join(root, found.path), found.skill_id) for n, found in enumerate(some)]
        outside = (known.skills, known.bodies) if known is not None else ()
        readings: list[tuple[int, Reading]] = []
        joined = Joined()
        for read, lists in read_all(jobs, strict, searched, *outside):
            readings += read
            joined.add(lists)
            watch(start + len(readings))
        readings.sort(key=lambda pair: pair[0])
        entries = [Entry.of(some[n], reading) for n, reading in readings]
        harvest.add(entries, [reading.digest for _, reading in readings], joined)
    return harvest


class Outside:
    """What an index knows of a folder already: how many skills, and in how many of them terms are."""

    def __init__(self, database: Database, root: str, strict: bool) -> None:
        self._database = database
        self._key = root, strict
        self.skills = sum(skills for _, skills in database.read(self._segments)) if database.exists() else 0

    def _segments(self, execute: Any) -> list[tuple[int, int]]:
        folder = rows.number_of(execute, *self._key)
        found = execute("SELECT number, skills FROM segments WHERE folder = ?", (folder,)).fetchall()
        return list(found)

    def bodies(self, terms: Iterable[bytes]) -> dict[bytes, int]:
        """In how many bodies terms are."""
        wanted = sorted(term.decode() for term in terms)

        def ask(execute: Any) -> dict[bytes, int]:
            known: dict[bytes, int] = {}
            for segment, _ in self._segments(execute):
                for start in range(0, len(wanted), AT_ONCE):
                    some = wanted[start : start + AT_ONCE]
                    marks = ", ".join("?" * len(some))
                    for term, skills in execute(
                        f"SELECT term, bodies FROM postings WHERE segment = ? AND term IN ({marks})",  # noqa: S608
                        (segment, *some),
                    ):
                        known[term.encode()] = known.get(term.encode(), 0) + skills
            return known

        return self._database.read(ask)


def put(execute: Any, folder: int, harvest: Harvest) -> None:
    """Write what was read; see which skills are offered; merge what has become small or empty."""
    empty = execute("SELECT 1 FROM skills WHERE folder = ? LIMIT 1", (folder,)).fetchone() is None
    if not empty:
        for entry in harvest.entries:
            rows.forget(execute, folder, entry.path)
    segment = next_segment(execute)
    number = execute("SELECT coalesce(max(number), 0) FROM skills").fetchone()[0] + 1
    for place, (entry, digest) in enumerate(zip(harvest.entries, harvest.digests, strict=True)):
        at = segment + place // MAX_SLOTS, place % MAX_SLOTS
        where = (*at, digest) if digest is not None else (None, None, None)
        execute(_INSERT, (number + place, folder, *entry.columns(harvest.started), *where))
    for n, lists in enumerate(harvest.lists):
        size = min(len(harvest.entries) - n * MAX_SLOTS, MAX_SLOTS)
        _put_segment(execute, folder, segment + n, lists, size)
    ids = [entry.skill_id for entry in harvest.entries]
    for skill_id in ids if len(ids) < AT_ONCE else _twice(execute, folder):
        rows.offer(execute, folder, skill_id)
    merge_if_due(execute, folder)


class Change:
    """What a look at a folder changes in the index."""

    def __init__(
        self,
        folder: Folder,
        there: set[str],
        directories: dict[str, Directory] | None,
        harvest: Harvest,
        revision: int | None,
    ) -> None:
        self._key = folder.root, folder.strict
        self._cache = os.path.dirname(folder.database.path)
        self._there = there
        self._directories = directories
        self._harvest = harvest
        self._revision = revision

    def made(self, execute: Any) -> int:
        """Make it; gives the folder's new revision, or 0 where the index is another than the one known."""
        if rows.revision(execute, *self._key) != self._revision:
            return 0
        known = rows.paths(execute, *self._key)
        if not known:
            rows.forget_vanished(execute, self._cache)
        gone = [path for path in known if path not in self._there]
        number = rows.save(execute, *self._key, self._directories, gone)
        if self._harvest.entries:
            put(execute, number, self._harvest)
        return rows.revision(execute, *self._key) or 0


def _put_segment(execute: Any, folder: int, number: int, lists: Joined, size: int) -> None:
    skills = execute("SELECT count(*) FROM skills WHERE segment = ?", (number,)).fetchone()[0]
    if skills:
        for row in lists.rows(size):
            execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", (number, *row))
        execute("INSERT INTO segments VALUES (?, ?, ?, ?)", (number, folder, size, skills))


def _twice(execute: Any, folder: int) -> list[str]:
    """IDs that more than one directory gives; the others are offered as they are."""
    sql = "SELECT id FROM skills WHERE folder = ? GROUP BY id HAVING count(*) > 1"
    return [row[0] for row in execute(sql, (folder,)).fetchall()]
