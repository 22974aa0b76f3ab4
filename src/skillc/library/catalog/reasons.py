"""Why a skill fits: the fields that each term is in, and the section to read first.

Sections are looked up in the file itself, as it is now, so that what is named can be shown. It costs half a
millisecond for each skill, which is why nobody does it before somebody asks.
"""

from __future__ import annotations

from skillc.library.catalog.terms import words
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
    terms = _known_words(data[body:], adds, stemmer)
    found = headings(data, body)
    bounds = [body, *(heading.start for heading in found), len(data)]
    best, best_score = "", 0.0
    in_headings: set[str] = set()
    for number, title in enumerate(["", *(heading.text for heading in found)]):
        named = {term for word in words(title.encode("utf-8", "replace")) for term in terms.get(word, ())}
        in_headings |= named
        score = _score(words(data[bounds[number] : bounds[number + 1]]), terms, named, adds)
        if score > best_score:
            best, best_score = title, score
    return " ".join(best.split()), in_headings


def _known_words(body: bytes, adds: dict[str, float], stemmer: Stemmer) -> dict[bytes, list[str]]:
    """The words of a text that stand for terms that were looked for; endings go, beginnings stay."""
    starts = {term[:2].encode() for term in adds}
    likely = [word for word in set(words(body)) if word[:2] in starts or not word.isascii()]
    stemmer.stemmed(likely)  # all at once; one by one they are only looked up
    stems = {word: [term.decode() for term in stemmer.stemmed((word,))] for word in likely}
    return {word: terms for word, terms in stems.items() if not adds.keys().isdisjoint(terms)}


def _score(
    found: list[bytes], terms: dict[bytes, list[str]], named: set[str], adds: dict[str, float]
) -> float:
    """How well a section fits, by BM25 with what each term adds to the skill's score."""
    against = SATURATION * (1 - BY_LENGTH + BY_LENGTH * len(found) / SECTION_LENGTH)
    counts: dict[str, float] = {term: IN_HEADING for term in named if term in adds}
    for word in found:
        for term in terms.get(word, ()):
            if term in adds:
                counts[term] = counts.get(term, 0.0) + 1
    return sum(adds[term] * times / (times + against) for term, times in counts.items())


def fields(place: int, in_body: bool, in_heading: bool) -> tuple[str, ...]:
    """The names of the fields that a term is in."""
    named = (
        ("name", place & NAME),
        ("description", place & DESCRIPTION),
        ("headings", in_heading),
        ("body", in_body or in_heading),
    )
    return tuple(name for name, there in named if there)
