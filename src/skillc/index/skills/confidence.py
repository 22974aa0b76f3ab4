"""How sure it is that a skill is what a task wants, from 0 to 1.

A score says which of two skills fits a task better, not whether one fits at all: it grows with the length
of the task. This is a logistic model of a few numbers that the search has at hand: how long the task is,
how many of its words are in the skill's head, and how much of it the skill lacks. A word weighs as much as
it is rare among the skills, relative to one that a single skill has; everyday words only add to the score.

WEIGHTS come from `scripts/eval-route --fit`; docs/ranking.md says how good they are.
"""

from __future__ import annotations

from itertools import islice
from math import exp, fsum, log1p

from skillc.index.skills.everyday import is_everyday
from skillc.index.skills.tokens import split_words
from skillc.index.skills.weights import idf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from skillc.index.skills.query import Candidate
    from skillc.index.skills.tokens import Stemmer

OFFER_CONFIDENCE = 0.4  # from which on a skill is worth offering to an agent that did not ask for one

WEIGHTS = {
    "constant": -0.979,
    "keywords": -2.073,  # ln(1 + terms of the task without stop words)
    "length": 0.110,  # the same squared
    "matched": 1.107,  # ln(1 + terms in the skill's head that are not everyday ones)
    "unmatched": -1.440,  # 1 if there are none
    "missed": -0.928,  # ln(1 + weight of the task's terms that the skill has nowhere, without everyday ones)
    "score": 3.144,  # ln(1 + the score, relative to the idf of a term that no skill has)
    "named": 1.260,  # share of the words of the skill's name that the task has
}


class Judge:
    """Judges how sure it is that skills are what a task wants.

    `terms` are the task's without stop words, `counts` says how many heads and bodies of `total` skills have
    each. `searched` are those that were searched for, `guesses` those in place of words that no skill has.
    """

    def __init__(
        self,
        terms: Collection[str],
        counts: Mapping[str, tuple[int, int]],
        total: int,
        searched: Collection[str],
        guesses: Collection[str],
        stemmer: Stemmer,
    ) -> None:
        self._stemmer = stemmer
        self._unknown = idf(0, total)
        self._terms = terms
        self.searched = [term for term in terms if term in searched]
        rarest = idf(1, total)
        self._special = {
            term: idf(max(1, *counts.get(term, (0, 0))), total) / rarest
            for term in terms
            if term not in guesses and not is_everyday(term)
        }
        self._sum = fsum(self._special.values())
        keywords = log1p(len(terms))
        self._task = {"constant": 1.0, "keywords": keywords, "length": keywords * keywords}

    def confidences(
        self, candidates: Sequence[Candidate], heads: Iterable[Mapping[str, float]]
    ) -> list[float]:
        """Return how sure it is of each candidate that it is what the task wants.

        `heads` has for each the `searched` terms that it has, with their weights in its head, from 0 to 1.
        """
        names = [split_words(candidate.skill_id.rpartition("/")[2]) for candidate in candidates]
        stems = iter(self._stemmer.stem([word for name in names for word in name]))  # all at once
        terms = [b" ".join(islice(stems, len(name))).decode().split() for name in names]
        return [
            round(1 / (1 + exp(-sum(WEIGHTS[name] * value for name, value in features.items()))), 3)
            for features in map(self.features, candidates, heads, terms)
        ]

    def features(
        self, candidate: Candidate, head: Mapping[str, float], name: Sequence[str]
    ) -> dict[str, float]:
        """Return the numbers that the confidence is made of; `name` has the terms of the candidate's name."""
        special = [term for term in head if term in self._special]
        matched = sum(1 for term in special if head[term])
        missed = self._sum - fsum(map(self._special.__getitem__, special))
        return {
            **self._task,
            "matched": log1p(matched),
            "unmatched": 0.0 if matched else 1.0,
            "missed": log1p(max(0.0, missed)),
            "score": log1p(candidate.score / self._unknown),
            "named": self._share_of_name(name),
        }

    def _share_of_name(self, terms: Sequence[str]) -> float:
        """Return the share of a name's terms that the task has, without everyday ones if there are others."""
        special = [term for term in terms if not is_everyday(term)] or terms
        return sum(1 for term in special if term in self._terms) / max(1, len(special))
