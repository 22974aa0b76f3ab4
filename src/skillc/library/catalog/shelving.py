"""Skills on their way into the index: read first, which may take long, then written in one transaction."""

from __future__ import annotations

import os
from array import array
from time import time_ns

from skillc.library.catalog import tables
from skillc.library.catalog.segments import MAX_SEGMENTS, MAX_SLOTS, TELLING, Joined, packed, record, unpacked
from skillc.library.catalog.tables import Entry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from skillc.library.catalog.database import Database
    from skillc.library.catalog.segments import Turned
    from skillc.library.catalog.walking import Found

AT_ONCE = 500  # values in a statement
EMPTY = 0.3  # of a folder's slots, before its segments are merged

_INSERT = "INSERT INTO skills VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Harvest:
    """Skills that were read, in the order of their IDs, with the lists of their terms by segment."""

    __slots__ = ("digests", "entries", "lists", "started")

    def __init__(self) -> None:
        self.started = time_ns()  # what changed since then may have changed after it was read
        self.entries: list[Entry] = []
        self.digests: list[int | None] = []  # None where the text of a skill was not read
        self.lists: list[Joined] = []

    def add(self, entries: list[Entry], digests: list[int | None], batches: Iterable[Turned]) -> None:
        """Take in the skills of one segment."""
        self.entries += entries
        self.digests += digests
        self.lists.append(Joined())
        for batch in batches:
            self.lists[-1].add(batch)


def gather(root: str, strict: bool, todo: Iterable[Found], searched: bool, known: Outside | None) -> Harvest:
    """Read files; where they are to be `searched`, with the lists of their terms."""
    from skillc.library.catalog.workers import read_all

    harvest = Harvest()
    news = sorted(todo, key=lambda found: (found.skill_id, found.path))
    for start in range(0, len(news), MAX_SLOTS):
        some = news[start : start + MAX_SLOTS]
        jobs = [(n, os.path.join(root, found.path), found.skill_id) for n, found in enumerate(some)]
        outside = (known.skills, known.bodies) if known is not None else ()
        readings, batches = [], []
        for read, lists in read_all(jobs, strict, searched, *outside):
            readings += read
            batches.append(lists)
        readings.sort(key=lambda pair: pair[0])
        entries = [Entry.of(some[n], reading) for n, reading in readings]
        harvest.add(entries, [reading.digest for _, reading in readings], batches)
    return harvest


class Outside:
    """What an index knows of a folder already: how many skills, and in how many of them terms are."""

    def __init__(self, database: Database, root: str, strict: bool) -> None:
        self._database = database
        self._key = root, strict
        self.skills = sum(skills for _, skills in database.read(self._segments)) if database.exists() else 0

    def _segments(self, execute: Any) -> list[tuple[int, int]]:
        folder = tables.number_of(execute, *self._key)
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
            tables.forget(execute, folder, entry.path)
    segment = _next_segment(execute)
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
        tables.offer(execute, folder, skill_id)
    _merge_if_due(execute, folder)


def _next_segment(execute: Any) -> int:
    """A number that no segment ever had, so that what is remembered of one stays true."""
    row = execute("SELECT seq FROM sqlite_sequence WHERE name = 'segments'").fetchone()
    return row[0] + 1 if row else 1


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


def _merge_if_due(execute: Any, folder: int) -> None:
    """Merge where segments are many or largely empty; large ones that are full enough are left alone."""
    rows = execute(
        "SELECT number, size, (SELECT count(*) FROM skills WHERE segment = segments.number) FROM segments "
        "WHERE folder = ? ORDER BY size, number",
        (folder,),
    ).fetchall()
    hollow = [row for row in rows if row[2] < (1 - EMPTY) * row[1]]
    small: list[tuple[int, int, int]] = []
    if len(rows) > MAX_SEGMENTS:
        for row in rows:
            if row in hollow or row[1] > 2 * sum(size for _, size, _ in small) + MAX_SEGMENTS:
                continue
            small.append(row)
        small = small if len(small) > 1 else rows[:MAX_SEGMENTS]
    chosen = sorted({*hollow, *small})
    while chosen:
        some: list[tuple[int, int, int]] = []
        while chosen and sum(row[2] for row in some) + chosen[0][2] <= MAX_SLOTS:
            some.append(chosen.pop(0))
        _merge(execute, folder, some)


def _merge(execute: Any, folder: int, segments: list[tuple[int, int, int]]) -> None:
    """Put the skills that are left of some segments into one, in order of their IDs."""
    numbers = [row[0] for row in segments]
    marks = ", ".join("?" * len(numbers))
    live = execute(
        f"SELECT segment, slot, number FROM skills WHERE segment IN ({marks}) ORDER BY id, path",  # noqa: S608
        numbers,
    ).fetchall()
    new = _next_segment(execute)
    slots = {(segment, slot): place for place, (segment, slot, _) in enumerate(live)}
    size = len(live)
    if size:
        sizes = {row[0]: row[1] for row in segments}
        for term, skills, head, body in _merged(execute, sizes, slots):
            row = new, term, len(head), skills, packed(head, size), packed(body, size)
            execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", row)
        for place, (_, _, number) in enumerate(live):
            execute("UPDATE skills SET segment = ?, slot = ? WHERE number = ?", (new, place, number))
        execute("INSERT INTO segments VALUES (?, ?, ?, ?)", (new, folder, size, size))
    for number in numbers:
        execute("DELETE FROM postings WHERE segment = ?", (number,))
        execute("DELETE FROM segments WHERE number = ?", (number,))


def _merged(
    execute: Any, sizes: dict[int, int], slots: dict[tuple[int, int], int]
) -> Iterator[tuple[str, int, array[int], array[int]]]:
    """The lists of some segments, term by term, with the new slots."""
    marks = ", ".join("?" * len(sizes))
    terms: dict[str, list[tuple[int, int, bytes, bytes]]] = {}
    for term, segment, skills, head, body in execute(
        f"SELECT term, segment, bodies, head, body FROM postings WHERE segment IN ({marks})",  # noqa: S608
        list(sizes),
    ):
        terms.setdefault(term, []).append((segment, skills, head, body))
    for term in sorted(terms):
        heads: list[int] = []
        bodies: list[int] = []
        holders = 0
        for segment, skills, head, body in terms[term]:
            holders += skills
            heads += _moved(head, sizes[segment], segment, slots)
            bodies += _moved(body, sizes[segment], segment, slots)
        if heads or bodies or holders >= TELLING:
            yield term, holders, array("I", sorted(heads)), array("I", sorted(bodies))


def _moved(stored: bytes, size: int, segment: int, slots: dict[tuple[int, int], int]) -> list[int]:
    pairs = [(slots.get((segment, slot)), weight) for slot, weight in unpacked(stored, size)]
    return [record(slot, weight) for slot, weight in pairs if slot is not None]
