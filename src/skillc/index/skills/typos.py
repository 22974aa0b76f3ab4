"""Replace words that no skill has by the nearest of the index's own terms.

A term is near if it starts with the same letter and a few edits (letters that are missing, extra, wrong or
swapped) lead to it, one for a word of five letters, two from nine. A word whose ending is misspelt keeps it
where the right one is stemmed, so endings are compared alone.
"""

from __future__ import annotations

from skillc.index.skills.postings import MIN_TERM
from skillc.text import count_edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MIN_WORD, LONG_WORD = 5, 9  # letters from which on a word may have one wrong, and two
_ENDINGS = "s es ed er ers ing ion ions ation ations ment ments able ance ence ive al ly ity ness y ies"
ENDINGS = _ENDINGS.split()
MAX_ENDING = 7  # letters, one more than those have
MANY = 1000  # skills; where there are more, a term that only one has may be a typo itself


def allowed_edits(word: str) -> int:
    """Return how many letters of a word may be wrong."""
    return 0 if len(word) < MIN_WORD else 1 if len(word) < LONG_WORD else 2


def measure_terms(terms: Iterable[str], word: str, stem: str) -> dict[str, int]:
    """Return those of some terms that are near a word, with their distance."""
    limit = allowed_edits(word)
    if not limit:
        return {}
    shortest = max(min(len(stem) - limit, len(word) - MAX_ENDING), MIN_WORD - limit, MIN_TERM)
    letters = set(stem)
    near: dict[str, int] = {}
    for term in terms:
        if not shortest <= len(term) <= len(stem) + limit:
            continue
        distance = limit + 1
        if word.startswith(term) and len(term) >= MIN_WORD:
            distance = min(count_edits(word[len(term) :], ending, limit) for ending in ENDINGS)
        elif len(letters.symmetric_difference(term)) <= 2 * limit:  # which takes less time to see
            distance = _count_edits_of_stem(stem, term, limit)
        if distance <= limit:
            near[term] = distance
    return near


def _count_edits_of_stem(stem: str, term: str, limit: int) -> int:
    edits = count_edits(stem, term, limit)
    if edits > limit and term.endswith("i"):  # a final y becomes an i
        edits = count_edits(stem, f"{term[:-1]}y", limit)
    return edits


def choose_term(
    distances: Mapping[str, int], counts: Mapping[str, tuple[int, int]], total: int
) -> str | None:
    """Return the nearest of some terms; of equals the one that most skills have, then the first.

    `counts` says how many heads and bodies of `total` skills have each.
    """
    least = 2 if total > MANY else 1
    terms = [term for term in distances if sum(counts[term]) >= least]
    return min(terms, key=lambda term: (distances[term], -sum(counts[term]), term), default=None)
