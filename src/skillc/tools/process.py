"""Run one command: its output bounded, its time bounded, and none of its processes left afterwards.

stdout and stderr are two pipes, since `parsed` needs stdout alone; `output` has their bytes in the
order in which they arrive. Bytes of one pipe stay in order; bytes that a command writes to both
within the same instant may change places.
"""

from __future__ import annotations

import os
import selectors
import signal
import threading
import time
from collections.abc import Callable
from typing import IO

from skillc.errors import TimedOut
from skillc.tools.envelope import Envelope, Output
from skillc.tools.sandbox import PATIENCE, PROCESSES, Launch, Process, start

GRACE = 5.0  # seconds between SIGTERM and SIGKILL [D44]
TICK = 0.1  # seconds between checks of cancellation and the number of processes
CHUNK = 1 << 16  # bytes read at once
REST = 1 << 20  # bytes read after the end: more than a pipe can hold


def run(
    launch: Launch, cancel: threading.Event | None = None, check: Callable[[], None] | None = None
) -> Envelope:
    """Run a command to its end, its time-out or its cancellation.

    `check` is called at the last moment before the start and may raise, if the skill is no longer
    what was approved. Raises CannotRun and SandboxUnavailable where nothing was started.
    """
    if check is not None:
        check()
    begin = time.monotonic()
    process = start(launch)
    try:
        watch = _Watch(process, begin + launch.timeout, cancel)
        watch.wait()
        duration = time.monotonic() - begin
        process.kill()  # what it left behind
        watch.read_rest()
        code = None if watch.reason else process.exit_code(watch.output.text())
    finally:
        process.close()
    return _envelope(launch, watch, code, duration)


def _envelope(launch: Launch, watch: _Watch, code: int | None, duration: float) -> Envelope:
    stopped = None
    error = None
    if watch.reason in ("timed out", "cancelled"):
        seconds = launch.timeout if watch.reason == "timed out" else round(duration, 1)
        stopped = TimedOut(seconds, watch.reason)
        error = stopped.message
    elif watch.reason:
        error = watch.reason
    elif code:
        error = f"Command failed with exit code {code}{_signal_name(code)}"
    return Envelope(
        success=code == 0,
        exit_code=code,
        output=watch.output.text(),
        truncated=watch.output.truncated,
        duration_ms=round(duration * 1000),
        sandbox=launch.sandbox,
        error=error,
        parsed=watch.output.parsed() if code is not None else None,
        stopped=stopped,
    )


def _signal_name(code: int) -> str:
    """Return the signal that an exit code stands for, as in shells."""
    try:
        return f" ({signal.Signals(code - 128).name})"
    except ValueError:
        return ""


class _Watch:
    """Reads what a command writes, until it ends or has to be ended; `reason` says why it was."""

    def __init__(self, process: Process, deadline: float, cancel: threading.Event | None) -> None:
        self.output = Output()
        self.reason = ""
        self._process = process
        self._deadline = deadline
        self._cancel = cancel
        self._buffer = bytearray(CHUNK)
        for stream in (process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)

    def wait(self) -> None:
        """Return when the command's process has ended, even if others still have its pipes open."""
        with selectors.DefaultSelector() as selector:
            for stream in (self._process.stdout, self._process.stderr):
                selector.register(stream, selectors.EVENT_READ)
            try:  # readable when the process ends
                end = os.pidfd_open(self._process.process.pid)
            except (AttributeError, OSError):  # this system has no such descriptors
                self._loop(selector, None)
                return
            selector.register(end, selectors.EVENT_READ)
            try:
                self._loop(selector, end)
            finally:
                os.close(end)

    def _loop(self, selector: selectors.BaseSelector, end: int | None) -> None:
        next_check = 0.0
        while True:
            for key, _ in selector.select(TICK):
                if key.fileobj != end and self._read(key.fileobj) == 0:  # type: ignore[arg-type]
                    selector.unregister(key.fileobj)
            now = time.monotonic()
            if self._process.has_ended() or (self.reason and now >= self._deadline + PATIENCE):
                return
            if now >= next_check:
                next_check = now + TICK
                self._check(now)

    def _check(self, now: float) -> None:
        """Let the command go on, ask it to end, or end it."""
        if self.reason:
            if now >= self._deadline:
                self._process.kill()
        elif self._cancel is not None and self._cancel.is_set():
            self._terminate("cancelled", now)
        elif now >= self._deadline:
            self._terminate("timed out", now)
        elif len(self._process.list_processes(PROCESSES)) > PROCESSES:
            self.reason = f"ended: it had more than {PROCESSES} processes at once"
            self._deadline = now
            self._process.kill()

    def _terminate(self, reason: str, now: float) -> None:
        self.reason = reason
        self._deadline = now + GRACE
        self._process.terminate()

    def _read(self, stream: IO[bytes]) -> int | None:
        """Return the number of bytes read; 0 at the end, None if there is nothing now."""
        try:
            count = os.readv(stream.fileno(), [self._buffer])
        except BlockingIOError:
            return None
        self.output.add(memoryview(self._buffer)[:count], stdout=stream is self._process.stdout)
        return count

    def read_rest(self) -> None:
        """Read what the command wrote before it ended and is still in the pipes, and no more."""
        for stream in (self._process.stdout, self._process.stderr):
            rest = REST
            while rest > 0 and (count := self._read(stream)):
                rest -= count
