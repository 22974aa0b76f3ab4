"""A skill's text as weighed terms: how much each says about it, and where it stands.

A weight is the part of BM25 that belongs to the text alone, as one byte: how often a term occurs,
set against the length of the text. Lengths are measured against constants, not against the library,
so that what was weighed once stays right whatever else comes and goes; how rare a term is counts
when it is looked for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillc.library.catalog.terms import Stemmer

SATURATION, BY_LENGTH = 1.2, 0.75  # BM25's k1 and b
HEAD_LENGTH, BODY_LENGTH = 36, 1050  # words in the mean of 14,000 published skills
NAME_COUNTS = 2  # a word of the name, so many times
HEADING_COUNTS = 2  # a word of a heading, in the body

NAME, DESCRIPTION = 1, 2  # where in the head a term stands
IN_HEADING = 0x80  # in the body: whether it is in a heading, with the number of its best section
LAST_SECTION = 0x7F  # what is further below counts as this one

Weighed = tuple[str, bytes, bytes]  # terms with spaces between, and the weight and place of each


def weigh_head(stemmer: Stemmer, name: list[str], description: list[str]) -> Weighed:
    """The terms of the words of a skill's name and description."""
    counts: dict[str, int] = {}
    places: dict[str, int] = {}
    length = 0
    for words, place, times in ((name, NAME, NAME_COUNTS), (description, DESCRIPTION, 1)):
        terms = stemmer.stemmed(words)
        length += len(terms) * times
        for term in terms:
            counts[term] = counts.get(term, 0) + times
            places[term] = places.get(term, 0) | place
    return _weighed(counts, places, length, HEAD_LENGTH)


def weigh_body(stemmer: Stemmer, sections: Sequence[tuple[list[str], list[str]]]) -> Weighed:
    """The terms of the words of a body's sections, each a heading (none before the first) and its text."""
    from collections import Counter  # only where skills are indexed

    everything: list[str] = []
    in_headings: set[str] = set()
    places: dict[str, int] = {}
    often: list[tuple[int, str, int]] = []
    for number in range(len(sections) - 1, -1, -1):  # backwards, so that the first of equals is kept
        heading = stemmer.stemmed(sections[number][0]) * (HEADING_COUNTS - 1)  # once it is in the text
        terms = stemmer.stemmed(sections[number][1]) + heading
        in_headings.update(heading)
        everything += terms
        here, where = Counter(terms), min(number, LAST_SECTION)
        places.update(dict.fromkeys(here, where))
        often += [(times, term, where) for term, times in here.items() if times > 1]
    best: dict[str, int] = {}
    for times, term, where in often:
        if times >= best.get(term, 2):
            best[term], places[term] = times, where
    for term in in_headings:
        places[term] |= IN_HEADING
    return _weighed(Counter(everything), places, len(everything), BODY_LENGTH)


def _weighed(counts: dict[str, int], places: dict[str, int], length: int, usual: int) -> Weighed:
    against = SATURATION * (1 - BY_LENGTH + BY_LENGTH * length / usual)
    weight = {times: int(255 * times / (times + against)) or 1 for times in set(counts.values())}
    return (
        " ".join(counts),
        bytes(map(weight.__getitem__, counts.values())),
        bytes(map(places.__getitem__, counts)),
    )
