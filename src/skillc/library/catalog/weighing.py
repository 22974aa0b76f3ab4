"""A skill's text as weighed terms: how much each says about it.

A weight is the part of BM25 that belongs to the text alone, as one byte: how often a term occurs,
set against the length of the text. Lengths are measured against constants, not against the library,
so that what was weighed once stays right whatever else comes and goes; how rare a term is counts
when it is looked for.
"""

from __future__ import annotations

from skillc.library.catalog.terms import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from skillc.library.catalog.terms import Stemmer

SATURATION, BY_LENGTH = 1.2, 0.75  # BM25's k1 and b
HEAD_LENGTH, BODY_LENGTH = 36, 1050  # words in the mean of 14,000 published skills
NAME_COUNTS = 2  # a word of the name, so many times
HEADING_COUNTS = 2  # a word of a heading, in the body

NAME, DESCRIPTION = 1, 2  # where in the head a term stands

Weighed = tuple[str, bytes, bytes]  # terms with spaces between, the weight of each and, in the head, place


def weigh(stemmer: Stemmer, name: str, description: str, body: bytes) -> tuple[Weighed, Weighed]:
    """The terms of head and body."""
    return _head(stemmer.terms(name), stemmer.terms(description)), _body(stemmer, body)


def _head(name: list[str], description: list[str]) -> Weighed:
    counts: dict[str, int] = {}
    places: dict[str, int] = {}
    length = 0
    for terms, place, times in ((name, NAME, NAME_COUNTS), (description, DESCRIPTION, 1)):
        length += len(terms) * times
        for term in terms:
            counts[term] = counts.get(term, 0) + times
            places[term] = places.get(term, 0) | place
    weights = _weights(counts.values(), length, HEAD_LENGTH)
    return " ".join(counts), weights, bytes([places[term] for term in counts])


def _body(stemmer: Stemmer, body: bytes) -> Weighed:
    from collections import _count_elements as count  # type: ignore[attr-defined]  # what Counter is made of

    # Lines that start with a hash are headings, or comments in code, which matters little here.
    headings = [part[: part.find(b"\n")] for part in (b"\n" + body).split(b"\n#")[1:]]
    found: dict[bytes, int] = {}
    count(found, words(b"\n".join([body, *headings * (HEADING_COUNTS - 1)])))
    counts = stemmer.counted(found)
    weights = _weights(counts.values(), sum(counts.values()), BODY_LENGTH)
    return b" ".join(counts).decode(), weights, bytes(len(counts))


def _weights(counts: Collection[int], length: int, usual: int) -> bytes:
    against = SATURATION * (1 - BY_LENGTH + BY_LENGTH * length / usual)
    weight = {times: int(255 * times / (times + against)) or 1 for times in set(counts)}
    return bytes(map(weight.__getitem__, counts))
