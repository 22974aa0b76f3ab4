"""Which skills fit a task: the terms of the task, the lists that hold them, and the best of what they name.

The score of a skill is BM25 of its name (counted twice) and description plus 0.8 times BM25 of its body,
over the terms of the task that say most: those it repeats and those that few skills have. Whole task
descriptions are long, and no skill has all their words; any may match.
"""

from __future__ import annotations

from math import sqrt

from skillc.index.skills.postings import rarity
from skillc.index.skills.tokens import EMPTY_WORDS, words
from skillc.index.skills.weights import SATURATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from skillc.index.skills.score import Scorer
    from skillc.index.skills.tokens import Stemmer

    Order = tuple[float, str, int]  # best first, equals by ID, then by precedence

MAX_TERMS = 64  # of a task: those of highest weight
MAX_WORDS = 20_000  # of a task that are looked at
BODY = 0.8  # what the body counts against name and description
AT_ONCE = 500  # values in a statement
SAYING_NOTHING = 200  # skills that are thought to have the empty words, beside those that do
MAX_REMEMBERED = 100  # segments
MAX_COUNTS = 50_000  # terms of a segment whose counts are remembered
MAX_HELD = 16 << 20  # bytes of a segment's lists that are remembered
SCALE = (SATURATION + 1) / 255  # from stored weights to BM25's


class Shelf:
    """A folder in an index, open for reading, under the name of its repository."""

    __slots__ = ("execute", "folder", "name", "remembered")

    def __init__(self, name: str, execute: Any, folder: int, remembered: dict[int, Segment]) -> None:
        self.name = name
        self.execute = execute
        self.folder = folder
        self.remembered = remembered

    def segments(self) -> Iterator[Segment]:
        if len(self.remembered) > MAX_REMEMBERED:  # most are merged into others by now
            self.remembered.clear()
        sql = "SELECT number, size FROM segments WHERE folder = ? ORDER BY number"
        for number, size in self.execute(sql, (self.folder,)).fetchall():
            yield self.remembered.get(number) or self.remembered.setdefault(number, Segment(number, size))


class Candidate:
    """A skill that may fit, with its row in the index. `shelf` is its place in the order of precedence."""

    __slots__ = (
        "capabilities",
        "description",
        "digest",
        "path",
        "score",
        "shelf",
        "skill_id",
        "stamp",
    )

    def __init__(self, shelf: int, score: float, row: Sequence[Any]) -> None:
        self.shelf = shelf
        self.score = score
        self.path, self.skill_id, self.description, needs, self.digest, *stamp = row
        self.stamp = tuple(stamp)
        self.capabilities = tuple(needs.split("\n")) if needs else ()

    def order(self) -> Order:
        """Best first, equals by ID, then by precedence."""
        return -self.score, self.skill_id, self.shelf


