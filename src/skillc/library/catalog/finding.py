"""Which skills fit a task: the terms of the task, the lists that hold them, and the best of what they name.

The score of a skill is BM25 of its name (counted twice) and description plus 0.8 times BM25 of its body,
over the terms of the task that say most: those it repeats and those that few skills have. Whole task
descriptions are long, and no skill has all their words; any may match.
"""

from __future__ import annotations

from skillc.library.catalog.scoring import Postings, closely
from skillc.library.catalog.segments import rarity
from skillc.library.catalog.terms import EMPTY_WORDS, words
from skillc.library.catalog.weighing import SATURATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from skillc.library.catalog.scoring import Scorer
    from skillc.library.catalog.terms import Stemmer

    Hit = tuple[str, int, float, int]  # a term, IN_HEAD or IN_BODY, what it adds to the score, its place

MAX_TERMS = 64  # of a task: those of highest weight
MAX_WORDS = 20_000  # of a task that are looked at
BODY = 0.8  # what the body counts against name and description
AT_ONCE = 500  # values in a statement
SAYING_NOTHING = 200  # skills that are thought to have the empty words, beside those that do
SCALE = (SATURATION + 1) / 255  # from stored weights to BM25's

IN_HEAD, IN_BODY = 0, 1  # the two lists of a term


class Shelf:
    """A folder in an index, open for reading, under the name of its repository."""

    __slots__ = ("execute", "folder", "name")

    def __init__(self, name: str, execute: Any, folder: int) -> None:
        self.name = name
        self.execute = execute
        self.folder = folder


class Candidate:
    """A skill that may fit, with its row in the index. `shelf` is its place in the order of precedence.

    `hits` are the lists that hold it: term, field, what it adds to the score, place.
    """

    __slots__ = (
        "capabilities",
        "description",
        "digest",
        "hits",
        "number",
        "path",
        "score",
        "shelf",
        "skill_id",
        "stamp",
    )

    def __init__(self, shelf: int, row: Sequence[Any], hits: list[Hit]) -> None:
        self.shelf = shelf
        self.number, self.path, self.skill_id, self.description, needs, self.digest, *stamp = row
        self.stamp = tuple(stamp)
        self.capabilities = tuple(needs.split("\n")) if needs else ()
        self.score = round(sum([adds for _, _, adds, _ in hits]), 4)
        self.hits = hits

    def terms(self) -> list[tuple[str, float, int, bool]]:
        """Its terms, strongest first: what each adds, its place in the head, if the body has it."""
        found: dict[str, tuple[float, int, bool]] = {}
        for term, field, more, place in self.hits:
            adds, known, in_body = found.get(term, (0.0, 0, False))
            found[term] = adds + more, known | place, in_body or field == IN_BODY
        return [(term, *found[term]) for term in sorted(found, key=lambda term: (-found[term][0], term))]


class _Segment:
    """A segment of a shelf with the lists of the terms that are looked for."""

    __slots__ = ("execute", "lists", "number", "shelf", "size")

    def __init__(self, shelf: int, execute: Any, number: int, size: int) -> None:
        self.shelf = shelf
        self.execute = execute
        self.number = number
        self.size = size
        self.lists: dict[str, tuple[Postings, Postings]] = {}

    def ask(self, columns: str, terms: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Columns of the rows of terms, the term first."""
        wanted = list(terms)
        for start in range(0, len(wanted), AT_ONCE):
            some = wanted[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from self.execute(
                f"SELECT term, {columns} FROM postings WHERE segment = ? AND term IN ({marks})",  # noqa: S608
                (self.number, *some),
            )

    def rows(self, slots: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The skills in some slots that are offered, the slot first."""
        for start in range(0, len(slots), AT_ONCE):
            some = slots[start : start + AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from self.execute(
                "SELECT slot, number, path, id, description, capabilities, digest, size, modified, changed "  # noqa: S608
                f"FROM skills WHERE segment = ? AND slot IN ({marks}) AND offered",
                (self.number, *some),
            )


class Search:
    """A task put to some shelves."""

    def __init__(self, shelves: Sequence[Shelf], task: str, stemmer: Stemmer) -> None:
        self._words: dict[str, list[str]] = {}  # the task's words for a term
        found = words(task.encode("utf-8", "replace"))[:MAX_WORDS]
        stemmer.stemmed(found)  # all at once; one by one they are only looked up
        for word in found:
            for term in stemmer.stemmed((word,)):
                self._words.setdefault(term.decode(), []).append(word.decode("utf-8", "replace"))
        self._segments = [
            _Segment(place, shelf.execute, number, size)
            for place, shelf in enumerate(shelves)
            for number, size in shelf.execute(
                "SELECT number, size FROM segments WHERE folder = ? ORDER BY number", (shelf.folder,)
            ).fetchall()
        ]
        self._weights = self._weighed()
        for segment in self._segments:
            for term, head, body in segment.ask("head, body", self._weights):
                segment.lists[term] = Postings(head, segment.size), Postings(body, segment.size)

    def candidates(self, wanted: int, best: Scorer) -> tuple[list[Candidate], bool]:
        """The skills that fit best, in order, and whether they are all that fit at all."""
        found: list[Candidate] = []
        complete = True
        for segment in self._segments:
            names = [(term, field) for term in segment.lists for field in (IN_HEAD, IN_BODY)]
            lists = [segment.lists[term][field] for term, field in names]
            weights = [self._weights[term][field] for term, field in names]
            most = max(weights, default=0.0) or 1.0
            slots = best(segment.size, [(w / most, x) for w, x in zip(weights, lists, strict=True)], wanted)
            complete = complete and len(slots) < wanted
            held = dict(zip(slots, closely(lists, slots), strict=True))
            for slot, *row in segment.rows(slots):
                hits = [(*names[n], SCALE * weights[n] * weight, place) for n, weight, place in held[slot]]
                found.append(Candidate(segment.shelf, row, hits))
        found.sort(key=lambda candidate: (-candidate.score, candidate.skill_id, candidate.shelf))
        return found, complete

    def word(self, term: str) -> str:
        """The task's own word for a term."""
        return self._words[term][0]

    def _weighed(self) -> dict[str, tuple[float, float]]:
        """What a term counts in head and body, for the terms of the task that say most."""
        every = sum(segment.size for segment in self._segments)
        counts: dict[str, list[int]] = {}
        for segment in self._segments:
            for term, heads, bodies in segment.ask("heads, bodies", self._words):
                known = counts.setdefault(term, [0, 0])
                known[0] += heads
                known[1] += bodies
        weights = {}
        for term, (heads, bodies) in counts.items():
            times = len(self._words[term])
            more = SAYING_NOTHING if self._words[term][0] in EMPTY_WORDS else 0
            head, body = rarity(heads + more, every + more), rarity(bodies + more, every + more)
            weights[term] = times * head, times * BODY * body
        strongest = sorted(weights, key=lambda term: (-min(weights[term]), term))[:MAX_TERMS]
        return {term: weights[term] for term in strongest}
