"""A task as a query: its terms, their posting lists, and the skills that score best.

The score of a skill is BM25+ of its head plus 0.8 times BM25+ of its body (see `weights`), over the strongest
terms of the task: those that it repeats and those that few skills have. Whole task descriptions are long,
and no skill has all their words; any may match.

A word that no skill has may be a typo. The index's own terms are the dictionary: a term is near if it starts
with the same letter and a few edits (letters that are missing, extra, wrong or swapped) lead to it, one for a
word of five letters, two from nine. A word whose ending is misspelt keeps it where the right one is stemmed,
so endings are compared alone.
"""

from __future__ import annotations

from itertools import chain
from math import sqrt

from skillc.index.skills.confidence import Judge
from skillc.index.skills.database import damage, verify
from skillc.index.skills.near_duplicates import Traits, read_group
from skillc.index.skills.postings import (
    MIN_TERM,
    read_counts,
    read_lists,
    read_spellings,
    verify_absence,
    weight_in_list,
)
from skillc.index.skills.score import add_scores, top_slots
from skillc.index.skills.snapshot import COLUMNS, PLACE, SEGMENT, SLOT, read_skills, split_lines
from skillc.index.skills.tokens import STOP_WORDS, is_unspaced, split_typed
from skillc.index.skills.weights import BYTE, K1, idf
from skillc.text import count_edits, remove_accents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from skillc.index.skills.find import Searchable
    from skillc.index.skills.tokens import Stemmer

    Order = tuple[float, str, int]  # best first, equals by ID, then by precedence

MAX_TERMS = 64  # of a task: the strongest
LONG = 48  # terms of a task beyond which the first of them choose skills, and the others rank only these
CHOOSING = 16  # such terms
MIN_CHOSEN = 40  # skills of a segment
MAX_WORDS = 20_000  # of a task that are read
MAX_TYPED = 16  # words of a task whose typos are corrected: in a longer one others say enough
BODY = 0.8  # what the body counts against name and description
STOP_WORD_SKILLS = 200  # that are assumed to have a stop word, beside those that do
MAX_SEGMENTS = 100  # whose caches are kept
MAX_COUNTS = 50_000  # terms of a segment whose counts are cached
MAX_BOUNDS = 10_000  # of prefixes in a segment that are cached
MAX_LISTS = 16 << 20  # bytes of a segment's lists that are cached
SCALE = (K1 + 1) / BYTE  # from stored weights to BM25's


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
        sql = "SELECT number, size FROM segments WHERE folder = ? ORDER BY number"
        for number, size in self.execute(sql, (self.folder,)).fetchall():
            yield cache.get(number) or cache.setdefault(number, Segment(number, size))

    def has_skill(self, skill_id: str) -> bool:
        """Return whether the folder offers a skill; raise DatabaseError if one is missing in the index."""
        rows = list(read_skills(self.execute, "id", [skill_id], ("folder", self.folder)))
        if not rows:
            for segment in self.segments():
                segment.verify_absence(self.execute, skill_id)
        return any(is_offered for is_offered, _ in rows)


class Candidate:
    """A skill that may fit, with its row in the index. `precedence` is its repository's, from 0.

    `group` is that of its twins, None if it has none. `place` is where it was found: segment and slot.
    """

    def __init__(
        self, precedence: int, score: float, row: Sequence[Any], place: tuple[Segment, int] | None = None
    ) -> None:
        self.precedence = precedence
        self.score = score
        self.place = place
        self.path, self.skill_id, self.description, needs, tags, self.digest, *rest = row
        size, mtime, ctime, self.sketch, self.group = rest
        self.stamp = size, mtime, ctime
        self.capabilities = split_lines(needs)
        self.tags = split_lines(tags)

    def order(self) -> Order:
        """Return its sort key: best first, equals by ID, then by precedence."""
        return -self.score, self.skill_id, self.precedence

    def head_weights(self, terms: Iterable[str]) -> dict[str, float]:
        """Return those of the terms that it has, with their weights in its head, from 0 to 1."""
        return self.place[0].head_weights(self.place[1], terms) if self.place else {}

    def traits(self) -> Traits:
        return Traits(self.skill_id, self.description, self.digest, self.sketch)


