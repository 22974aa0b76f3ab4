"""Segments of the index put together where they have become many, small or largely empty."""

from __future__ import annotations

from skillc.index.skills.postings import (
    MAX_SEGMENTS,
    MAX_SLOTS,
    TELLING,
    packed,
    record,
    records,
    unpacked,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

EMPTY = 0.3  # of a folder's slots, before its segments are merged


def next_segment(execute: Any) -> int:
    """A number that no segment ever had, so that what is remembered of one stays true."""
    row = execute("SELECT seq FROM sqlite_sequence WHERE name = 'segments'").fetchone()
    return row[0] + 1 if row else 1


def merge_if_due(execute: Any, folder: int) -> None:
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
    new = next_segment(execute)
    slots = {(segment, slot): place for place, (segment, slot, _) in enumerate(live)}
    size = len(live)
    if size:
        sizes = {row[0]: row[1:] for row in segments}
        for term, skills, head, body in _merged(execute, sizes, slots):
            row = new, term, len(head), skills, packed(records(head), size), packed(records(body), size)
            execute("INSERT INTO postings VALUES (?, ?, ?, ?, ?, ?)", row)
        for place, (_, _, number) in enumerate(live):
            execute("UPDATE skills SET segment = ?, slot = ? WHERE number = ?", (new, place, number))
        execute("INSERT INTO segments VALUES (?, ?, ?, ?)", (new, folder, size, size))
    for number in numbers:
        execute("DELETE FROM postings WHERE segment = ?", (number,))
        execute("DELETE FROM segments WHERE number = ?", (number,))


def _merged(
    execute: Any, sizes: dict[int, tuple[int, int]], slots: dict[tuple[int, int], int]
) -> Iterator[tuple[str, int, list[int], list[int]]]:
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
            size, live = sizes[segment]
            heads += _moved(head, size, segment, slots)
            kept = _moved(body, size, segment, slots)
            bodies += kept
            # Which skills that have the term without keeping it are gone, nobody knows: as many as of all.
            listed = sum(1 for _ in unpacked(body, size))
            holders += len(kept) + round(max(0, skills - listed) * live / size)
        if heads or bodies or holders >= TELLING:
            yield term, holders, heads, bodies


def _moved(stored: bytes, size: int, segment: int, slots: dict[tuple[int, int], int]) -> list[int]:
    pairs = [(slots.get((segment, slot)), weight) for slot, weight in unpacked(stored, size)]
    return [record(slot, weight) for slot, weight in pairs if slot is not None]
