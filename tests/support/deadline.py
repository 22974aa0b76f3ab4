"""An end for what would run forever."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

FOR_EVER = 300


@contextmanager
def ends() -> Iterator[None]:
    """Fails what would take for ever; how long a thing may take is for the benchmarks to say."""

    def late(*_: object) -> None:
        raise AssertionError(f"no end in {FOR_EVER} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, FOR_EVER)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
