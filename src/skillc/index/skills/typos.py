"""Typos: the term of the index that is nearest to a word that no skill has.

The index's own terms are the dictionary. A term is near if it starts with the same letter and a few edits
(letters that are missing, extra, wrong or swapped) lead to it: one for a word of five letters, two from nine.
A word whose ending is misspelt keeps it where the right one is stemmed, so endings are compared alone.
"""

from __future__ import annotations

from skillc.index.skills.postings import MIN_TERM, read_spellings
from skillc.text import count_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

MIN_WORD, LONG_WORD = 5, 9  # letters from which on a word may have one wrong, and two
_ENDINGS = "s es ed er ers ing ion ions ation ations ment ments able ance ence ive al ly ity ness y ies"
ENDINGS = _ENDINGS.split()
MAX_ENDING = 7  # letters, one more than those have
MANY = 1000  # skills; where there are more, a term that only one has may be a typo itself


def nearest_terms(execute: Any, segment: int, size: int, word: str, stem: str) -> dict[str, tuple[int, int]]:
    """Return the terms of a segment near a word, with their distance and how many skills have each."""
    if len(word) < MIN_WORD:
        return {}
    limit = 1 if len(word) < LONG_WORD else 2
    shortest = max(min(len(stem) - limit, len(word) - MAX_ENDING), MIN_WORD - limit, MIN_TERM)
    letters = set(stem)
    near: dict[str, tuple[int, int]] = {}
    terms, counts = read_spellings(execute, segment, stem[0])
    for at, term in enumerate(terms):
        if not shortest <= len(term) <= len(stem) + limit:
            continue
        distance = limit + 1
        if word.startswith(term) and len(term) >= MIN_WORD:
            distance = min(count_edits(word[len(term) :], ending, limit) for ending in ENDINGS)
        elif len(letters.symmetric_difference(term)) <= 2 * limit:  # which takes less time to see
            distance = _count_edits_of_stem(stem, term, limit)
        if distance <= limit and (skills := int(counts[at])) >= (2 if size > MANY else 1):
            near[term] = distance, skills
    return near


def _count_edits_of_stem(stem: str, term: str, limit: int) -> int:
    edits = count_edits(stem, term, limit)
    if edits > limit and term.endswith("i"):  # a final y becomes an i
        edits = count_edits(stem, f"{term[:-1]}y", limit)
    return edits


def choose_term(terms: Iterable[tuple[str, tuple[int, int]]]) -> str | None:
    """Return the nearest of some terms; of equals the one that most skills have, then the first."""
    best: dict[str, tuple[int, int]] = {}
    for term, (distance, skills) in terms:
        best[term] = distance, best.get(term, (0, 0))[1] + skills
    return min(best, key=lambda term: (best[term][0], -best[term][1], term), default=None)