class Segment:
    """A segment, which never changes, with a cache of counts and lists: tasks share most of their words."""

    __slots__ = ("_bounds", "_counts", "_list_bytes", "_lists", "number", "size")

    def __init__(self, number: int, size: int) -> None:
        self.number = number
        self.size = size
        self._counts: dict[str, tuple[int, int]] = {}
        self._lists: dict[str, tuple[bytes, bytes]] = {}
        self._list_bytes = 0
        self._bounds: dict[str, int] = {}

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
            found = dict.fromkeys(new, (0, 0)) | read_counts(execute, self.number, new)
            for term in new:
                if found[term] == (0, 0):
                    verify_absence(execute, self.number, term)
            self._counts |= found
            counts |= found
        return counts

    def lists(self, execute: Any, terms: Collection[str]) -> dict[str, tuple[bytes, bytes]]:
        """Return the posting lists of each term, for head and body."""
        if self._list_bytes > MAX_LISTS:
            self._lists.clear()
            self._list_bytes = 0
        new = [term for term in terms if term not in self._lists]
        here = [term for term, count in self.counts(execute, new).items() if count != (0, 0)]
        lists = dict.fromkeys(new, (b"", b"")) | dict(read_lists(execute, self.number, here))
        self._lists |= lists
        self._list_bytes += sum(len(head) + len(body) for head, body in lists.values())
        return self._lists

    def head_weights(self, slot: int, terms: Iterable[str]) -> dict[str, float]:
        """Return the terms that a skill has, with their weights in its head; their lists were read."""
        weights = {}
        for term in terms:
            head, body = self._lists[term]
            weight = weight_in_list(head, slot, self.size)
            if weight or weight_in_list(body, slot, self.size):
                weights[term] = weight / 255
        return weights

    def rows(self, execute: Any, slots: Sequence[int]) -> dict[int, list[Any]]:
        """Return the rows of the offered skills in some slots, by slot."""
        rows = list(read_skills(execute, "slot", slots, ("segment", self.number)))
        if len(rows) < len(slots):
            self._verify_slots(execute, {*slots}.difference(row[SLOT] for _, row in rows))
        return {row[SLOT]: row[PLACE:] for is_offered, row in rows if is_offered}

    def _verify_slots(self, execute: Any, missing: Collection[int]) -> None:
        """Raise DatabaseError if a slot is empty although no skill was removed from it.

        Such a skill is not there at all, or is there and was not found.
        """
        at = f"total(slot IN ({', '.join(map(str, missing))}))"
        sql = f"SELECT count(*), coalesce(sum(slot), 0), {at} FROM skills WHERE segment = ?"  # noqa: S608
        *found, misses = execute(sql, (self.number,)).fetchone()
        sql = "SELECT skills, slots FROM segments WHERE number = ?"
        if misses or (*found,) != execute(sql, (self.number,)).fetchone():
            raise damage()


def read_all_tags(execute: Any) -> list[str]:
    """Return the tags of all skills of a database, of whatever folder."""
    rows = execute("SELECT DISTINCT tags FROM skills WHERE tags != ''")
    return sorted({tag for (tags,) in rows for tag in tags.split("\n")})


