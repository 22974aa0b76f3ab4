"""Term weights: how much a term says about a skill (BM25's tf), and how rare it is among skills (idf).

A weight is the part of BM25 that belongs to one text, as one byte: how often a term occurs, set against
the length of the text. Lengths are measured against constants, not against the index, so that a weight
stays right whatever is added or removed; idf is computed when a task is searched for.
"""

from __future__ import annotations

from math import log

from skillc.index.skills.tokens import split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillc.index.skills.tokens import Stemmer

K1, B = 1.2, 0.75  # BM25's constants: saturation of repeated terms, influence of length
HEAD_LENGTH, BODY_LENGTH = 36, 1050  # words in the mean of 14,000 published skills
NAME_BOOST = 2  # how often a word of the name counts
HEADING_BOOST = 2  # a word of a heading, in the body


def idf(skills: float, total: float) -> float:
    """Return BM25's inverse document frequency of a term that `skills` of `total` have."""
    return log(1 + (total - skills + 0.5) / (skills + 0.5))


def tf_weight(count: float, length: int, mean_length: int) -> float:
    """Return the weight, from 0 to 1, of a term that occurs `count` times in a text of `length` words."""
    return count / (count + K1 * (1 - B + B * length / mean_length))


class SkillText:
    """The text of a skill that is searched. `digest` is that of its file."""

    __slots__ = ("body", "description", "digest", "name")

    def __init__(self, name: str, description: str, body: bytes, digest: int = 0) -> None:
        self.name = name
        self.description = description
        self.body = body
        self.digest = digest

    def head_words(self) -> list[bytes]:
        """Return the words of name and description, boosted ones repeated."""
        return split_words(self.name) * NAME_BOOST + split_words(self.description)

    def body_words(self) -> list[bytes]:
        """Return the words of the body, those of headings repeated.

        Any line that starts with a hash counts as a heading: comments in code matter little here.
        """
        headings = [part[: part.find(b"\n")] for part in (b"\n" + self.body).split(b"\n#")[1:]]
        return split_words(b"\n".join([self.body, *headings * (HEADING_BOOST - 1)]))


class TermWeights:
    """The weights of a skill's terms; `shared_count` terms of the head stand first in the body."""

    __slots__ = ("body_terms", "body_weights", "head_terms", "head_weights", "shared_count")

    def __init__(self, head: dict[bytes, int], body: dict[bytes, int]) -> None:
        counts = {term: body.pop(term) for term in head if term in body}
        self.shared_count = len(counts)
        counts.update(body)
        self.head_terms, self.head_weights = tuple(head), _weigh(head, HEAD_LENGTH)
        self.body_terms, self.body_weights = tuple(counts), _weigh(counts, BODY_LENGTH)


def weigh_terms(stemmer: Stemmer, texts: Sequence[SkillText]) -> list[TermWeights]:
    heads = stemmer.count_terms([text.head_words() for text in texts])
    bodies = stemmer.count_terms([text.body_words() for text in texts])
    return list(map(TermWeights, heads, bodies))


def _weigh(counts: dict[bytes, int], mean_length: int) -> bytes:
    length = sum(counts.values())
    table = {count: int(255 * tf_weight(count, length, mean_length)) or 1 for count in set(counts.values())}
    return bytes(map(table.__getitem__, counts.values()))
