"""Run several processes of one server: start them, start again those that die, and end them all together.

SIGHUP puts new ones in their place, one after the other; in a terminal it ends them, because it says there
that the terminal is gone. The processes are forked, so this one must not have opened a registry before:
threads are not inherited. A process ends by itself when the one that started it is gone.

uvicorn has a supervisor, too. Its processes load the whole program anew, as they are not forked; it waits for
ever for one that does not end, and leaves them alone where it is killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, NoReturn

from skillc.errors import SkillcError, unexpected
from skillc.startup import leave

END_TIME = 10.0  # seconds that processes have to end; then they are killed
RESTART_PAUSE = 1.0  # seconds between two starts of one that dies at once
CHECK_PAUSE = 0.1  # seconds between two looks at signals
SIGNALS = (signal.SIGTERM, signal.SIGINT)

Work = Callable[[int, Callable[[], None]], object]  # gets its number, and what to call when it is ready


def call_in_process(operation: Callable[[], Any]) -> Any:
    """Return the result of an operation that a process of its own runs, or raise its error."""
    reader, writer = multiprocessing.Pipe(duplex=False)

    def run() -> None:
        try:
            writer.send(operation())
        except BaseException as error:
            writer.send(unexpected(error))
        leave(0)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    writer.close()
    try:
        outcome = reader.recv()
    except EOFError:
        raise SkillcError("a process of the server ended before it was done") from None
    process.join()
    if isinstance(outcome, SkillcError):
        raise outcome
    return outcome


@dataclass(frozen=True, slots=True)
class _Worker:
    process: BaseProcess
    started_at: float
    ready: Connection  # has something to read when the process is ready
    ready_writer: Connection


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
        self._workers: dict[int, _Worker] = {}  # by number
        self._ends = 0  # signals to end that arrived
        self._is_reload = False

    def run(self, announce: Callable[[], None]) -> None:
        with self._handle_signals():
            for number in range(self._count):
                self._start(number)
            self._wait_until_ready()
            if not self._ends:
                announce()
            while not self._ends:
                self._check()
                if self._is_reload:
                    self._is_reload = False
                    self._replace()
            self._end(self._workers.values())

    def _start(self, number: int) -> None:
        ready, writer = multiprocessing.Pipe(duplex=False)
        context = multiprocessing.get_context("fork")
        process = context.Process(target=self._become_worker, args=(number, writer))
        self._workers[number] = _Worker(process, monotonic(), ready, writer)
        process.start()

    def _become_worker(self, number: int, ready: Connection) -> NoReturn:
        """Do the work in this new process, and end."""
        status = 1
        try:
            for name in (*SIGNALS, signal.SIGHUP):
                signal.signal(name, signal.SIG_DFL)
            threading.Thread(target=_follow_parent, daemon=True).start()
            self._work(number, lambda: ready.send(True))
            status = 0
        except KeyboardInterrupt:
            status = 0
        except BaseException as error:
            self._report(unexpected(error).line())
        leave(status)

    def _replace(self) -> None:
        """Put a new process in the place of each, when the one before it is ready."""
        try:
            self._reload()
        except Exception as error:
            self._report(f"nothing was reloaded: {unexpected(error).line()}")
            return
        for number, worker in list(self._workers.items()):
            if self._workers[number] is worker and not self._ends:  # else it died, and was started again
                self._end([worker])
                self._start(number)
                self._wait_until_ready()
        self._report("reloaded: all workers are new")

    def _wait_until_ready(self) -> None:
        while not self._ends and not all(worker.ready.poll() for worker in self._workers.values()):
            self._check()

    def _check(self) -> None:
        """Wait a moment, and start the processes again that have died: each once in a while."""
        _wait_for_one(self._workers.values())
        for number, worker in list(self._workers.items()):
            code = worker.process.exitcode
            if code is not None and monotonic() - worker.started_at >= RESTART_PAUSE:
                self._report(f"worker {number} ended ({_explain(code)}) and is started again")
                self._start(number)

    def _end(self, workers: Iterable[_Worker]) -> None:
        """Ask processes to end, and wait; kill those that do not, or all at a further signal."""
        processes, signals, end = [worker.process for worker in workers], self._ends, monotonic() + END_TIME
        for process in processes:
            process.terminate()
        while any(process.is_alive() for process in processes) and monotonic() < end:
            _wait_for_one(workers)
            if self._ends > signals:
                break
        for process in processes:
            process.kill()
            process.join()

    @contextmanager
    def _handle_signals(self) -> Iterator[None]:
        def end(*_: object) -> None:
            self._ends += 1

        def reload(*_: object) -> None:
            self._is_reload = True

        before = {name: signal.signal(name, end) for name in SIGNALS}
        if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL and not _has_terminal():
            before[signal.SIGHUP] = signal.signal(signal.SIGHUP, reload)
        try:
            yield
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


def _wait_for_one(workers: Iterable[_Worker]) -> None:
    """Wait until a process ends, or for a moment."""
    wait([worker.process.sentinel for worker in workers if worker.process.is_alive()], CHECK_PAUSE)


def _has_terminal() -> bool:
    try:
        return os.isatty(0)
    except OSError:  # closed
        return False


def _follow_parent() -> None:
    """End this process when the one that started it is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _explain(code: int) -> str:
    return f"status {code}" if code >= 0 else signal.Signals(-code).name
