"""Why a skill fits: the fields that each term is in, and the section to read first.

Sections are looked up in the file itself, as it is now, so that what is named can be shown. It costs half a
millisecond for each skill, which is why nobody does it before somebody asks.
"""

from __future__ import annotations

from skillc.library.catalog.weighing import BY_LENGTH, DESCRIPTION, NAME, SATURATION
from skillc.skills.markdown import headings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.catalog.terms import Stemmer

SECTION_LENGTH = 60  # words of a section, as a rule
IN_HEADING = 2.0  # what a term in a section's heading counts


def body_start(data: bytes) -> int:
    """Where the frontmatter ends, near enough: what YAML it holds does not matter here."""
    if not data.startswith(b"---"):
        return 0
    end = data.find(b"\n---", 3)
    return data.find(b"\n", end + 1) + 1 if end > 0 else 0


def best_section(data: bytes, adds: dict[str, float], stemmer: Stemmer) -> tuple[str, set[str]]:
    """The heading of the section that has most of what was looked for, and the terms that headings have.

    The heading is empty where the best part of the text stands before any.
    """
    body = body_start(data)
    found = headings(data, body)
    bounds = [body, *(heading.start for heading in found), len(data)]
    titles = ["", *(heading.text for heading in found)]
    best, best_score = "", 0.0
    in_headings: set[str] = set()
    for number, title in enumerate(titles):
        terms = stemmer.terms(data[bounds[number] : bounds[number + 1]].decode("utf-8", "replace"))
        named = adds.keys() & set(stemmer.terms(title))
        in_headings |= named
        score = _score(terms, named, adds)
        if score > best_score:
            best, best_score = title, score
    return " ".join(best.split()), in_headings


def _score(terms: list[str], named: set[str], adds: dict[str, float]) -> float:
    """How well a section fits, by BM25 with what each term adds to the skill's score."""
    against = SATURATION * (1 - BY_LENGTH + BY_LENGTH * len(terms) / SECTION_LENGTH)
    score = 0.0
    for term in adds.keys() & set(terms):
        times = terms.count(term) + (IN_HEADING if term in named else 0.0)
        score += adds[term] * times / (times + against)
    return score


def fields(place: int, in_body: bool, in_heading: bool) -> tuple[str, ...]:
    """The names of the fields that a term is in."""
    named = (
        ("name", place & NAME),
        ("description", place & DESCRIPTION),
        ("headings", in_heading),
        ("body", in_body or in_heading),
    )
    return tuple(name for name, there in named if there)
