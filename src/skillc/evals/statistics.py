"""Count what runs showed, and what the counts allow to say.

The unit is the case, not the run: runs of one case are alike, so more of them say little more about other
cases. Rates of cases have Wilson's interval. Rates of runs, and the lift of one arm over another, have one by
bootstrap over cases: the expanded percentile interval, since the plain one is too narrow for few cases.

Where all cases have one value, a bootstrap has no width, and would say of six cases what it says of six
thousand. There a rate has Wilson's interval, and a lift the one that Newcombe makes of those of its two arms.
A lift counts as an effect only if its interval and an exact test agree.

References: Wilson (1927); Newcombe (1998), Statistics in Medicine 17, 857 (method 3) and 873 (method 10);
Hesterberg (2015), The American Statistician 69, 371; Chen et al. (2021) for pass@k; Yao et al. (2024) for
pass^k.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from math import ceil, comb, hypot, sqrt
from statistics import NormalDist, fmean, stdev
from typing import TypeVar

from skillc.contract import hidden

CONFIDENCE = 0.95
POWER = 0.8
RELEVANT = 0.2  # the smallest lift that a verdict looks for
MIN_CASES = 6  # that differ: with fewer, even the same sign in all of them may be chance
MIN_DEVIATION = 0.4  # of a lift between cases, in a plan: a fifth of all cases changes, all in one direction
RESAMPLES = 10_000
EXACT = 14  # cases up to which all signs are tried, and not a sample of them
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
_Z_POWER = NormalDist().inv_cdf(POWER)

Case = TypeVar("Case")
Counts = tuple[int, int]  # successes, and of how many
Interval = tuple[float, float] | None
Ends = tuple[float, float, float]  # a value, and the lower and the upper end of its interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval, of as many cases; None where nothing was measured."""

    value: float | None
    low: float | None
    high: float | None
    cases: int

    @property
    def interval(self) -> Interval:
        return None if self.low is None or self.high is None else (self.low, self.high)


NOTHING = Estimate(None, None, None, 0)


def is_majority(successes: int, total: int) -> bool:
    """Return whether a case counts as a success: in more than half of its runs."""
    return 2 * successes > total


def wilson(successes: float, total: int) -> Estimate:
    """Return a rate with Wilson's score interval; a case may count as a part of a success.

    >>> wilson(81, 263)  # Newcombe (1998), table I
    Estimate(value=0.308, low=0.2553, high=0.3662, cases=263)
    """
    if not total:
        return NOTHING
    rate = successes / total
    return Estimate(*_round(rate, *_wilson_ends(rate, total)), total)


def _wilson_ends(rate: float, total: int) -> tuple[float, float]:
    square = _Z * _Z
    centre = (rate + square / (2 * total)) / (1 + square / total)
    half = _Z * sqrt(rate * (1 - rate) / total + square / (4 * total * total)) / (1 + square / total)
    # At the ends the formula is exact, but for the last digit of a float.
    return 0.0 if rate == 0 else centre - half, 1.0 if rate == 1 else centre + half


def rate_of_runs(cases: Sequence[Counts]) -> Estimate:
    """Return the share of runs that succeeded, with an interval by bootstrap over their cases."""
    measured = [case for case in cases if case[1]]
    if not measured:
        return NOTHING

    def rate(sample: Sequence[Counts]) -> float:
        return sum(successes for successes, _ in sample) / sum(total for _, total in sample)

    if len({_share(case) for case in measured}) == 1:
        return wilson(_share(measured[0]) * len(measured), len(measured))
    return Estimate(*_bootstrap(measured, rate, 0.0, 1.0), len(measured))


def _share(counts: Counts) -> float:
    return counts[0] / counts[1]


def trigger_rates(cases: Sequence[tuple[bool, bool]]) -> tuple[Estimate, Estimate, Estimate]:
    """Return recall, precision and accuracy over cases: whether the skill should have fired, and did.

    Recall is of the cases in which it should have, precision of those in which it did.
    """
    hits = sum(should and did for should, did in cases)
    return (
        wilson(hits, sum(should for should, _ in cases)),
        wilson(hits, sum(did for _, did in cases)),
        wilson(sum(should == did for should, did in cases), len(cases)),
    )


class Effect(StrEnum):
    """The effect that the counts of two arms allow to claim."""

    HELPS = "helps"
    HURTS = "hurts"
    NONE = "no clear effect"
    FEW = "too few"


@dataclass(frozen=True, slots=True)
class Lift:
    """The mean difference between two arms over the same cases, and what it allows to say."""

    value: float | None
    interval: Interval
    p: float | None  # of the exact test that signs of differences are chance
    cases: int
    needed: int | None  # cases that would show a lift of this size, or of RELEVANT if it is smaller
    effect: Effect = hidden(Effect.FEW)


