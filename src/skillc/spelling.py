"""Suggest the names that a mistyped one may mean.

>>> suggest("PDF_forms", ["pdf-forms", "docx"])
('pdf-forms',)
"""

from __future__ import annotations

from collections.abc import Iterable

from skillc import errors
from skillc.errors import InvalidOption
from skillc.text import one_line

MAX_SUGGESTIONS = 3
MAX_NAME = 200  # characters; a longer name gets no suggestion and is none
MAX_COMPARED = 2000  # names compared letter by letter; of more, the first with the same initial
MIN_RATIO = 0.65  # similarity from which two names are alike
PART_RATIO = 0.5  # similarity of a name and a part of it
MIN_PART = 3  # letters of such a part


def suggest(
    name: str, names: Iterable[str], limit: int = MAX_SUGGESTIONS, ratio: float = MIN_RATIO
) -> tuple[str, ...]:
    """Return the names that a mistyped `name` may mean, best first, equals by name.

    Names are compared without case, by their last segment; `_` and spaces count as hyphens. `ratio` is
    the similarity from which two names are alike.

    >>> suggest("refund", ["billing/refunds", "billing/invoices"])
    ('billing/refunds',)
    >>> suggest("weather", ["pdf-forms", "docx"])
    ()
    """
    key = _comparable(name)
    if not key or len(name) > MAX_NAME:
        return ()
    others = [(other, _comparable(other)) for other in {*names} if len(other) <= MAX_NAME and other != name]
    same = [other for other, theirs in others if theirs == key]  # in another spelling or collection
    if same:
        return tuple(sorted(same)[:limit])
    if len(others) > MAX_COMPARED:
        others = [(other, theirs) for other, theirs in others if theirs[:1] == key[:1]]
    scores = [(-_similarity(key, theirs, ratio), other) for other, theirs in sorted(others)[:MAX_COMPARED]]
    return tuple(other for score, other in sorted(scores)[:limit] if score)


def did_you_mean(name: str, names: Iterable[str], ratio: float = MIN_RATIO) -> str:
    """Return the question for an error about a mistyped name; empty where no name is like it.

    >>> did_you_mean("tem", ["team", "docs"])
    "did you mean 'team'?"
    """
    return make_question(suggest(name, names, 2, ratio))


def near_miss(name: str, names: Iterable[str]) -> str:
    """Return the same question as the end of a sentence.

    >>> "unknown key 'pth'" + near_miss("pth", ["path", "url"])
    "unknown key 'pth'; did you mean 'path'?"
    """
    question = did_you_mean(name, names)
    return f"; {question}" if question else ""


def make_question(names: Iterable[str]) -> str:
    """Return the question whether one of these names was meant; empty for none."""
    choice = " or ".join([f"'{one_line(each)}'" for each in names])
    return f"did you mean {choice}?" if choice else ""


def unknown_repository(name: str, names: Iterable[str], place: str = "") -> InvalidOption:
    """Return the error for a name that no repository has: the nearest, and all there are."""
    there = list(names)
    question = did_you_mean(name, there)
    listing = f"there {'are' if len(there) > 1 else 'is'} {', '.join(there) or 'none'}"
    if place and not there:
        listing = "it has none"
    advice = f"{question} {listing}" if question else listing
    return errors.InvalidOption(f"there is no repository '{name}'{place}; {advice}")


def _comparable(name: str) -> str:
    last = name.rstrip("/").rpartition("/")[2]
    return last.casefold().replace("_", "-").replace(" ", "-")


def _similarity(one: str, two: str, ratio: float) -> float:
    """Return how alike two names are: from 0, not at all, to 1, equal."""
    from difflib import SequenceMatcher  # most names are spelt right

    matcher = SequenceMatcher(None, one, two, autojunk=False)
    bounds = matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio  # the cheapest first
    if all(bound() >= ratio for bound in bounds):
        return matcher.ratio()
    shorter, longer = sorted((one, two), key=len)
    return PART_RATIO if len(shorter) >= MIN_PART and shorter in longer else 0.0
