"""How many examples are tried: few at the gate, all with `scripts/test --all-examples`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

from hypothesis import HealthCheck, settings

Item = TypeVar("Item")

FEW = 30
ALL = 200  # of a test that names no number
is_complete = False  # set before any test is collected


def choose_examples(every: bool) -> None:
    """Set how many examples the tests of this run try."""
    global is_complete
    is_complete = every
    settings.register_profile(
        "skillc",
        deadline=None,
        max_examples=ALL if every else FEW,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("skillc")


def examples(number: int) -> settings:
    """Return the setting for a test that needs this number of examples to be complete."""
    return settings(max_examples=number if is_complete else min(number, FEW))


def sample(items: Iterable[Item], step: int, start: int = 0) -> Iterable[Item]:
    """Return each `step`-th of the cases that a test tries; all of them if the run is complete."""
    return items if is_complete else islice(items, start, None, step)