class Segment:
    """A segment, which never changes, with what was asked of it before: tasks share most of their words."""

    __slots__ = ("_counts", "_held", "_lists", "number", "size")

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size
        self._counts: dict[str, tuple[int, int]] = {}
        self._lists: dict[str, tuple[bytes, bytes]] = {}
        self._held = 0  # bytes of lists

    def counts(self, execute: Any, terms: Collection[str]) -> dict[str, tuple[int, int]]:
        """How many heads and bodies have each of some terms."""
        if len(self._counts) > MAX_COUNTS:
            self._counts.clear()
        known = self._counts
        new = [term for term in terms if term not in known]
        if new:
            sql = "SELECT term, heads, bodies FROM postings WHERE segment = ? AND term"
            found = {term: (heads, bodies) for term, heads, bodies in self._ask(execute, sql, new)}
            known.update({term: found.get(term, (0, 0)) for term in new})
        return {term: known[term] for term in terms}

    def lists(self, execute: Any, terms: Iterable[str]) -> dict[str, tuple[bytes, bytes]]:
        """The lists of each term, for head and body."""
        if self._held > MAX_HELD:
            self._lists.clear()
            self._held = 0
        known = self._lists
        new = [term for term in terms if term not in known]
        if new:
            sql = "SELECT term, head, body FROM postings WHERE segment = ? AND term"
            found = {term: (head, body) for term, head, body in self._ask(execute, sql, new)}
            known.update({term: found.get(term, (b"", b"")) for term in new})
            self._held += sum(len(head) + len(body) for head, body in found.values())
        return known

    def rows(self, execute: Any, slots: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The skills in some slots that are offered, the slot first."""
        sql = (
            "SELECT slot, path, id, description, capabilities, digest, size, modified, changed "
            "FROM skills WHERE segment = ? AND offered AND slot"
        )
        return self._ask(execute, sql, slots)

    def _ask(self, execute: Any, sql: str, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(values), AT_ONCE):
            some = values[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from execute(f"{sql} IN ({marks})", (self.number, *some)).fetchall()


class Search:
    """A task put to some shelves. `weights` is what a term counts in head and body."""

    def __init__(self, shelves: Sequence[Shelf], task: str, stemmer: Stemmer) -> None:
        self._words: dict[str, bytes] = {}  # the task's first word for a term
        self._times: dict[str, int] = {}  # how often it has a term
        found: dict[bytes, int] = {}
        for word in words(task.encode("utf-8", "replace"))[:MAX_WORDS]:
            found[word] = found.get(word, 0) + 1
        for (word, times), terms in zip(found.items(), stemmer.each(list(found)), strict=True):
            for term in terms.decode().split():
                self._words.setdefault(term, word)
                self._times[term] = self._times.get(term, 0) + times
        self._segments = [
            (place, shelf.execute, segment)
            for place, shelf in enumerate(shelves)
            for segment in shelf.segments()
        ]
        self.weights = self._weighed()
        self._most = max((max(pair) for pair in self.weights.values()), default=0.0) or 1.0

    def candidates(self, wanted: int, best: Scorer) -> tuple[list[Candidate], Order | None]:
        """The skills that fit best, in order, and up to where nothing can be missing; None where nothing is.

        Each segment names so many; what it does not name comes after the last of these.
        """
        found: list[Candidate] = []
        ends: list[Order] = []
        for shelf, execute, segment in self._segments:
            slots = best(segment.size, self._shares(segment.lists(execute, self.weights)), wanted)
            scores = {slot: round(SCALE * self._most * score, 4) for slot, score in slots}
            rows = {row[0]: row[1:] for row in segment.rows(execute, list(scores))}
            found += [Candidate(shelf, scores[slot], row) for slot, row in rows.items()]
            if len(slots) >= wanted:
                last = slots[-1][0]
                ends.append((-scores[last], rows[last][1] if last in rows else "", shelf))
        found.sort(key=Candidate.order)
        return found, min(ends, default=None)

    def _shares(self, lists: dict[str, tuple[bytes, bytes]]) -> list[tuple[float, bytes]]:
        """The lists of a segment with what each counts against the strongest."""
        return [
            (weight / self._most, stored)
            for term, both in self.weights.items()
            for weight, stored in zip(both, lists[term], strict=True)
            if stored
        ]

    def word(self, term: str) -> str:
        """The task's own word for a term."""
        return self._words[term].decode("utf-8", "replace")

    def _weighed(self) -> dict[str, tuple[float, float]]:
        """What a term counts in head and body, for the terms of the task that say most."""
        every = sum(segment.size for _, _, segment in self._segments)
        counts = _together([segment.counts(execute, self._times) for _, execute, segment in self._segments])
        weights, strength = {}, {}
        for term, times in self._times.items():
            heads, bodies = counts.get(term, (0, 0))
            if heads or bodies:
                more = SAYING_NOTHING if self._words[term] in EMPTY_WORDS else 0
                matters = sqrt(times)  # what is said four times matters twice as much
                head = matters * rarity(heads + more, every + more)
                body = matters * rarity(bodies + more, every + more) * BODY
                strength[term] = min(head, body)
                weights[term] = head if heads else 0.0, body if bodies else 0.0
        if len(weights) <= MAX_TERMS:
            return weights
        strongest = sorted(weights, key=lambda term: (-strength[term], term))[:MAX_TERMS]
        return {term: weights[term] for term in strongest}


def _together(counts: list[dict[str, tuple[int, int]]]) -> dict[str, tuple[int, int]]:
    """How many heads and bodies of all segments have each term."""
    if len(counts) == 1:
        return counts[0]
    every: dict[str, tuple[int, int]] = {}
    for known in counts:
        for term, (heads, bodies) in known.items():
            before = every.get(term, (0, 0))
            every[term] = before[0] + heads, before[1] + bodies
    return every
