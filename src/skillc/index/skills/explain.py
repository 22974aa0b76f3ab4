"""Results of a search, and why they fit: the task's terms that a skill has, and the section to read first.

Terms and section come from the file as it is now, so that the section can be shown. That costs half a
millisecond for each skill, so results are explained only on use.
"""

from __future__ import annotations

import os
from itertools import islice

from skillc.errors import SkillcError
from skillc.index.skills.tokens import split_words
from skillc.index.skills.weights import (
    BODY_BONUS,
    BODY_LENGTH,
    FIELDS,
    HEAD_BONUS,
    HEAD_LENGTH,
    NAME_BONUS,
    tf_weight,
)
from skillc.paths import SKILL_FILES, has_earlier_file, refer_to_folder
from skillc.quotes import shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from skillc.index.skills.query import Candidate
    from skillc.index.skills.tokens import Stemmer
    from skillc.skills import Heading

    Term = tuple[str, tuple[str, ...]]  # or a word, with the fields that have it
    Explanation = tuple[tuple[Term, ...], str, str]  # words, a section, and its file if not SKILL.md
    Weights = dict[str, tuple[float, float]]  # of terms in head and body

SECTION_LENGTH = 60  # words of a section, as a rule
FIELD_NAMES = (*FIELDS, "body")
IN_HEADING = 2.0  # what a term in a section's heading counts
MAX_PAGES = 3  # files beside SKILL.md whose sections are weighed
MAX_PAGE = 256 << 10  # bytes that are read of one
MAX_NAMES = 500  # names of files that are looked at


class FoundSkill:
    """A skill that fits a task, and why: the task's words it has, and the section to read first.

    `confidence` says how sure it is that the task wants it, from 0 to 1; `score` only orders results.
    `also` says where else its ID is, `copies` where copies and near-copies of it are: repository and ID.
    `directory` is its folder, where it has one; `refer` returns what `skc show` takes for an ID in a folder.
    """

    def __init__(
        self,
        candidate: Candidate,
        confidence: float,
        source_name: str,
        also: list[tuple[str, str]],
        copies: list[tuple[str, str]],
        directory: str,
        explain: Callable[[], Explanation],
    ) -> None:
        self.id = candidate.skill_id
        self.name = candidate.skill_id.rpartition("/")[2]
        self.description: str = candidate.description
        self.tags = tuple(candidate.tags)
        self.score = candidate.score
        self.confidence = confidence
        self.source_name = source_name
        self.also = tuple(also)
        self.copies = tuple(copies)
        self.directory = directory
        self.refer: Callable[[str, str], str] = refer_to_folder
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
    def file(self) -> str | None:
        """Return the file of that section; None where it is SKILL.md."""
        return self._why()[2] or None

    @property
    def read(self) -> str:
        """Return the command that shows its best section, or all of it."""
        if not self.section or not self.directory:
            return f"skc load {self.id}"
        skill = shell_quote(self.refer(self.id, self.directory), '"')
        section = shell_quote(self.section, '"')
        file = self.file or ("SKILL.md" if has_earlier_file(self.directory) else "")
        quote = shell_quote(file, '"')
        command = f"skc show {skill} --section {section}"
        return f"{command} --file {quote}" if file else command

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
            "confidence": self.confidence,
            "source_name": self.source_name,
            "also": [{"source_name": name, "id": skill_id} for name, skill_id in self.also],
            "copies": [{"id": skill_id, "source_name": name} for name, skill_id in self.copies],
            "matched": [{"term": word, "fields": list(fields)} for word, fields in self.matched],
            "section": self.section,
            "file": self.file,
            "read": self.read,
        }


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
    candidate: Candidate, data: bytes, directory: str, weights: Weights, stemmer: Stemmer
) -> Explanation:
    """Return the terms that a skill has, strongest first, with their fields; and the best section's heading.

    `data` is its SKILL.md, or its body alone, and `directory` its folder, if it has one. The heading is empty
    where the best part is before any; the file is empty for SKILL.md.
    """
    from skillc.skills import guess_body  # with the Markdown parser

    start = guess_body(data)
    # The name that a skill gives itself, which need not be its ID's.
    own_name = data[:start].partition(b"\nname:")[2].partition(b"\n")[0].decode("utf-8", "replace")
    counter = _TermCounter(weights, stemmer)
    main = counter.read_sections(data, start)
    fields = {
        "name": counter.count(f"{candidate.skill_id.rpartition('/')[2]} {own_name}"),
        "description": counter.count(candidate.description),
        "tags": counter.count(" ".join(candidate.tags)),
        "headings": counter.count(" ".join(section.title for section in main)),
        "body": _Counts.sum(section.counts for section in main),
    }
    scores = _score_terms(fields, weights)
    terms = tuple(
        (term, tuple(field for field, counts in fields.items() if term in counts))
        for term in sorted(scores, key=lambda term: (-scores[term], term))
    )
    return terms, *_choose_section(main, directory, counter, scores, own=fields["name"])


