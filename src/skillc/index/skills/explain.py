"""Results of a search, and why they fit: the task's terms that a skill has, and the section to read first.

Terms and section come from the file as it is now, so that the section can be shown. That costs half a
millisecond for each skill, so results are explained only on use.
"""

from __future__ import annotations

import os

from skillc.index.skills.tokens import split_words
from skillc.index.skills.weights import BODY_BONUS, BODY_LENGTH, FIELDS, HEAD_BONUS, HEAD_LENGTH, tf_weight
from skillc.quotes import shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from skillc.index.skills.query import Candidate
    from skillc.index.skills.tokens import Stemmer

    Explanation = tuple[tuple[tuple[str, tuple[str, ...]], ...], str]  # words with their fields; a section
    Weights = dict[str, tuple[float, float]]  # of terms in head and body

SECTION_LENGTH = 60  # words of a section, as a rule
IN_HEADING = 2.0  # what a term in a section's heading counts


class FoundSkill:
    """A skill that fits a task, and why: the task's words it has, and the section to read first.

    `also` says where else its ID is, `copies` where copies and near-copies of it are: repository and ID.
    `directory` is its folder, where it has one; `refer` returns what `skc show` takes for an ID in a folder.
    """

    def __init__(
        self,
        candidate: Candidate,
        source_name: str,
        also: list[tuple[str, str]],
        copies: list[tuple[str, str]],
        directory: str,
        explain: Callable[[], Explanation],
    ) -> None:
        self.id = candidate.skill_id
        self.name = candidate.skill_id.rpartition("/")[2]
        self.description: str = candidate.description
        self.score = candidate.score
        self.source_name = source_name
        self.also = tuple(also)
        self.copies = tuple(copies)
        self.directory = directory
        self.refer: Callable[[str, str], str] = _refer_to_folder
        self._explain = explain  # reads the file, so it runs on first use
        self._explanation: Explanation | None = None

    @property
    def matched(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the task's words that the skill has, strongest first, each with the fields it is in."""
        return self._why()[0]

    @property
    def section(self) -> str | None:
        """Return the heading of the section to read first; None where that is the text before any heading."""
        return self._why()[1] or None

    @property
    def read(self) -> str:
        """Return the command that shows its best section, or all of it."""
        if not self.section or not self.directory:
            return f"skc load {self.id}"
        skill = shell_quote(self.refer(self.id, self.directory), '"')
        section = shell_quote(self.section, '"')
        return f"skc show {skill} --section {section}"

    def _why(self) -> Explanation:
        if self._explanation is None:
            self._explanation = self._explain()
        return self._explanation

    def as_json(self) -> dict[str, Any]:
        """Return it as one of the results in the wire format."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "score": self.score,
            "source_name": self.source_name,
            "also": [{"source_name": name, "id": skill_id} for name, skill_id in self.also],
            "copies": [{"id": skill_id, "source_name": name} for name, skill_id in self.copies],
            "matched": [{"term": word, "fields": list(fields)} for word, fields in self.matched],
            "section": self.section,
            "read": self.read,
        }


def _refer_to_folder(skill_id: str, directory: str) -> str:
    """Return what `skc show` takes wherever it runs: a name in a store, else the folder."""
    parent, name = os.path.split(directory)
    return name if parent.replace("\\", "/").endswith("/.skillc/skills") else directory


class FoundSkills(list[FoundSkill]):
    """The skills that fit a task, best first. `corrections` has the words that no skill has, with those
    that were searched for in their place."""

    def __init__(
        self, skills: Iterable[FoundSkill] = (), corrections: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(skills)
        self.corrections = dict(corrections or {})

    def as_json(self, task: str) -> dict[str, Any]:
        """Return the wire format of `skc find`, of `GET /search` and of the tools."""
        value: dict[str, Any] = {"query": task, "results": [skill.as_json() for skill in self]}
        return value | {"corrections": self.corrections} if self.corrections else value


def explain(
    candidate: Candidate, data: bytes, weights: Weights, stemmer: Stemmer
) -> tuple[list[tuple[str, tuple[str, ...]]], str]:
    """Return the terms that a skill has, strongest first, with their fields; and the best section's heading.

    `data` is its SKILL.md, or its body alone. The heading is empty where the best part is before any.
    """
    from skillc.skills import find_headings  # with the Markdown parser

    start = _body_start(data)
    headings = find_headings(data, start)
    # The name that a skill gives itself, which need not be its ID's.
    own_name = data[:start].partition(b"\nname:")[2].partition(b"\n")[0].decode("utf-8", "replace")
    fields = {
        "name": split_words(f"{candidate.skill_id.rpartition('/')[2]} {own_name}"),
        "description": split_words(candidate.description),
        "tags": split_words(" ".join(candidate.tags)),
        "headings": split_words(" ".join([heading.text for heading in headings])),
        "body": split_words(data[start:]),
    }
    counter = _TermCounter(set[bytes]().union(*fields.values()), weights, stemmer)
    counts = {field: counter.count(words) for field, words in fields.items()}
    scores = _score_terms(counts, {field: len(words) for field, words in fields.items()}, weights)
    terms = [
        (term, tuple(field for field in fields if term in counts[field]))
        for term in sorted(scores, key=lambda term: (-scores[term], term))
    ]
    titles = ["", *(heading.text for heading in headings)]
    bounds = [start, *(heading.start for heading in headings), len(data)]
    section_scores = [
        _score_section(title, split_words(data[bounds[n] : bounds[n + 1]]), counter, scores)
        for n, title in enumerate(titles)
    ]
    best = section_scores.index(max(section_scores))  # the first of equals
    return terms, " ".join(titles[best].split())


def _body_start(data: bytes) -> int:
    """Return about where the frontmatter ends, without parsing it."""
    if not data.startswith(b"---"):
        return 0
    end = data.find(b"\n---", 3)
    return data.find(b"\n", end + 1) + 1 if end > 0 else 0


class _TermCounter:
    """Counts the terms of `weights` among words; `words` are all that will be counted."""

    def __init__(self, words: set[bytes], weights: Weights, stemmer: Stemmer) -> None:
        starts = {term[:2].encode() for term in weights}  # a stem starts as its word does
        likely = [word for word in words if word[:2] in starts or not word.isascii()]
        self._terms: dict[bytes, list[str]] = {}
        for word, stems in zip(likely, stemmer.stem(likely), strict=True):
            terms = [term for term in stems.decode().split() if term in weights]
            if terms:
                self._terms[word] = terms

    def count(self, words: Iterable[bytes]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for word in filter(self._terms.__contains__, words):
            for term in self._terms[word]:
                counts[term] = counts.get(term, 0) + 1
        return counts


def _score_terms(
    counts: dict[str, dict[str, int]], lengths: dict[str, int], weights: Weights
) -> dict[str, float]:
    """Return what each term adds to the score of a skill, but for the opening of its body."""
    head_length = sum(boost * lengths[field] for field, boost in FIELDS.items())
    scores = {}
    for term in {term for field in counts.values() for term in field}:
        count = sum(boost * counts[field].get(term, 0) for field, boost in FIELDS.items())
        head = tf_weight(count, head_length, HEAD_LENGTH) + HEAD_BONUS if count else 0.0
        body = tf_weight(counts["body"].get(term, 0), lengths["body"], BODY_LENGTH)
        scores[term] = weights[term][0] * head + weights[term][1] * (body if count else body + BODY_BONUS)
    return scores


def _score_section(title: str, words: list[bytes], counter: _TermCounter, scores: dict[str, float]) -> float:
    counts: dict[str, float] = dict.fromkeys(counter.count(split_words(title)), IN_HEADING)
    for term, count in counter.count(words).items():
        counts[term] = counts.get(term, 0.0) + count
    return sum(scores[term] * tf_weight(count, len(words), SECTION_LENGTH) for term, count in counts.items())
