"""Term weights: how much a term says about a skill (BM25's tf), and how rare it is among skills (idf).

A skill has two fields. The head is its name, description and tags, and in small part its outline: the
headings and the opening of the body. The body is all of the text below the frontmatter.

A weight is the part of BM25+ that belongs to one field, as one byte: how often a term occurs, set against
the length of the field, and a bonus for occurring at all, once for each skill, and another for its share of
the name. Lengths are measured against
constants, not against the index, so that a weight stays right whatever is added or removed; idf is computed
when a task is searched for.
"""

from __future__ import annotations

from itertools import repeat
from math import fsum, inf, log

from skillc.index.skills.near_duplicates import make_sketch
from skillc.index.skills.tokens import split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    from skillc.index.skills.tokens import Stemmer

K1, B = 1.2, 0.75  # BM25's constants: saturation of repeated terms, influence of length
HEAD_LENGTH, BODY_LENGTH = 36, 1050  # words in the mean of 14,000 published skills
NAME_BOOST = 2  # how often a word of the name counts in the head
OUTLINE = 0.15  # what a word of the outline counts there
HEADING_BOOST = 2  # how often a word of a heading counts in the outline
FIELDS = {"name": NAME_BOOST, "description": 1, "tags": 1, "headings": HEADING_BOOST * OUTLINE}  # of the head
OPENING = 300  # bytes of the body, without headings, that are in the outline
MAX_BODY_TERMS = 128  # the strongest terms of a body beside those of the head
HEAD_BONUS, BODY_BONUS = 0.3, 0.6  # for a term of the head, and for one that is in the body alone
NAME_BONUS = 0.45  # for all terms of the name together
BYTE = 255 / (1 + HEAD_BONUS + NAME_BONUS)  # from weights to what is stored

_WORD = bytes(byte for byte in range(128) if chr(byte).isalnum())


def idf(skills: float, total: float) -> float:
    """Return BM25's inverse document frequency of a term that `skills` of `total` have."""
    return log(1 + (total - skills + 0.5) / (skills + 0.5))


def tf_weight(count: float, length: float, mean_length: int) -> float:
    """Return the weight, from 0 to 1, of a term that occurs `count` times in a field of `length` words."""
    return count / (count + K1 * (1 - B + B * length / mean_length))


class SkillText:
    """The text of a skill that is searched."""

    __slots__ = ("body", "description", "name", "tags")

    def __init__(self, name: str, description: str, body: bytes, tags: Sequence[str]) -> None:
        self.name = name
        self.description = description
        self.body = body
        self.tags = tags

    def head_words(self) -> list[bytes]:
        """Return the words of name, description and tags, boosted ones repeated."""
        return split_words(self.name) * NAME_BOOST + split_words(" ".join([self.description, *self.tags]))

    def outline_words(self) -> list[bytes]:
        """Return the words of the headings, repeated, and of the first text of the body.

        Any line that starts with a hash counts as a heading: comments in code matter little here.
        """
        first, *sections = (b"\n" + self.body).split(b"\n#")
        parts = [section.partition(b"\n") for section in sections]
        opening = b"\n".join([first, *(text for _, _, text in parts)])
        if len(opening) > OPENING:
            opening = opening[:OPENING].rstrip(_WORD)  # which may be a part of a word
        headings = b"\n".join([heading for heading, _, _ in parts])
        return split_words(headings) * HEADING_BOOST + split_words(opening)


class TermWeights:
    """The weights of terms, by number; those of the body without bonus.

    Of a body, the index keeps the terms of the name, description and tags, and the strongest of the others.
    `other_terms` are the common ones that it does not keep: it counts them, or they would seem rare.
    """

    __slots__ = ("body_terms", "body_weights", "head_terms", "head_weights", "other_terms", "sketch")

    def __init__(
        self,
        stemmer: Stemmer,
        name: dict[int, int],
        head: dict[int, int],
        outline: dict[int, int],
        body: dict[int, int],
    ) -> None:
        self.sketch = make_sketch(map(stemmer.hashes.__getitem__, (*head, *body)))
        sums: dict[int, float] = {**head}
        for term, count in outline.items():
            sums[term] = sums.get(term, 0) + OUTLINE * count
        shares = [NAME_BONUS / len(name) if term in name else 0 for term in sums]
        self.head_terms = (*sums,)
        self.head_weights = _weigh(sums.values(), HEAD_LENGTH, [HEAD_BONUS + share for share in shares])
        weights = dict(zip(body, _weigh(body.values(), BODY_LENGTH, repeat(0)), strict=True))
        terms = [*body]
        limit = MAX_BODY_TERMS + len(body.keys() & head)
        if len(terms) > limit:
            terms = _rank_terms(stemmer.vocabulary, weights, head)
        self.body_terms, self.other_terms = terms[:limit], _find_common(stemmer.vocabulary, terms[limit:])
        self.body_weights = bytes(map(weights.__getitem__, self.body_terms))


def _rank_terms(vocabulary: Sequence[bytes], weights: Mapping[int, int], first: Container[int]) -> list[int]:
    """Return the terms of a body by their strength, after the `first` ones, equals by their letters."""
    from skillc.index.skills.rarity import RARE, RARITIES  # a table that searches do without

    def strength(number: int) -> float:
        return inf if number in first else weights[number] * RARITIES.get(vocabulary[number], RARE)

    return sorted(sorted(weights, key=vocabulary.__getitem__), key=strength, reverse=True)  # stable


def _find_common(vocabulary: Sequence[bytes], terms: Sequence[int]) -> list[int]:
    """Return those of some terms that are common in public skills."""
    if not terms:
        return []
    from skillc.index.skills.rarity import RARITIES  # as above

    return [number for number in terms if vocabulary[number] in RARITIES]


def weigh_terms(stemmer: Stemmer, texts: Sequence[SkillText]) -> list[TermWeights]:
    names = [split_words(text.name) for text in texts]
    words = SkillText.head_words, SkillText.outline_words, lambda text: split_words(text.body)
    counts = [stemmer.count_terms(lists) for lists in (names, *(map(field, texts) for field in words))]
    return list(map(TermWeights, repeat(stemmer), *counts))


def _weigh(counts: Collection[float], mean_length: int, bonuses: Iterable[float]) -> bytes:
    length = fsum(counts)  # the same in any order
    table = {n: tf_weight(n, length, mean_length) for n in set(counts)}
    return bytes([int(BYTE * (table[n] + bonus)) or 1 for n, bonus in zip(counts, bonuses, strict=False)])