class Query:
    """A task put to some folders. `weights` has the strongest terms with their weights in head and body.

    Skills that are below none of `prefixes`, if there are any, are no candidates.
    Where no word of the task matches, `corrections` has its words with the terms that are searched for in
    their place.
    """

    def __init__(
        self, readers: Sequence[FolderReader], task: str, stemmer: Stemmer, prefixes: Collection[str] | None
    ) -> None:
        self._prefixes = prefixes
        self._words: dict[str, bytes] = {}  # the task's first word for a term
        self._counts: dict[str, int] = {}  # how often the task has a term
        words: dict[bytes, int] = {}
        for word in split_typed(task)[:MAX_WORDS]:
            words[word] = words.get(word, 0) + 1
        stems = b"\n".join(stemmer.stem(list(words))).decode().split("\n") if words else []
        for (word, count), terms in zip(words.items(), stems, strict=True):
            for term in terms.split():
                self._words.setdefault(term, word)
                self._counts[term] = self._counts.get(term, 0) + count
        self._readers = readers
        self._segments = [
            (precedence, reader.execute, segment)
            for precedence, reader in enumerate(readers)
            for segment in reader.segments()
        ]
        self.corrections: dict[str, str] = {}
        counts = self._count_skills(self._counts)
        # One word that matches says more than a guess at another.
        has_match = any(counts[term] != (0, 0) and self._words[term] not in STOP_WORDS for term in counts)
        if not has_match and len(words) <= MAX_TYPED:
            counts |= self._count_skills(self._correct([term for term in counts if counts[term] == (0, 0)]))
        self.weights = self._weigh(counts)
        total = sum(segment.size for _, _, segment in self._segments)
        self.judge = Judge(self._words, self._counts, counts, total, self.weights, stemmer)
        self._highest = max((max(pair) for pair in self.weights.values()), default=0.0) or 1.0

    def candidates(self, limit: int) -> tuple[list[Candidate], Order | None]:
        """Return the best skills, in order, and the place after which others may be missing, if any.

        Each segment gives `limit` skills; its others come after the last of these.
        """
        candidates: list[Candidate] = []
        ends: list[Order] = []
        for precedence, execute, segment in self._segments:
            lists = segment.lists(execute, self.weights)
            shares = [
                [
                    (weight / self._highest, data)
                    for weight, data in zip(weights, lists[term], strict=True)
                    if data
                ]
                for term, weights in self.weights.items()
            ]
            split = CHOOSING if len(shares) > LONG else len(shares)
            choosing, others = list(chain(*shares[:split])), list(chain(*shares[split:]))
            ranges = None if self._prefixes is None else segment.ranges(execute, self._prefixes)
            slots = top_slots(segment.size, choosing, max(2 * limit, MIN_CHOSEN) if others else limit, ranges)
            if others:
                slots = add_scores(segment.size, others, slots)[:limit]
            scores = {slot: round(SCALE * self._highest * score, 4) for slot, score in slots}
            rows = segment.rows(execute, list(scores))
            candidates += [
                Candidate(precedence, scores[slot], row, (segment, slot)) for slot, row in rows.items()
            ]
            if len(slots) >= limit:
                last = slots[-1][0]
                ends.append((-scores[last], rows[last][1] if last in rows else "", precedence))
        candidates.sort(key=Candidate.order)
        return candidates, min(ends, default=None)

    def twins(self, candidate: Candidate) -> list[Candidate]:
        """Return the group of a candidate in all folders, itself included, without scores."""
        execute = self._readers[candidate.precedence].execute
        numbers = read_group(execute, candidate.group)
        rows = list(read_skills(execute, "number", numbers))
        if len(rows) < len(numbers):
            raise damage()
        return [
            Candidate(precedence, 0.0, row[PLACE:])
            for is_offered, row in rows
            for precedence, its_execute, its in self._segments
            if is_offered and its.number == row[SEGMENT] and its_execute is execute
        ]

    def word(self, term: str) -> str:
        """Return the task's own word for a term."""
        return self._words[term].decode("utf-8", "replace")

    def spell(self, term: str, word: str) -> None:
        """Set the word for a term that the task has in another spelling."""
        self._words[term] = word.encode()

    def _correct(self, terms: Sequence[str]) -> list[str]:
        """Replace terms that no skill has by the nearest that some have; return those."""
        replacements = []
        for term in terms:
            if not term.isascii() and is_unspaced(term):
                continue  # a pair of a word that may be a whole page, which is not worth looking at for each
            word = self.word(term)
            letters = word if word.isascii() else remove_accents(word)
            if not letters.isalpha() or word.encode() in STOP_WORDS:
                continue
            near = choose_term(
                pair
                for _, execute, segment in self._segments
                for pair in nearest_terms(execute, segment.number, segment.size, letters, term).items()
            )
            if near is not None:
                self._counts[near] = self._counts.get(near, 0) + self._counts.pop(term)
                self._words.setdefault(near, near.encode())
                self.corrections[word] = near
                replacements.append(near)
        return replacements

    def _count_skills(self, terms: Collection[str]) -> dict[str, tuple[int, int]]:
        """Return how many heads and bodies of all segments have each of some terms."""
        counts: dict[str, tuple[int, int]] = {}
        for _, execute, segment in self._segments:
            more = segment.counts(execute, terms)
            if counts:
                more = {t: (counts[t][0] + h, counts[t][1] + b) for t, (h, b) in more.items()}
            counts = more
        return counts

    def _weigh(self, counts: dict[str, tuple[int, int]]) -> dict[str, tuple[float, float]]:
        """Return the weights of the strongest terms in head and body, by how many skills have each."""
        total = sum(segment.size for _, _, segment in self._segments)
        terms = [term for term in self._counts if counts.get(term, (0, 0)) != (0, 0)]
        # Skills that share only stop words with a task do not fit it, unless it has no other words.
        keywords = [term for term in terms if self._words[term] not in STOP_WORDS]
        is_noise = STOP_WORDS.issuperset(self._words.values())
        extra = STOP_WORD_SKILLS if is_noise else 0
        weights, strength = {}, {}
        for term in terms if is_noise else keywords:
            heads, bodies = counts[term]
            boost = sqrt(self._counts[term])  # a term that occurs four times counts twice
            head = boost * idf(heads + extra, total + extra)
            body = boost * idf(bodies + extra, total + extra) * BODY
            strength[term] = head if head < body else body
            weights[term] = head if heads else 0.0, body if bodies else 0.0
        strongest = sorted(sorted(weights), key=strength.__getitem__, reverse=True)  # equals by term
        return {term: weights[term] for term in strongest[:MAX_TERMS]}