def _choose_section(
    main: Sequence[_Section], directory: str, counter: _TermCounter, scores: dict[str, float], own: _Counts
) -> tuple[str, str]:
    """Return the heading of the best section and its file, among those of SKILL.md and of other files.

    Terms of the skill's own name are in most of its sections, so they count where there are no others.
    """
    places = [("", "", section) for section in main]
    for file, name in _find_pages(directory, counter, own):
        # A part without a heading can't be asked for.
        places += [(file, name, part) for part in counter.read_sections(_read_page(directory, file))[1:]]
    others = {term: score for term, score in scores.items() if term not in own}
    best = [
        _score_section(counter.count(f"{name} {section.title}"), section.counts, others or scores)
        for _, name, section in places
    ]
    file, _, section = places[best.index(max(best))]  # the first of equals
    return section.shown_title(), file


def _find_pages(directory: str, counter: _TermCounter, own: _Counts) -> list[tuple[str, str]]:
    """Return the Markdown files whose names have terms of the task, as `forms.md` has, with those names.

    Terms of the skill's own name say nothing about one of its files.
    """
    matches: list[tuple[int, str, str]] = []
    for path in islice(_list_pages(directory), MAX_NAMES) if directory else ():
        name = path.rpartition("/")[2][:-3]
        if count := len(counter.count(name.replace("_", " ")).keys() - own.keys()):
            matches.append((-count, path, name))
    return [(path, name) for _, path, name in sorted(matches)[:MAX_PAGES]]


def _list_pages(directory: str) -> Iterator[str]:
    """Yield the Markdown files of a skill beside SKILL.md, and in its folders, as paths below it."""
    folders = _list_names(directory)
    for folder in ["", *(f"{name}/" for name in folders if "." not in name)]:
        names = _list_names(os.path.join(directory, folder))
        yield from (
            path
            for name in names
            if name[-3:].lower() == ".md" and (path := folder + name) not in SKILL_FILES
        )


def _list_names(directory: str) -> list[str]:
    """Return the names in a directory that do not start with a dot, in order; none where it can't be read."""
    try:
        return sorted(name for name in os.listdir(directory) if name[0] != ".")
    except OSError:
        return []


def _read_page(directory: str, file: str) -> bytes:
    """Return the start of a file of a skill; nothing of one that can't be read, or is a link out of it."""
    from skillc.skills import open_inside

    try:
        with open(open_inside(directory, file), "rb") as page:
            return page.read(MAX_PAGE)
    except (OSError, SkillcError):
        return b""


def name_words(terms: Sequence[Term], word_of: Callable[[str], str]) -> tuple[Term, ...]:
    """Return the task's words for terms, each once; of a text without spaces, the parts that have matched.

    >>> pairs = [("报表", ("body",)), ("日志", ("body",)), ("务报", ("name",)), ("form", ("name",))]
    >>> words = name_words(pairs, lambda term: "forms" if term == "form" else "财务报表和日志")
    >>> print(*(f"{word} ({', '.join(fields)})" for word, fields in words))
    务报表 (name, body) 日志 (body) forms (name)
    """
    pairs: dict[str, list[str]] = {}
    for term, _ in terms:
        if not term.isascii() and term in word_of(term):
            pairs.setdefault(word_of(term), []).append(term)
    parts = {pair: part for word in pairs for pair, part in _join_pairs(word, pairs[word])}
    words: dict[str, tuple[str, ...]] = {}
    for term, fields in terms:
        text = parts.get(term) or word_of(term)
        words[text] = tuple(field for field in FIELD_NAMES if field in (*words.get(text, ()), *fields))
    return tuple(words.items())


