"""Merge segments of the skill index that have become many, small or hollow."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import groupby, islice, repeat
from typing import Any

from skillc.index.skills import postings
from skillc.index.skills.database import MAX_VALUES, checksum
from skillc.index.skills.invert import encode_row, posting
from skillc.index.skills.postings import MAX_SEGMENTS, MAX_SLOTS, Row
from skillc.index.skills.snapshot import read_skills

Segment = tuple[int, int, int]  # number, slots, skills that are left
NewSlots = dict[int, list[int | None]]  # by segment and slot; None for a skill that is gone

MANY = 2 * MAX_SEGMENTS
HOLLOW = 0.3  # share of empty slots from which a segment is merged


def next_segment(execute: Any) -> int:
    """Return a number that no segment ever had, so that caches of older ones stay true."""
    row = execute("SELECT seq FROM sqlite_sequence WHERE name = 'segments'").fetchone()
    return row[0] + 1 if row else 1


def merge_if_due(execute: Any, folder: int) -> None:
    """Merge hollow segments, and small ones where there are many; large, full ones stay.

    After many batches that were not merged, all are.
    """
    sql = "SELECT number, size, skills FROM segments WHERE folder = ? ORDER BY size, number"
    segments: list[Segment] = execute(sql, (folder,)).fetchall()
    hollow = [segment for segment in segments if segment[2] < (1 - HOLLOW) * segment[1]]
    small: list[Segment] = []
    if len(segments) > MAX_SEGMENTS:
        for segment in segments:
            limit = 2 * sum(size for _, size, _ in small) + MAX_SEGMENTS
            if segment not in hollow and segment[1] <= limit:
                small.append(segment)
        small = small if len(small) > 1 else segments[:MAX_SEGMENTS]
    if len(segments) > MANY:
        small = segments
    queue = sorted({*hollow, *small})
    while queue:
        group: list[Segment] = []
        while queue and sum(segment[2] for segment in group) + queue[0][2] <= MAX_SLOTS:
            group.append(queue.pop(0))
        _merge(execute, folder, group)


def _merge(execute: Any, folder: int, segments: list[Segment]) -> None:
    """Replace some segments by one with the skills that are left, in the order of their IDs.

    Large segments are merged in little memory: lists are read and written term by term.
    """
    numbers = [segment[0] for segment in segments]
    marks = ", ".join("?" * len(numbers))
    sql = f"SELECT number, segment, slot FROM skills WHERE segment IN ({marks}) ORDER BY id, path"  # noqa: S608
    new = next_segment(execute)
    new_slots: NewSlots = {number: [None] * size for number, size, _ in segments}
    skills: list[int] = []
    for number, segment, slot in execute(sql, numbers):
        new_slots[segment][slot] = len(skills)
        skills.append(number)
    size = len(skills)
    if size:
        rows = _merge_lists(execute, segments, new_slots, size)
        postings.store_lists(execute, new, _read_ahead(rows))
        _move_skills(execute, skills, new)
        execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", (new, folder, size, size, b""))
    for number in numbers:
        postings.delete_lists(execute, number)
        execute("DELETE FROM segments WHERE number = ?", (number,))


def _move_skills(execute: Any, skills: list[int], segment: int) -> None:
    """Give skills the slots of a new segment, in their order."""
    slots = {number: slot for slot, number in enumerate(skills)}
    for start in range(0, len(skills), MAX_VALUES):
        for _, row in list(read_skills(execute, "number", skills[start : start + MAX_VALUES])):
            number, folder, _, _, *contents = row
            place = segment, slots[number]
            values = *place, checksum(number, folder, *place, *contents), number
            execute("UPDATE skills SET segment = ?, slot = ?, checksum = ? WHERE number = ?", values)


def _read_ahead(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the same rows, read in groups: inserting between two reads makes reading slow."""
    while group := list(islice(rows, MAX_VALUES)):
        yield from group


def _merge_lists(execute: Any, segments: list[Segment], new_slots: NewSlots, size: int) -> Iterator[Row]:
    """Yield the lists by term with the new slots, encoded for a segment of `size` slots."""
    streams = [zip(postings.read_all_rows(execute, each[0]), repeat(each)) for each in segments]
    for term, group in groupby(heapq.merge(*streams, key=_term_of), key=_term_of):
        heads: list[int] = []
        bodies: list[int] = []
        others: list[int] = []
        for (_, _, _, head, body, other), (segment, slots, _) in group:
            heads += _move(postings.decode_list(head, slots), new_slots[segment])
            bodies += _move(postings.decode_list(body, slots), new_slots[segment])
            moves = map(new_slots[segment].__getitem__, postings.decode_slots(other))
            others += [slot for slot in moves if slot is not None]
        if heads or bodies or others:
            yield encode_row(term, heads, bodies, others, size)


def _term_of(pair: tuple[Row, Segment]) -> str:
    return pair[0][0]


def _move(pairs: Any, new_slots: list[int | None]) -> list[int]:
    moves = [(new_slots[slot], weight) for slot, weight in pairs]
    return [posting(slot, weight) for slot, weight in moves if slot is not None]
