"""A skill's text as weighed terms: how much each says about it.

A weight is the part of BM25 that belongs to the text alone, as one byte: how often a term occurs,
set against the length of the text. Lengths are measured against constants, not against the library,
so that what was weighed once stays right whatever else comes and goes; how rare a term is counts
when it is looked for.
"""

from __future__ import annotations

from skillc.index.skills.tokens import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillc.index.skills.tokens import Stemmer

SATURATION, BY_LENGTH = 1.2, 0.75  # BM25's k1 and b
HEAD_LENGTH, BODY_LENGTH = 36, 1050  # words in the mean of 14,000 published skills
NAME_COUNTS = 2  # a word of the name, so many times
HEADING_COUNTS = 2  # a word of a heading, in the body


class Source:
    """What is searched of a skill, as it was written. `digest` is that of its file."""

    __slots__ = ("body", "description", "digest", "name")

    def __init__(self, name: str, description: str, body: bytes, digest: int = 0) -> None:
        self.name = name
        self.description = description
        self.body = body
        self.digest = digest

    def head_words(self) -> list[bytes]:
        """The words of name and description, as often as they count."""
        name, description = (text.encode("utf-8", "replace") for text in (self.name, self.description))
        return words(name) * NAME_COUNTS + words(description)

    def body_words(self) -> list[bytes]:
        """The words of the body, as often as they count.

        Lines that start with a hash are headings, or comments in code, which matters little here.
        """
        headings = [part[: part.find(b"\n")] for part in (b"\n" + self.body).split(b"\n#")[1:]]
        return words(b"\n".join([self.body, *headings * (HEADING_COUNTS - 1)]))


class Text:
    """The terms of a skill with the weight of each; in the body, those that the head has stand first."""

    __slots__ = ("bodies", "body", "head", "heads", "shared")

    def __init__(self, head: dict[bytes, int], body: dict[bytes, int]) -> None:
        both = {term: body.pop(term) for term in head if term in body}
        self.shared = len(both)  # terms that head and body have
        self.heads, self.head = tuple(head), _weights(head, HEAD_LENGTH)
        both.update(body)
        self.bodies, self.body = tuple(both), _weights(both, BODY_LENGTH)


def weigh(stemmer: Stemmer, sources: Sequence[Source]) -> list[Text]:
    """The terms of some skills."""
    heads = stemmer.counted([source.head_words() for source in sources])
    bodies = stemmer.counted([source.body_words() for source in sources])
    return list(map(Text, heads, bodies))


def weight(times: float, length: int, usual: int) -> float:
    """What a term says that occurs so many times in a text of so many words: from 0 to 1."""
    return times / (times + SATURATION * (1 - BY_LENGTH + BY_LENGTH * length / usual))


def _weights(counts: dict[bytes, int], usual: int) -> bytes:
    length = sum(counts.values())
    table = {times: int(255 * weight(times, length, usual)) or 1 for times in set(counts.values())}
    return bytes(map(table.__getitem__, counts.values()))