MIN_WORD, LONG_WORD = 5, 9  # letters from which on a word may have one wrong, and two
_ENDINGS = "s es ed er ers ing ion ions ation ations ment ments able ance ence ive al ly ity ness y ies"
ENDINGS = _ENDINGS.split()
MAX_ENDING = 7  # letters, one more than those have
MANY = 1000  # skills; where there are more, a term that only one has may be a typo itself


def allowed_edits(word: str) -> int:
    """Return how many letters of a word may be wrong."""
    return 0 if len(word) < MIN_WORD else 1 if len(word) < LONG_WORD else 2


def nearest_terms(execute: Any, segment: int, size: int, word: str, stem: str) -> dict[str, tuple[int, int]]:
    """Return the terms of a segment near a word, with their distance and how many skills have each."""
    limit = allowed_edits(word)
    if not limit:
        return {}
    shortest = max(min(len(stem) - limit, len(word) - MAX_ENDING), MIN_WORD - limit, MIN_TERM)
    letters = set(stem)
    near: dict[str, tuple[int, int]] = {}
    terms, counts = read_spellings(execute, segment, stem[0])
    for at, term in enumerate(terms):
        if not shortest <= len(term) <= len(stem) + limit:
            continue
        distance = limit + 1
        if word.startswith(term) and len(term) >= MIN_WORD:
            distance = min(count_edits(word[len(term) :], ending, limit) for ending in ENDINGS)
        elif len(letters.symmetric_difference(term)) <= 2 * limit:  # which takes less time to see
            distance = _count_edits_of_stem(stem, term, limit)
        if distance <= limit and (skills := int(counts[at])) >= (2 if size > MANY else 1):
            near[term] = distance, skills
    return near


def _count_edits_of_stem(stem: str, term: str, limit: int) -> int:
    edits = count_edits(stem, term, limit)
    if edits > limit and term.endswith("i"):  # a final y becomes an i
        edits = count_edits(stem, f"{term[:-1]}y", limit)
    return edits


def choose_term(terms: Iterable[tuple[str, tuple[int, int]]]) -> str | None:
    """Return the nearest of some terms; of equals the one that most skills have, then the first."""
    best: dict[str, tuple[int, int]] = {}
    for term, (distance, skills) in terms:
        best[term] = distance, best.get(term, (0, 0))[1] + skills
    return min(best, key=lambda term: (best[term][0], -best[term][1], term), default=None)