def paired_lift(pairs: Sequence[tuple[Counts, Counts]]) -> Lift:
    """Compare two arms over the cases that both have measured; a case's value is its share of successes."""
    shares = [(_share(first), _share(second)) for first, second in pairs if first[1] and second[1]]
    differences = tuple(one - other for one, other in shares)
    count = len(differences)
    if count < 2:
        value = differences[0] if differences else None
        return Lift(value, None, None, count, cases_needed(0.0, MIN_DEVIATION))
    if len(set(differences)) == 1:
        first, second = (sum(arm) for arm in zip(*shares, strict=True))
        value, low, high = difference((first, count), (second, count))
    else:
        value, low, high = _bootstrap(differences, fmean, -1.0, 1.0)
    p = sign_flip_test(differences)
    if p <= 1 - CONFIDENCE and (low > 0 or high < 0):
        return Lift(value, (low, high), p, count, None, Effect.HELPS if value > 0 else Effect.HURTS)
    needed = cases_needed(value, max(stdev(differences), MIN_DEVIATION))
    is_precise = low > -RELEVANT and high < RELEVANT and count >= cases_needed(0.0, MIN_DEVIATION)
    effect = Effect.NONE if is_precise else Effect.FEW
    return Lift(value, (low, high), p, count, max(needed, count + 1, MIN_CASES), effect)


def difference(first: tuple[float, int], second: tuple[float, int]) -> Ends:
    """Return the difference of two rates, each as successes and of how many, with Newcombe's interval.

    >>> difference((56, 70), (48, 80))  # Newcombe (1998), 873, table II
    (0.2, 0.0524, 0.3339)
    """
    one, other = first[0] / first[1], second[0] / second[1]
    low, high = _wilson_ends(one, first[1])
    other_low, other_high = _wilson_ends(other, second[1])
    value = one - other
    below, above = hypot(one - low, other_high - other), hypot(high - one, other - other_low)
    return _round(value, value - below, value + above)


def cases_needed(lift: float, deviation: float) -> int:
    """Return how many cases show a lift with POWER, by the normal approximation of a paired comparison.

    >>> cases_needed(0.5, 0.5)
    8
    """
    size = max(abs(lift), RELEVANT)
    return ceil(((_Z + _Z_POWER) * deviation / size) ** 2)


def sign_flip_test(differences: Sequence[float]) -> float:
    """Return how likely a mean at least as far from zero is, if each difference had either sign by chance.

    With differences of one size it is the exact sign test.

    >>> sign_flip_test([1.0] * 6)
    0.03125
    """
    values = [each for each in differences if each]
    if not values:
        return 1.0
    observed = abs(sum(values)) - 1e-9
    if len(values) <= EXACT:
        choices = product((1.0, -1.0), repeat=len(values))
        sums = [abs(sum(map(float.__mul__, values, signs))) for signs in choices]
        return sum(each >= observed for each in sums) / len(sums)
    chance = random.Random(0)  # noqa: S311 -- the same numbers in each report of the same runs
    hits = sum(
        abs(sum(each if chance.getrandbits(1) else -each for each in values)) >= observed
        for _ in range(RESAMPLES)
    )
    return (hits + 1) / (RESAMPLES + 1)  # which is never zero: the observed signs are among the possible ones


def pass_at(k: int, cases: Sequence[Counts]) -> float | None:
    """Return the mean chance that at least one of `k` runs of a case succeeds; None with fewer runs."""
    return _mean_over(cases, k, lambda good, total: 1 - comb(total - good, k) / comb(total, k))


def pass_all(k: int, cases: Sequence[Counts]) -> float | None:
    """Return the mean chance that all of `k` runs of a case succeed; None with fewer runs."""
    return _mean_over(cases, k, lambda good, total: comb(good, k) / comb(total, k))


def _mean_over(cases: Sequence[Counts], k: int, chance: Callable[[int, int], float]) -> float | None:
    values = [chance(good, total) for good, total in cases if total >= k]
    return round(fmean(values), 4) if values and len(values) == len(cases) else None


def _bootstrap(
    cases: Sequence[Case], statistic: Callable[[Sequence[Case]], float], low: float, high: float
) -> Ends:
    """Return a statistic with its expanded percentile interval over resampled cases, between two bounds.

    The percentiles lie as far out as Student's interval would: the spread of a resampled mean is too small by
    sqrt((n - 1) / n), and is itself an estimate.
    """
    value, count = statistic(cases), len(cases)
    chance = random.Random(0)  # noqa: S311
    samples = sorted(statistic(chance.choices(cases, k=count)) for _ in range(RESAMPLES))
    tail = NormalDist().cdf(-student(count - 1) * sqrt(count / (count - 1)))
    first, last = samples[int(tail * RESAMPLES)], samples[ceil((1 - tail) * RESAMPLES) - 1]
    return _round(value, max(low, first), min(high, last))


def student(freedom: int) -> float:
    """Return how many standard errors CONFIDENCE takes with an estimated one: Abramowitz and Stegun, 26.7.5.

    It is 24% too small with one degree of freedom, 3% with two: there an interval is the whole range anyway.

    >>> round(student(11), 2)
    2.2
    """
    terms = (
        _Z,
        (_Z**3 + _Z) / 4,
        (5 * _Z**5 + 16 * _Z**3 + 3 * _Z) / 96,
        (3 * _Z**7 + 19 * _Z**5 + 17 * _Z**3 - 15 * _Z) / 384,
    )
    quantile: float = sum(term / freedom**power for power, term in enumerate(terms))
    return quantile


def _round(value: float, low: float, high: float) -> Ends:
    return round(value, 4), round(low, 4), round(high, 4)
