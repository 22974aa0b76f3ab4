"""Why a skill fits: the terms of a task that it has, the fields they are in, and the section to read first.

They are looked up in the file itself, as it is now, so that what is named can be shown. It costs half a
millisecond for each skill, which is why nobody does it before somebody asks.
"""

from __future__ import annotations

from skillc.index.skills.tokens import words
from skillc.index.skills.weights import BODY_LENGTH, HEAD_LENGTH, HEADING_COUNTS, NAME_COUNTS, weight
from skillc.skills import find_headings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillc.index.skills.tokens import Stemmer

    Weights = dict[str, tuple[float, float]]  # what terms count in head and body
    Why = tuple[list[tuple[str, tuple[str, ...]]], str]  # terms with their fields, and a heading

SECTION_LENGTH = 60  # words of a section, as a rule
IN_HEADING = 2.0  # what a term in a section's heading counts


def explain(skill_id: str, description: str, data: bytes, weights: Weights, stemmer: Stemmer) -> Why:
    """The terms that a skill has, strongest first, with their fields; and the heading of the best section.

    `data` is its SKILL.md, or its body alone. The heading is empty where the best part stands before any.
    """
    start = _body_start(data)
    found = find_headings(data, start)
    fields = {
        "name": _words(f"{skill_id.rpartition('/')[2]} {_own_name(data[:start])}"),
        "description": _words(description),
        "headings": _words(" ".join([heading.text for heading in found])),
        "body": words(data[start:]),
    }
    terms = _Terms(set[bytes]().union(*fields.values()), weights, stemmer)
    counts = {field: terms.counted(part) for field, part in fields.items()}
    adds = _adds(counts, {field: len(part) for field, part in fields.items()}, weights)
    matched = [
        (term, tuple(field for field in fields if term in counts[field]))
        for term in sorted(adds, key=lambda term: (-adds[term], term))
    ]
    bounds = [start, *(heading.start for heading in found), len(data)]
    sections = [
        (title, words(data[bounds[number] : bounds[number + 1]]))
        for number, title in enumerate(["", *(heading.text for heading in found)])
    ]
    best = max(sections, key=lambda one: _score(one[0], one[1], terms, adds))  # the first of equals
    return matched, " ".join(best[0].split())


def _words(text: str) -> list[bytes]:
    return words(text.encode("utf-8", "replace"))


def _body_start(data: bytes) -> int:
    """Where the frontmatter ends, near enough: what YAML it holds does not matter here."""
    if not data.startswith(b"---"):
        return 0
    end = data.find(b"\n---", 3)
    return data.find(b"\n", end + 1) + 1 if end > 0 else 0


def _own_name(frontmatter: bytes) -> str:
    """The name that a skill gives itself, which need not be its ID's; near enough, as above."""
    rest = frontmatter.partition(b"\nname:")[2]
    return rest.partition(b"\n")[0].decode("utf-8", "replace")


class _Terms:
    """The terms that are looked for, by the words of a text that stand for them."""

    def __init__(self, found: set[bytes], wanted: Weights, stemmer: Stemmer) -> None:
        starts = {term[:2].encode() for term in wanted}  # endings go, beginnings stay
        likely = [word for word in found if word[:2] in starts or not word.isascii()]
        self._terms: dict[bytes, list[str]] = {}
        for word, terms in zip(likely, stemmer.each(likely), strict=True):
            known = [term for term in terms.decode().split() if term in wanted]
            if known:
                self._terms[word] = known

    def counted(self, found: Iterable[bytes]) -> dict[str, int]:
        """How often they occur among words."""
        counts: dict[str, int] = {}
        for word in filter(self._terms.__contains__, found):
            for term in self._terms[word]:
                counts[term] = counts.get(term, 0) + 1
        return counts


def _adds(counts: dict[str, dict[str, int]], lengths: dict[str, int], weights: Weights) -> dict[str, float]:
    """What terms add to the score of a skill."""
    head_length = NAME_COUNTS * lengths["name"] + lengths["description"]
    body_length = lengths["body"] + (HEADING_COUNTS - 1) * lengths["headings"]
    adds = {}
    for term in {term for part in counts.values() for term in part}:
        name, description, title, body = (counts[field].get(term, 0) for field in counts)
        head = weight(NAME_COUNTS * name + description, head_length, HEAD_LENGTH)
        rest = weight(body + (HEADING_COUNTS - 1) * title, body_length, BODY_LENGTH)
        adds[term] = weights[term][0] * head + weights[term][1] * rest
    return adds


def _score(title: str, found: list[bytes], terms: _Terms, adds: dict[str, float]) -> float:
    """How well a section fits."""
    counts: dict[str, float] = dict.fromkeys(terms.counted(_words(title)), IN_HEADING)
    for term, times in terms.counted(found).items():
        counts[term] = counts.get(term, 0.0) + times
    return sum(adds[term] * weight(times, len(found), SECTION_LENGTH) for term, times in counts.items())
