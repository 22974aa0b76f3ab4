"""Tell from CPU time how the cost of a call grows with its input."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time
from typing import TypeVar

from tests.support.deadline import ends

Input = TypeVar("Input")

MEASURABLE = 0.001  # seconds
OVERHEAD = 2  # times what a tiny input takes: what a call costs whatever its input hides how that grows
MOST = 10.0  # times the cost for four times the input: 4 is linear, 16 quadratic


def grows_too_fast(
    run: Callable[[Input], object], make: Callable[[int], Input], most: int = 1 << 20, size: int = 1 << 10
) -> str:
    """Return what four times the input costs, if that is far more than four times; empty if not.

    Takes the smallest input from `size` on that takes a measurable time; a call that has none up to `most` is
    fast.
    """
    with ends():
        run(make(1 << 8))  # what is made once is not to count
        measurable = max(MEASURABLE, OVERHEAD * _cost(run, make(1 << 8), 1))
        while _cost(run, make(size), 1) < measurable:
            size *= 2
            if 4 * size > most:
                return ""
        for start in (size, 4 * size):  # input over a limit may take another way: a step, and no growth
            for times in range(2, 8):  # other programs can make one measurement worse, not all of them
                ratio = _cost(run, make(4 * start), times) / _cost(run, make(start), times)
                if ratio < MOST:
                    return ""
    return f"{ratio:.1f} times the cost for {4 * start} instead of {start}"


def _cost(run: Callable[[Input], object], value: Input, times: int) -> float:
    costs = []
    gc.disable()  # a collection costs more, the more objects other tests have left
    try:
        for _ in range(times):
            start = process_time()
            run(value)
            costs.append(process_time() - start)
    finally:
        gc.enable()
    return min(costs)
