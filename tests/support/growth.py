"""Tell from CPU time how the cost of a call grows with its input."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time
from typing import TypeVar

from tests.support.deadline import ends

Input = TypeVar("Input")

MEASURABLE = 0.01  # seconds
MOST = 10.0  # times the cost for four times the input: 4 is linear, 16 quadratic


def grows_too_fast(run: Callable[[Input], object], make: Callable[[int], Input], most: int = 1 << 20) -> str:
    """Return what four times the input costs, if that is far more than four times; empty if not.

    Takes the smallest input that takes a measurable time; a call that has none up to `most` is fast.
    """
    size = 1 << 10
    with ends():
        while _cost(run, make(size)) < MEASURABLE:
            size *= 2
            if 4 * size > most:
                return ""
        for _ in range(3):  # other programs can make one measurement worse, not all of them
            ratio = _cost(run, make(4 * size)) / _cost(run, make(size))
            if ratio < MOST:
                return ""
    return f"{ratio:.1f} times the cost for {4 * size} instead of {size}"


def _cost(run: Callable[[Input], object], value: Input) -> float:
    costs = []
    gc.disable()  # a collection costs more, the more objects other tests have left
    try:
        for _ in range(2):
            start = process_time()
            run(value)
            costs.append(process_time() - start)
    finally:
        gc.enable()
    return min(costs)
