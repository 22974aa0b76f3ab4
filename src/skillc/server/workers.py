"""Run several processes of one server: start them, start again those that die, and end them all together.

SIGHUP puts new ones in their place, one after the other; in a terminal it ends them, because it says there
that the terminal is gone. The processes are forked, so this one must not have opened a registry before:
threads are not inherited. A process ends by itself when the one that started it is gone.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from skillc.errors import SkillcError, unexpected
from skillc.startup import leave

END_TIME = 10.0  # seconds that processes have to end; then they are killed
RESTART_PAUSE = 1.0  # seconds before one that died soon after its start is started again
SOON = 5.0  # seconds
SIGNALS = (signal.SIGTERM, signal.SIGINT)

Work = Callable[[int, Callable[[], None]], object]  # gets its number, and what to call when it is ready


def call_in_process(operation: Callable[[], Any]) -> Any:
    """Return the result of an operation that a process of its own runs, or raise its error."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        result: Any = None
        try:
            result = operation()
        except BaseException as error:
            result = unexpected(error)
        with open(writer, "wb") as pipe:
            pickle.dump(result, pipe)
        leave(0)
    os.close(writer)
    with open(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    if not data:
        raise SkillcError("a process of the server ended before it was done")
    outcome = pickle.loads(data)  # noqa: S301 -- from our own process
    if isinstance(outcome, SkillcError):
        raise outcome
    return outcome


class Workers:
    """Processes that do the same work; `run` returns after SIGTERM or SIGINT, when all have ended.

    `reload` is called at SIGHUP, before the processes are replaced; where it fails, they stay.
    """

    def __init__(
        self,
        count: int,
        work: Work,
        report: Callable[[str], None],
        reload: Callable[[], None] = lambda: None,
    ) -> None:
        self._count = count
        self._work = work
        self._report = report
        self._reload = reload
        self._numbers: dict[int, int] = {}  # by process ID
        self._starts: dict[int, float] = {}  # by number: when it was started last
        self._ready, self._ready_writer = os.pipe()
        self._life, self._life_writer = os.pipe()  # closed when this process ends, in whatever way

    def run(self, announce: Callable[[], None]) -> None:
        with _wake_on_signals() as signals:
            for number in range(self._count):
                self._start(number)
            self._wait_until_ready(signals, self._count)
            if not signals.is_over:
                announce()
            while not signals.is_over:
                signals.wait(RESTART_PAUSE)
                self._restart()
                if signals.is_reload:
                    signals.is_reload = False
                    self._replace(signals)
            self._end(signals)

    def _start(self, number: int) -> None:
        self._starts[number] = time.monotonic()
        pid = os.fork()
        if pid == 0:
            self._become_worker(number)
        self._numbers[pid] = number

    def _become_worker(self, number: int) -> NoReturn:
        """Do the work in this new process, and end."""
        status = 1
        try:
            signal.set_wakeup_fd(-1)
            for name in (*SIGNALS, signal.SIGHUP, signal.SIGCHLD):
                signal.signal(name, signal.SIG_DFL)
            os.close(self._life_writer)
            threading.Thread(target=_follow_parent, args=(self._life,), daemon=True).start()
            self._work(number, lambda: _write(self._ready_writer))
            status = 0
        except KeyboardInterrupt:
            status = 0
        except BaseException as error:
            self._report(unexpected(error).line())
        leave(status)

    def _replace(self, signals: _Signals) -> None:
        """Put a new process in the place of each, when the one before it is ready."""
        try:
            self._reload()
        except Exception as error:
            self._report(f"nothing was reloaded: {unexpected(error).line()}")
            return
        for pid in list(self._numbers):
            if pid in self._numbers and not signals.is_over:  # else it died, and was started again
                self._replace_one(pid, signals)
        self._report("reloaded: all workers are new")

    def _replace_one(self, pid: int, signals: _Signals) -> None:
        self._kill(signal.SIGTERM, [pid])
        end = time.monotonic() + END_TIME
        while (code := _reap(pid)) is None and not signals.is_over:
            if time.monotonic() > end:
                self._kill(signal.SIGKILL, [pid])
            signals.wait(0.1)
        if code is None:
            return
        number = self._numbers.pop(pid)
        while signals.wait(0, self._ready):  # what was started again since has said so
            os.read(self._ready, 512)
        self._start(number)
        self._wait_until_ready(signals, 1)

    def _wait_until_ready(self, signals: _Signals, missing: int) -> None:
        while missing > 0 and not signals.is_over:
            if signals.wait(RESTART_PAUSE, self._ready):
                missing -= len(os.read(self._ready, missing))
            self._restart()

    def _restart(self) -> None:
        """Start the processes again that have died; one that died soon after its start, a little later."""
        for pid, number in list(self._numbers.items()):
            if (code := _reap(pid)) is not None:
                del self._numbers[pid]
                self._report(f"worker {number} ended ({_explain(code)}) and is started again")
        now = time.monotonic()
        for number in {*range(self._count)} - {*self._numbers.values()}:
            pause = RESTART_PAUSE if now - self._starts[number] < SOON else 0
            if now - self._starts[number] >= pause:
                self._start(number)

    def _end(self, signals: _Signals) -> None:
        """Pass the signal on, and wait; kill what does not end, or all at a second signal."""
        self._kill(signal.SIGTERM)
        end = time.monotonic() + END_TIME
        signals.is_over = False
        while self._numbers and time.monotonic() < end and not signals.is_over:
            self._forget_ended()
            if self._numbers:
                signals.wait(0.1)
        self._kill(signal.SIGKILL)
        while self._numbers:
            self._forget_ended()
            time.sleep(0.01)

    def _forget_ended(self) -> None:
        self._numbers = {pid: number for pid, number in self._numbers.items() if _reap(pid) is None}

    def _kill(self, number: signal.Signals, pids: Iterable[int] | None = None) -> None:
        for pid in self._numbers if pids is None else pids:
            with suppress(ProcessLookupError):
                os.kill(pid, number)


class _Signals:
    """What arrived for this process: whether it is to end or to reload; a new signal ends a wait."""

    def __init__(self, wakeup: int) -> None:
        self.is_over = False
        self.is_reload = False
        self._wakeup = wakeup

    def wait(self, seconds: float, other: int | None = None) -> bool:
        """Wait for a signal, for `other` to be readable, or for some time; return whether `other` is."""
        files = [self._wakeup, *([] if other is None else [other])]
        readable, _, _ = select.select(files, [], [], seconds)
        if self._wakeup in readable:
            os.read(self._wakeup, 512)
        return other in readable


@contextmanager
def _wake_on_signals() -> Iterator[_Signals]:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signals = _Signals(reader)

    def end(*_: object) -> None:
        signals.is_over = True

    def reload(*_: object) -> None:
        signals.is_reload = True

    before = {name: signal.signal(name, end) for name in SIGNALS}
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL and not _has_terminal():
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, reload)
    before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield signals
    finally:
        signal.set_wakeup_fd(-1)
        for name, handler in before.items():
            signal.signal(name, handler)
        os.close(reader)
        os.close(writer)


def _has_terminal() -> bool:
    try:
        return os.isatty(0)
    except OSError:  # closed
        return False


def _follow_parent(life: int) -> None:
    """End this process when the one that started it is gone."""
    os.read(life, 1)
    os.kill(os.getpid(), signal.SIGTERM)


def _write(pipe: int) -> None:
    with suppress(OSError):
        os.write(pipe, b".")


def _reap(pid: int) -> int | None:
    """Return how a process ended; None while it runs."""
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _explain(code: int) -> str:
    return f"status {code}" if code >= 0 else signal.Signals(-code).name