def _join_pairs(word: str, pairs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each of some parts of a word with all that are next to it, by where each is first."""
    runs: list[tuple[int, int, list[str]]] = []
    for start, pair in sorted((word.index(pair), pair) for pair in pairs):
        first, end, members = runs.pop() if runs and start <= runs[-1][1] else (start, start, [])
        runs.append((first, max(end, start + len(pair)), [*members, pair]))
    for start, end, members in runs:
        yield from ((pair, word[start:end]) for pair in members)


class _Counts(dict[str, int]):
    """How often terms occur in a text of so many words."""

    length = 0

    @classmethod
    def sum(cls, parts: Iterable[_Counts]) -> _Counts:
        total = cls()
        for part in parts:
            total.length += part.length
            for term, count in part.items():
                total[term] = total.get(term, 0) + count
        return total


class _Section:
    """A part of a text under one of its headings, or before them (-1), and the terms in it."""

    __slots__ = ("_headings", "_number", "counts", "title")

    def __init__(self, headings: Sequence[Heading], number: int, counts: _Counts) -> None:
        self._headings = headings
        self._number = number
        self.title = headings[number].text if number >= 0 else ""
        self.counts = counts

    def shown_title(self) -> str:
        """Return the title that `skc show` finds it by, which takes a look at all others."""
        from skillc.skills import title_to_show

        return " ".join(title_to_show(self._headings, self._number).split())


class _TermCounter:
    """Counts the terms of `weights` in texts."""

    def __init__(self, weights: Weights, stemmer: Stemmer) -> None:
        self._weights = weights
        self._stemmer = stemmer
        self._starts = {term[:2].encode() for term in weights}  # a stem starts as its word does

    def read_sections(self, data: bytes, start: int = 0) -> list[_Section]:
        """Return the sections of a text from `start` on; the first is what stands before any heading."""
        from skillc.skills import find_headings

        headings = find_headings(data, start)
        bounds = [start, *(heading.start for heading in headings), len(data)]
        return [
            _Section(headings, number, self.count(data[bounds[number + 1] : bounds[number + 2]]))
            for number in range(-1, len(headings))
        ]

    def count(self, text: bytes | str) -> _Counts:
        words, starts = split_words(text), self._starts
        likely = [word for word in words if word[:2] in starts]
        if not text.isascii():
            likely += [word for word in words if not word.isascii() and word[:2] not in starts]
        counts = _Counts()
        counts.length = len(words)
        for stems in self._stemmer.stem(likely) if likely else ():
            for term in stems.decode().split():
                if term in self._weights:
                    counts[term] = counts.get(term, 0) + 1
        return counts


def _score_terms(fields: dict[str, _Counts], weights: Weights) -> dict[str, float]:
    """Return what each term adds to the score of a skill, but for the opening of its body."""
    head_length = sum(boost * fields[field].length for field, boost in FIELDS.items())
    name, body = fields["name"], fields["body"]
    scores = {}
    for term in {term for counts in fields.values() for term in counts}:
        count = sum(boost * fields[field].get(term, 0) for field, boost in FIELDS.items())
        head = tf_weight(count, head_length, HEAD_LENGTH) + HEAD_BONUS if count else 0.0
        if term in name:
            head += NAME_BONUS / name.length
        rest = tf_weight(body.get(term, 0), body.length, BODY_LENGTH)
        scores[term] = weights[term][0] * head + weights[term][1] * (rest if count else rest + BODY_BONUS)
    return scores


def _score_section(title: _Counts, counts: _Counts, scores: dict[str, float]) -> float:
    """Return how well a section fits; its heading is a part of its text, and counts once more."""
    total = 0.0
    for term, count in counts.items():
        times = count + (IN_HEADING if term in title else 0)
        total += scores.get(term, 0.0) * tf_weight(times, counts.length, SECTION_LENGTH)
    return total
