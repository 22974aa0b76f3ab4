"""A segment of the index as searches read it: its counts, its posting lists, and the skills in its slots."""

from __future__ import annotations

from skillc.index.skills.database import damage, verify
from skillc.index.skills.postings import (
    count_slots,
    decode_slots,
    read_counts,
    read_lists,
    read_rows,
    read_weights,
    verify_absence,
)
from skillc.index.skills.snapshot import COLUMNS, PLACE, SLOT, read_skills

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from skillc.index.skills.find import Searchable

MAX_SEGMENTS = 100  # whose caches are kept
MAX_COUNTS = 50_000  # terms of a segment whose counts are cached
MAX_BOUNDS = 10_000  # of prefixes in a segment that are cached
GROUP = 64  # terms whose lists are counted together
MAX_LISTS = 16 << 20  # bytes of a segment's lists that are cached


class FolderReader:
    """The folder of a repository in an open index, where it has a number."""

    def __init__(self, repository: Searchable, execute: Any, number: int) -> None:
        self.repository = repository
        self.execute = execute
        self.folder = number

    def segments(self) -> Iterator[Segment]:
        cache: dict[int, Segment] = self.repository.folder.database.segments
        if len(cache) > MAX_SEGMENTS:  # most are merged into others by now
            cache.clear()
        sql = "SELECT number, size, skills, removed FROM segments WHERE folder = ? ORDER BY number"
        for number, size, skills, removed in self.execute(sql, (self.folder,)).fetchall():
            segment = cache.get(number) or cache.setdefault(number, Segment(number, size))
            segment.update(skills, removed)
            yield segment

    def has_skill(self, skill_id: str) -> bool:
        """Return whether the folder offers a skill; raise DatabaseError if one is missing in the index."""
        rows = list(read_skills(self.execute, "id", [skill_id], ("folder", self.folder)))
        if not rows:
            for segment in self.segments():
                segment.verify_absence(self.execute, skill_id)
        return any(is_offered for is_offered, _ in rows)


class Segment:
    """A segment, with a cache of counts and lists: tasks share most of their words.

    Its lists never change. What they have of skills in `removed` slots does not count.
    """

    __slots__ = (
        *("_bounds", "_counts", "_list_bytes", "_lists", "_removed_data"),
        *("number", "removed", "size", "skills"),
    )

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size
        self.skills = size
        self.removed: frozenset[int] = frozenset()
        self._removed_data = b""
        self._counts: dict[str, tuple[int, int]] = {}
        self._lists: dict[str, tuple[bytes, bytes]] = {}
        self._list_bytes = 0
        self._bounds: dict[str, int] = {}

    def update(self, skills: int, removed: bytes) -> None:
        """Set how many skills it has now, and the slots of those that were removed, as they are stored."""
        if removed != self._removed_data:
            self._removed_data = removed
            self.removed = frozenset(decode_slots(removed))
            self._counts.clear()
        self.skills = skills

    def ranges(self, execute: Any, prefixes: Collection[str]) -> list[tuple[int, int]]:
        """Return where the skills below some prefixes are: slots are in the order of IDs."""
        if len(self._bounds) > MAX_BOUNDS:
            self._bounds.clear()
        texts = [pair for p in prefixes for pair in ((p, f"{p}\0"), (f"{p}/", f"{p}0"))]  # "0" follows "/"
        return [(self._bound(execute, start), self._bound(execute, end)) for start, end in texts]

    def _bound(self, execute: Any, text: str) -> int:
        """Return the first slot whose skill has an ID that is not before a text; that may be empty."""
        low, high = 0, self.size
        if text in self._bounds:
            return self._bounds[text]
        while low < high:
            middle = (low + high) // 2
            slot, skill_id = self._next_skill(execute, middle)
            if skill_id is not None and slot < high and skill_id < text:
                low = slot + 1
            else:
                high = middle
        self._bounds[text] = low
        return low

    def _next_skill(self, execute: Any, slot: int) -> tuple[int, str | None]:
        """Return the first slot from one on that is not empty, and the ID there."""
        sql = f"SELECT checksum, {COLUMNS} FROM skills WHERE segment = ? AND slot >= ? ORDER BY slot LIMIT 1"  # noqa: S608
        row = execute(sql, (self.number, slot)).fetchone()
        if row is None:
            return self.size, None
        verify(*row)
        _, _, _, segment, found, _, skill_id, *_ = row
        if segment != self.number or found < slot:
            raise damage()
        return found, skill_id

    def verify_absence(self, execute: Any, skill_id: str) -> None:
        """Raise DatabaseError if a slot has an ID that was not found by itself."""
        if self._next_skill(execute, self._bound(execute, skill_id))[1] == skill_id:
            raise damage()

    def counts(self, execute: Any, terms: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return how many heads and bodies have each of some terms."""
        if len(self._counts) > MAX_COUNTS:
            self._counts.clear()
        counts = {term: self._counts[term] for term in terms if term in self._counts}
        if len(counts) < len(terms):
            new = [term for term in terms if term not in counts]
            found = read_counts(execute, self.number, new)
            for term in new:
                if term not in found:
                    verify_absence(execute, self.number, term)
            if self.removed:
                found = dict(self._count_lists(execute, [*found]))
            found = dict.fromkeys(new, (0, 0)) | found
            self._counts |= found
            counts |= found
        return counts

    def _count_lists(self, execute: Any, terms: Sequence[str]) -> Iterator[tuple[str, tuple[int, int]]]:
        """Yield how many heads and bodies of skills that are there have each of some terms."""
        size, removed = self.size, self.removed
        for start in range(0, len(terms), GROUP):
            rows = read_rows(execute, self.number, terms[start : start + GROUP])
            for term, heads, bodies, head, body, others in rows:
                heads -= count_slots(head, size, removed)
                bodies -= count_slots(body, size, removed) + len(removed.intersection(decode_slots(others)))
                yield term, (heads, bodies)

    def lists(self, execute: Any, terms: Collection[str]) -> dict[str, tuple[bytes, bytes]]:
        """Return the posting lists of each term, for head and body."""
        new = [term for term in terms if term not in self._lists]
        if new and self._list_bytes > MAX_LISTS:
            self._lists.clear()
            self._list_bytes = 0
            new = [*terms]
        here = [term for term, count in self.counts(execute, new).items() if count != (0, 0)]
        lists = dict.fromkeys(new, (b"", b"")) | dict(read_lists(execute, self.number, here))
        self._lists |= lists
        self._list_bytes += sum(len(head) + len(body) for head, body in lists.values())
        return self._lists

    def head_weights(self, slots: Sequence[int], terms: Iterable[str]) -> list[dict[str, float]]:
        """Return the terms that some skills have, with their weights in their heads, from 0 to 1.

        The slots come in order, and the lists of the terms were read.
        """
        weights: list[dict[str, float]] = [{} for _ in slots]
        for term in terms:
            head, body = (read_weights(data, slots, self.size) for data in self._lists[term])
            for found, in_head, in_body in zip(weights, head, body, strict=True):
                if in_head or in_body:
                    found[term] = in_head / 255
        return weights

    def rows(self, execute: Any, slots: Sequence[int]) -> dict[int, tuple[bool, list[Any]]]:
        """Return the rows of the skills in some slots, with whether they are offered; none was removed."""
        rows = list(read_skills(execute, "slot", slots, ("segment", self.number)))
        if len(rows) < len(slots):
            raise damage()
        return {row[SLOT]: (is_offered, row[PLACE:]) for is_offered, row in rows}
