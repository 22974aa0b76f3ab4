"""Putting skills into the index, within one transaction: rows, texts as a new segment, and merging."""

from __future__ import annotations

from skillc.library.catalog import tables
from skillc.library.catalog.segments import MAX_SEGMENTS, MAX_SLOTS, RECORD, Builder, packed, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from skillc.library.catalog.reading import Text
    from skillc.library.catalog.tables import Entry

AT_ONCE = 500  # values in a statement
EMPTY = 0.3  # of a folder's slots, before its segments are merged

_INSERT = "INSERT INTO skills VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Shelving:
    """Takes in the skills of one folder that are new or changed; `close` writes what was collected."""

    def __init__(self, execute: Any, folder: int) -> None:
        self._execute = execute
        self._folder = folder
        self._number = execute("SELECT coalesce(max(number), 0) FROM skills").fetchone()[0]
        self._segment = execute("SELECT coalesce(max(number), 0) FROM segments").fetchone()[0] + 1
        rows = execute("SELECT number, skills FROM segments WHERE folder = ?", (folder,)).fetchall()
        self._others = [row[0] for row in rows]
        self._outside = sum(row[1] for row in rows)
        self._builder = Builder(self._outside, self._elsewhere)
        self._ids: list[str] = []
        self._empty = execute("SELECT 1 FROM skills WHERE folder = ? LIMIT 1", (folder,)).fetchone() is None

    def add(self, entry: Entry, text: Text | None) -> None:
        if not self._empty:
            tables.forget(self._execute, self._folder, entry.path)
        if self._builder.full:
            self._write()
        place = (self._segment, self._builder.add(text), text.digest) if text else (None, None, None)
        self._number += 1
        self._execute(_INSERT, (self._number, self._folder, *entry.columns(), *place))
        self._ids.append(entry.skill_id)

    def close(self) -> None:
        """Write the lists; see which skills are offered; merge what has become small or empty."""
        for skill_id in self._ids if len(self._ids) < AT_ONCE else self._twice():
            tables.offer(self._execute, self._folder, skill_id)
        if self._builder.size:
            self._write()
        _merge_if_due(self._execute, self._folder)

    def _twice(self) -> list[str]:
        """IDs that more than one directory gives; the others are offered as they are."""
        sql = "SELECT id FROM skills WHERE folder = ? GROUP BY id HAVING count(*) > 1"
        return [row[0] for row in self._execute(sql, (self._folder,)).fetchall()]

    def _write(self) -> None:
        builder, execute = self._builder, self._execute
        for row in builder.rows():
            execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", (self._segment, *row))
        segment = self._segment, self._folder, builder.size, builder.size
        execute("INSERT INTO segments VALUES (?, ?, ?, ?)", segment)
        self._others.append(self._segment)
        self._outside += builder.size
        self._segment += 1
        self._builder = Builder(self._outside, self._elsewhere)

    def _elsewhere(self, terms: set[str]) -> dict[str, int]:
        """In how many bodies of the folder's other segments terms are."""
        known: dict[str, int] = {}
        wanted = sorted(terms)
        for segment in self._others:
            for start in range(0, len(wanted), AT_ONCE):
                some = wanted[start : start + AT_ONCE]
                marks = ", ".join("?" * len(some))
                for term, skills in self._execute(
                    f"SELECT term, bodies FROM postings WHERE segment = ? AND term IN ({marks})",  # noqa: S608
                    (segment, *some),
                ):
                    known[term] = known.get(term, 0) + skills
        return known


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
    new = execute("SELECT max(number) + 1 FROM segments").fetchone()[0]
    slots = {(segment, slot): place for place, (segment, slot, _) in enumerate(live)}
    size = len(live)
    if size:
        sizes = {row[0]: row[1] for row in segments}
        for term, skills, head, body in _merged(execute, sizes, slots):
            row = new, term, len(head) // RECORD, skills, packed(head, size), packed(body, size)
            execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", row)
        for place, (_, _, number) in enumerate(live):
            execute("UPDATE skills SET segment = ?, slot = ? WHERE number = ?", (new, place, number))
        execute("INSERT INTO segments VALUES (?, ?, ?, ?)", (new, folder, size, size))
    for number in numbers:
        execute("DELETE FROM postings WHERE segment = ?", (number,))
        execute("DELETE FROM segments WHERE number = ?", (number,))


def _merged(
    execute: Any, sizes: dict[int, int], slots: dict[tuple[int, int], int]
) -> Iterator[tuple[str, int, bytearray, bytearray]]:
    """The lists of some segments, term by term, with the new slots."""
    marks = ", ".join("?" * len(sizes))
    terms: dict[str, list[tuple[int, int, bytes, bytes]]] = {}
    for term, segment, skills, head, body in execute(
        f"SELECT term, segment, bodies, head, body FROM postings WHERE segment IN ({marks})",  # noqa: S608
        list(sizes),
    ):
        terms.setdefault(term, []).append((segment, skills, head, body))
    for term in sorted(terms):
        head, body = bytearray(), bytearray()
        holders = 0
        for segment, skills, heads, bodies in terms[term]:
            holders += skills
            head += _moved(unpacked(heads, sizes[segment]), segment, slots)
            body += _moved(unpacked(bodies, sizes[segment]), segment, slots)
        if head or body or holders > 2:
            yield term, holders, _sorted(head), _sorted(body)


def _moved(records: bytearray, segment: int, slots: dict[tuple[int, int], int]) -> bytearray:
    moved = bytearray()
    for at in range(0, len(records), RECORD):
        slot = slots.get((segment, records[at] | records[at + 1] << 8))
        if slot is not None:
            moved += slot.to_bytes(2, "little") + records[at + 2 : at + RECORD]
    return moved


def _sorted(records: bytearray) -> bytearray:
    parts = [bytes(records[at : at + RECORD]) for at in range(0, len(records), RECORD)]
    parts.sort(key=lambda record: record[0] | record[1] << 8)
    return bytearray(b"".join(parts))
