"""A task as a query: its terms, their posting lists, and the skills that score best.

The score of a skill is BM25+ of its head plus 0.6 times BM25+ of its body (see `weights`), over the strongest
terms of the task: those that it repeats and those that few skills have. Whole task descriptions are long,
and no skill has all their words; any may match.
"""

from __future__ import annotations

from math import sqrt

from skillc.index.skills.confidence import Judge
from skillc.index.skills.database import damage
from skillc.index.skills.everyday import is_everyday, is_stop_word
from skillc.index.skills.near_duplicates import Traits, read_group
from skillc.index.skills.postings import read_spellings
from skillc.index.skills.score import add_scores, top_slots
from skillc.index.skills.snapshot import PLACE, SEGMENT, read_skills, split_lines
from skillc.index.skills.tokens import STOP_WORDS, is_unspaced, split_typed
from skillc.index.skills.weights import BYTE, K1, idf
from skillc.text import remove_accents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from skillc.index.skills.segment import FolderReader, Segment
    from skillc.index.skills.tokens import Stemmer

    Order = tuple[float, str, int]  # best first, equals by ID, then by precedence
    Place = tuple[int, int, int]  # of a skill: its score, negative, the number of its segment, its slot

MAX_TERMS = 64  # of a task: the strongest
LONG = 48  # terms of a task beyond which the first of them choose skills, and the others rank only these
CHOOSING = 16  # such terms
MIN_CHOSEN = 32  # skills
MAX_WORDS = 20_000  # of a task that are read
MAX_TYPED = 16  # words of a task whose typos are corrected: in a longer one others say enough
BODY = 0.6  # what the body counts against name and description
EVERYDAY = 0.6  # what a word counts that prompts have whatever they are about
STOP_WORD_SKILLS = 200  # that are assumed to have a stop word, beside those that do
SCALE = (K1 + 1) / BYTE  # from stored weights to BM25's


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

    def traits(self) -> Traits:
        return Traits(self.skill_id, self.description, self.digest, self.sketch)


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
        self._stop_terms = {term for term, word in self._words.items() if is_stop_word(term, word)}
        self._readers = readers
        self._segments = [
            (precedence, reader.execute, segment)
            for precedence, reader in enumerate(readers)
            for segment in reader.segments()
        ]
        self._total = sum(segment.skills for _, _, segment in self._segments)
        self.corrections: dict[str, str] = {}
        counts = self._count_skills(self._counts)
        # One word that matches says more than a guess at another.
        has_match = any(counts[term] != (0, 0) and term not in self._stop_terms for term in counts)
        guesses: list[str] = []
        if not has_match and len(words) <= MAX_TYPED:
            guesses = self._correct([term for term in counts if counts[term] == (0, 0)])
            counts |= self._count_skills(guesses)
        self.weights = self._weigh(counts)
        keywords = self._counts.keys() - self._stop_terms
        self._judge = Judge(keywords, counts, self._total, self.weights, guesses, stemmer)
        self._highest = max((max(pair) for pair in self.weights.values()), default=0.0) or 1.0

    def candidates(self, limit: int) -> tuple[list[Candidate], Order | None]:
        """Return the best skills, in order, and the place after which others may be missing, if any.

        They are chosen from all segments together: results must not depend on which skills share one.
        """
        terms = [*self.weights]
        choosing = terms[:CHOOSING] if len(terms) > LONG else terms
        others = terms[len(choosing) :]
        places = self._choose(choosing, max(2 * limit, MIN_CHOSEN) if others else limit)
        if others:
            places = self._first(self._add(others, places), limit)
        found = self._read(places)
        end = max(candidate.order() for _, _, candidate in found) if 0 < limit <= len(found) else None
        return sorted((c for _, is_offered, c in found if is_offered), key=Candidate.order), end

    def _choose(self, terms: Sequence[str], count: int) -> list[Place]:
        """Return the best places by the lists of some terms."""
        places: list[Place] = []
        for number, (_, execute, segment) in enumerate(self._segments):
            lists = self._lists(number, terms)
            ranges = None if self._prefixes is None else segment.ranges(execute, self._prefixes)
            slots = top_slots(segment.size, lists, count, ranges, segment.removed)
            places += [(-score, number, slot) for slot, score in slots]
        return self._first(places, count)

    def _add(self, terms: Sequence[str], places: Iterable[Place]) -> list[Place]:
        """Return some places with what the lists of more terms add to their scores."""
        scores: list[dict[int, int]] = [{} for _ in self._segments]
        for score, number, slot in places:
            scores[number][slot] = -score
        for number, (_, _, segment) in enumerate(self._segments):
            if scores[number]:
                add_scores(segment.size, self._lists(number, terms), scores[number])
        return [(-score, n, slot) for n, slots in enumerate(scores) for slot, score in slots.items()]

    def _lists(self, number: int, terms: Sequence[str]) -> list[tuple[float, bytes]]:
        """Return the posting lists of some terms in a segment, each with the share that it counts with."""
        _, execute, segment = self._segments[number]
        lists = segment.lists(execute, self.weights)
        return [
            (weight / self._highest, data)
            for term in terms
            for weight, data in zip(self.weights[term], lists[term], strict=True)
            if data
        ]

    def _first(self, places: list[Place], count: int) -> list[Place]:
        """Return the best of some places; of those that are equal with the last, the first by ID."""
        places.sort()
        if len(places) > count > 0 and places[count - 1][0] == (score := places[count][0]):
            ties = self._read([place for place in places if place[0] == score])
            places = [place for place in places if place[0] < score]
            places += [place for place, _, _ in sorted(ties, key=lambda tie: tie[2].order())]
        return places[:count]

    def _read(self, places: Iterable[Place]) -> list[tuple[Place, bool, Candidate]]:
        """Return the skills in some places, each with its place and whether it is offered."""
        scores: list[dict[int, int]] = [{} for _ in self._segments]
        for negative, number, slot in places:
            scores[number][slot] = -negative
        found = []
        for number, (precedence, execute, segment) in enumerate(self._segments):
            for slot, (is_offered, row) in segment.rows(execute, [*scores[number]]).items():
                place = -scores[number][slot], number, slot
                score = round(SCALE * self._highest * scores[number][slot], 4)
                found.append((place, is_offered, Candidate(precedence, score, row, (segment, slot))))
        return found

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

    def judge(self, candidates: Sequence[Candidate]) -> list[float]:
        """Return how sure it is of each of some candidates that the task wants it."""
        weights: dict[Candidate, dict[str, float]] = {}
        for _, _, segment in self._segments:
            here = {c.place[1]: c for c in candidates if c.place and c.place[0] is segment}
            found = segment.head_weights(sorted(here), self._judge.searched) if here else []
            weights |= {here[slot]: each for slot, each in zip(sorted(here), found, strict=True)}
        return self._judge.confidences(candidates, [weights.get(candidate, {}) for candidate in candidates])

    def word(self, term: str) -> str:
        """Return the task's own word for a term."""
        return self._words[term].decode("utf-8", "replace")

    def spell(self, term: str, word: str) -> None:
        """Set the word for a term that the task has in another spelling."""
        self._words[term] = word.encode()

    def _correct(self, terms: Sequence[str]) -> list[str]:
        """Replace terms that no skill has by the nearest that some have; return those."""
        from skillc.index.skills.typos import choose_term, measure_terms  # most tasks have words that match

        replacements = []
        for term in terms:
            if not term.isascii() and is_unspaced(term):
                continue  # a pair of a word that may be a whole page, which is not worth looking at for each
            word = self.word(term)
            letters = word if word.isascii() else remove_accents(word)
            if not letters.isalpha() or word.encode() in STOP_WORDS:
                continue
            distances: dict[str, int] = {}
            for _, execute, segment in self._segments:
                distances |= measure_terms(read_spellings(execute, segment.number, term[0]), letters, term)
            near = choose_term(distances, self._count_skills(distances), self._total)
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
        total = self._total
        terms = [term for term in self._counts if counts.get(term, (0, 0)) != (0, 0)]
        # Skills that share only stop words with a task do not fit it, unless it has no other words.
        keywords = [term for term in terms if term not in self._stop_terms]
        is_noise = self._stop_terms.issuperset(self._words)
        extra = STOP_WORD_SKILLS if is_noise else 0
        weights, strength = {}, {}
        for term in terms if is_noise else keywords:
            heads, bodies = counts[term]
            boost = sqrt(self._counts[term])  # a term that occurs four times counts twice
            if is_everyday(term):
                boost *= EVERYDAY
            head = boost * idf(heads + extra, total + extra)
            body = boost * idf(bodies + extra, total + extra) * BODY
            strength[term] = head if head < body else body
            weights[term] = head if heads else 0.0, body if bodies else 0.0
        strongest = sorted(sorted(weights), key=strength.__getitem__, reverse=True)  # equals by term
        return {term: weights[term] for term in strongest[:MAX_TERMS]}
