"""Merge segments of the skill index that have become many, small or hollow."""

from __future__ import annotations

from skillc.index.skills import postings
from skillc.index.skills.database import checksum, verify
from skillc.index.skills.postings import MAX_SEGMENTS, MAX_SLOTS, MIN_FREQUENCY
from skillc.index.skills.snapshot import CONTENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Segment = tuple[int, int, int]  # number, slots, skills that are left

HOLLOW = 0.3  # share of empty slots from which a segment is merged


def next_segment(execute: Any) -> int:
    """Return a number that no segment ever had, so that caches of older ones stay true."""
    row = execute("SELECT seq FROM sqlite_sequence WHERE name = 'segments'").fetchone()
    return row[0] + 1 if row else 1


def merge_if_due(execute: Any, folder: int) -> None:
    """Merge hollow segments, and small ones where there are many; large, full ones stay."""
    skills = "(SELECT count(*) FROM skills WHERE segment = segments.number)"
    sql = f"SELECT number, size, {skills} FROM segments WHERE folder = ? ORDER BY size, number"  # noqa: S608
    segments: list[Segment] = execute(sql, (folder,)).fetchall()
    hollow = [segment for segment in segments if segment[2] < (1 - HOLLOW) * segment[1]]
    small: list[Segment] = []
    if len(segments) > MAX_SEGMENTS:
        for segment in segments:
            limit = 2 * sum(size for _, size, _ in small) + MAX_SEGMENTS
            if segment not in hollow and segment[1] <= limit:
                small.append(segment)
        small = small if len(small) > 1 else segments[:MAX_SEGMENTS]
    queue = sorted({*hollow, *small})
    while queue:
        group: list[Segment] = []
        while queue and sum(segment[2] for segment in group) + queue[0][2] <= MAX_SLOTS:
            group.append(queue.pop(0))
        _merge(execute, folder, group)


def _merge(execute: Any, folder: int, segments: list[Segment]) -> None:
    """Replace some segments by one with the skills that are left, in the order of their IDs."""
    numbers = [segment[0] for segment in segments]
    marks = ", ".join("?" * len(numbers))
    columns = f"number, checksum, segment, slot, {CONTENTS}"
    sql = f"SELECT {columns} FROM skills WHERE segment IN ({marks}) ORDER BY id, path"  # noqa: S608 -- our own words
    skills = execute(sql, numbers).fetchall()
    new = next_segment(execute)
    new_slots = {(segment, slot): place for place, (_, _, segment, slot, *_) in enumerate(skills)}
    size = len(skills)
    if size:
        rows = (
            (term, len(head), count, _encode(head, size), _encode(body, size))
            for term, count, head, body in _merge_lists(execute, segments, new_slots)
        )
        postings.store_lists(execute, new, rows)
        for place, (number, check, segment, slot, *contents) in enumerate(skills):
            verify(check, segment, slot, *contents)
            sql = "UPDATE skills SET segment = ?, slot = ?, checksum = ? WHERE number = ?"
            execute(sql, (new, place, checksum(new, place, *contents), number))
        slots = size * (size - 1) // 2
        execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", (new, folder, size, size, slots))
    for number in numbers:
        execute("DELETE FROM postings WHERE segment = ?", (number,))
        execute("DELETE FROM segments WHERE number = ?", (number,))


def _merge_lists(
    execute: Any, segments: list[Segment], new_slots: dict[tuple[int, int], int]
) -> Iterator[tuple[str, int, list[int], list[int]]]:
    """Yield each term with how many bodies have it and the postings of heads and bodies in the new slots."""
    sizes = {number: (slots, skills) for number, slots, skills in segments}
    terms: dict[str, list[tuple[int, int, bytes, bytes]]] = {}
    for segment in sizes:
        for term, _, count, head, body in postings.read_all_lists(execute, segment):
            terms.setdefault(term, []).append((segment, count, head, body))
    for term in sorted(terms):
        heads: list[int] = []
        bodies: list[int] = []
        total = 0
        for segment, count, head, body in terms[term]:
            slots, skills = sizes[segment]
            heads += _move(postings.decode_list(head, slots), segment, new_slots)
            old = list(postings.decode_list(body, slots))
            new = _move(old, segment, new_slots)
            bodies += new
            # A skill may have the term and not keep it; assume that as many of those are gone as of all.
            total += len(new) + round(max(0, count - len(old)) * skills / slots)
        if heads or bodies or total >= MIN_FREQUENCY:
            yield term, total, heads, bodies


def _encode(pairs: list[int], size: int) -> bytes:
    return postings.encode_list(postings.to_records(pairs), size)


def _move(pairs: Any, segment: int, new_slots: dict[tuple[int, int], int]) -> list[int]:
    moves = [(new_slots.get((segment, slot)), weight) for slot, weight in pairs]
    return [postings.posting(slot, weight) for slot, weight in moves if slot is not None]
