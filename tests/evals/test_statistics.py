"""Counting: against published tables, and against what a statistician would refuse to say."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, strategies as st

from skillc.evals.statistics import (
    NOTHING,
    Effect,
    cases_needed,
    difference,
    is_majority,
    paired_lift,
    pass_all,
    pass_at,
    rate_of_runs,
    sign_flip_test,
    student,
    trigger_rates,
    wilson,
)
from tests.support.cases import each

YES, NO = (1, 1), (0, 1)


@each(
    "successes, total, low, high",
    [  # Newcombe (1998), Statistics in Medicine 17, table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_as_published(successes: int, total: int, low: float, high: float) -> None:
    """[SURFACES: Evals] a rate has Wilson's interval."""
    assert wilson(successes, total).interval == (low, high)


@given(st.integers(1, 60).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_wilson_is_symmetric(counts: tuple[int, int]) -> None:
    """[SURFACES: Evals] failures have the mirror image; the rate is inside."""
    successes, total = counts
    rate, mirror = wilson(successes, total), wilson(total - successes, total)
    assert rate.interval is not None
    assert mirror.interval is not None
    assert rate.value is not None
    assert rate.interval[0] <= rate.value <= rate.interval[1]
    assert rate.interval == pytest.approx((1 - mirror.interval[1], 1 - mirror.interval[0]), abs=2e-4)


def test_nothing_measured() -> None:
    """[SURFACES: Evals] without a case there is no number."""
    assert wilson(0, 0) == rate_of_runs([]) == rate_of_runs([(0, 0)]) == NOTHING
    assert trigger_rates([]) == (NOTHING, NOTHING, NOTHING)
    assert paired_lift([]).effect is Effect.FEW
    assert pass_at(3, []) is pass_all(3, []) is None
    assert pass_at(3, [(1, 2)]) is None


def test_a_case_counts_by_its_majority() -> None:
    """[SURFACES: Evals] half of the runs are no majority."""
    assert [is_majority(*counts) for counts in ((0, 1), (1, 1), (1, 2), (2, 3), (1, 3))] == [
        False, True, False, True, False,
    ]  # fmt: skip


def test_triggers() -> None:
    """[SURFACES: Evals] precision is of those that fired, recall of those that should have."""
    recall, precision, accuracy = trigger_rates(
        [(True, True)] * 6 + [(True, False)] * 2 + [(False, True)] * 1 + [(False, False)] * 5
    )
    assert (recall.value, recall.cases) == (0.75, 8)
    assert (precision.value, precision.cases) == (round(6 / 7, 4), 7)
    assert (accuracy.value, accuracy.cases) == (round(11 / 14, 4), 14)


def test_runs_of_one_case_are_no_new_cases() -> None:
    """[SURFACES: Evals] more runs of the same few cases do not narrow the interval."""
    few = rate_of_runs([(1, 1), (0, 1), (1, 1), (0, 1)])
    many = rate_of_runs([(100, 100), (0, 100), (100, 100), (0, 100)])
    assert few == many
    assert few.interval is not None
    assert few.interval[1] - few.interval[0] > 0.8


@each(
    "differences, p",
    [  # the two-sided sign test: 2 * sum of C(n, k) / 2^n
        ([1.0] * 5, 0.0625),
        ([1.0] * 6, 0.03125),
        ([1.0] * 7 + [-1.0], 18 / 256),
        ([1.0] * 9 + [-1.0], 22 / 1024),
        ([0.0] * 9, 1.0),
    ],
)
def test_the_exact_test(differences: list[float], p: float) -> None:
    """[SURFACES: Evals] with differences of one size it is the sign test."""
    assert sign_flip_test(differences) == pytest.approx(p)


def test_the_exact_test_of_many() -> None:
    """[SURFACES: Evals] with many cases signs are sampled, with the same numbers each time."""
    differences = [0.5] * 15 + [-0.5] * 5
    assert sign_flip_test(differences) == sign_flip_test(differences)
    assert sign_flip_test(differences) == pytest.approx(0.0414, abs=0.01)  # binomial: 2 * P(X <= 5 of 20)


def test_five_of_five_is_not_enough() -> None:
    """[SURFACES: Evals] without zero in its interval, a lift may still be chance: the exact test decides."""
    five = paired_lift([(YES, NO)] * 5)
    assert (five.value, five.p, five.effect, five.needed) == (1.0, 0.0625, Effect.FEW, 6)
    assert paired_lift([(YES, NO)] * 6).effect is Effect.HELPS
    assert paired_lift([(NO, YES)] * 6).effect is Effect.HURTS


@each(
    "first, second, low, high",
    [  # Newcombe (1998), Statistics in Medicine 17, 873, table II, method 10
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((0, 10), (0, 10), -0.2775, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
        ((10, 10), (0, 10), 0.6075, 1.0),
    ],
)
def test_differences_as_published(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """[SURFACES: Evals] two rates differ by Newcombe's interval."""
    assert difference(first, second)[1:] == (low, high)


@each("freedom, quantile", [(4, 2.776), (5, 2.571), (9, 2.262), (11, 2.201), (29, 2.045), (99, 1.984)])
def test_student_as_published(freedom: int, quantile: float) -> None:
    """[SURFACES: Evals] an interval of few cases is as wide as Student's."""
    assert student(freedom) == pytest.approx(quantile, rel=0.005)


def test_cases_that_are_all_alike() -> None:
    """[SURFACES: Evals] six cases of one value say less than sixty, and their interval has a width."""
    assert paired_lift([(YES, NO)] * 10).interval == (0.6075, 1.0)
    assert paired_lift([(NO, NO)] * 10).interval == (-0.2775, 0.2775)
    assert rate_of_runs([(3, 3)] * 6) == wilson(6, 6)
    assert rate_of_runs([(0, 3)] * 60) == wilson(0, 60)
    assert rate_of_runs([(2, 3)]).interval is not None


@pytest.mark.slow
def test_intervals_hold_what_they_say() -> None:
    """[SURFACES: Evals] of many samples of a dozen cases, some 95% of the intervals hold the true lift."""
    chance = random.Random(1)

    def run(rate: float) -> tuple[int, int]:
        return sum(chance.random() < rate for _ in range(3)), 3

    intervals = [paired_lift([(run(0.8), run(0.5)) for _ in range(12)]).interval for _ in range(100)]
    assert sum(ends is not None and ends[0] <= 0.3 <= ends[1] for ends in intervals) >= 91


def test_no_clear_effect_needs_cases() -> None:
    """[SURFACES: Evals] that nothing was seen means something only where it could have been seen."""
    assert paired_lift([(YES, YES)] * 10).effect is Effect.FEW
    assert paired_lift([(YES, YES)] * 40).effect is Effect.NONE
    assert paired_lift([(YES, NO), (NO, YES)] * 5).effect is Effect.FEW


def test_only_cases_of_both_arms_count() -> None:
    """[SURFACES: Evals] a case that one arm could not measure is no zero."""
    lift = paired_lift([(YES, NO)] * 6 + [((0, 0), YES)] * 9)
    assert (lift.cases, lift.effect) == (6, Effect.HELPS)


def test_needed() -> None:
    """[SURFACES: Evals] a number of cases by the usual formula, ((1.96 + 0.84) * deviation / lift)²."""
    assert cases_needed(0.5, 0.5) == 8
    assert cases_needed(0.2, 0.4) == cases_needed(0.0, 0.4) == 32


def test_pass_at_k() -> None:
    """[SURFACES: Evals] pass@k as Chen et al. (2021) estimate it, pass^k as Yao et al. (2024)."""
    assert pass_at(1, [(3, 10)]) == 0.3
    assert pass_at(5, [(3, 10)]) == round(1 - 21 / 252, 4)  # 1 - C(7,5)/C(10,5)
    assert pass_all(2, [(3, 4)]) == 0.5  # C(3,2)/C(4,2)
    assert pass_all(3, [(3, 3), (0, 3)]) == 0.5
