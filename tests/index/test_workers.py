"""Worker processes: the same results in the same order, however workers start or end."""

from __future__ import annotations

import gc
import marshal
import os
import sys
from collections.abc import Callable
from io import BytesIO
from types import SimpleNamespace

import pytest

from skillc.index import Companion, Pool, workers
from tests.support.cases import each


class Doubler:
    """Doubles numbers; a worker process that gets 13 dies."""

    def __init__(self, parent: int) -> None:
        self._parent = parent

    def __call__(self, number: int) -> int:
        if number == 13 and os.getpid() != self._parent:
            os._exit(1)
        return 2 * number


def double(numbers: list[int], count: int, fork: bool) -> list[int]:
    return list(Pool(Doubler, os.getpid()).run(numbers, count, fork=fork))


@pytest.mark.slow
@each("fork", [True, False])
def test_results_come_in_order(fork: bool) -> None:
    """[D25] with any number of workers, one that dies included, each job has its result."""
    for count in (0, 1, 3):
        for numbers in ([], [7], list(range(40))):
            assert double(numbers, count, fork) == [2 * number for number in numbers]


def test_no_worker_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """[D25] without other processes, everything is done here."""

    def refuse(*_: object) -> int:
        raise OSError("no more processes")

    monkeypatch.setattr(os, "fork", refuse)
    monkeypatch.setattr(workers, "_START", "raise SystemExit(1)")
    assert double([1, 2, 3], 2, fork=True) == double([1, 2, 3], 2, fork=False) == [2, 4, 6]


@each("fork", [True, False])
def test_an_error_is_raised_here(fork: bool) -> None:
    """[D11] a job that fails in a worker fails in the parent, with its own error."""
    with pytest.raises(TypeError):
        list(Pool(fail, 1).run([1, 2], 2, fork=fork))


def fail(_: object) -> Callable[[int], str]:
    return lambda number: "a" + number  # type: ignore[operator]


@pytest.mark.slow
def test_a_companion_takes_jobs_one_after_the_other() -> None:
    """[D25] one worker does all jobs; where one ends it, the next starts another, until it is closed."""
    companion = Companion(Doubler, os.getpid())
    assert [companion.do(number) for number in (1, 2, 13, 3)] == [2, 4, None, 6]
    companion.close()
    assert companion.do(4) is None


def test_no_companion_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """[D25] without other processes, there is no result, and no error."""
    monkeypatch.setattr(workers, "_START", "raise SystemExit(1)")
    companion = Companion(Doubler, os.getpid())
    assert [companion.do(number) for number in (1, 2)] == [None, None]


@each("jobs", [[1, 2], None])
def test_what_a_worker_does(monkeypatch: pytest.MonkeyPatch, jobs: list[int] | None) -> None:
    """[D25] it answers each job: those of a list, or those that follow until the end."""
    request = marshal.dumps((__name__, "Doubler", (os.getpid(),), jobs))
    source, sink = BytesIO(request + (b"" if jobs else marshal.dumps(1) + marshal.dumps(2))), BytesIO()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=source))
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=sink))
    try:
        workers.serve()
    finally:
        gc.enable()
    answers = [marshal.dumps(2), marshal.dumps(4)]
    assert sink.getvalue() == b"".join(len(data).to_bytes(workers.LENGTH, "big") + data for data in answers)
