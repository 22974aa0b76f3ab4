"""Running one command: its output bounded, its time bounded, and nothing of it left afterwards.

stdout and stderr are two pipes, since `parsed` needs stdout alone; `output` has their bytes in the
order in which they arrive. What a command writes to both within the same instant may change places;
what it writes to one never does.
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
from skillc.tools.launch import Launch
from skillc.tools.sandbox import start
from skillc.tools.sandbox.limits import PROCESSES
from skillc.tools.sandbox.process import PATIENCE, Started

GRACE = 5.0  # seconds between SIGTERM and SIGKILL [D44]
TICK = 0.1  # seconds between looks at what can't wake us: cancellation, how many processes there are
CHUNK = 1 << 16  # bytes read at once
LEFT = 1 << 20  # bytes read after the end: more than a pipe can hold


def run(
    launch: Launch, cancel: threading.Event | None = None, check: Callable[[], None] | None = None
) -> Envelope:
    """Run a command to its end, its time-out or its cancellation.

    `check` is called at the last moment before anything starts, and may raise: that the skill is
    still what was approved. Raises CannotRun and SandboxUnavailable where nothing was started.
    """
    if check is not None:
        check()
    begin = time.monotonic()
    started = start(launch)
    try:
        watch = _Watch(started, begin + launch.timeout, cancel)
        watch.until_it_ends()
        duration = time.monotonic() - begin
        started.kill()  # what it left behind
        watch.read_the_rest()
        code = None if watch.why else started.exit_code(watch.output.text())
    finally:
        started.close()
    return _envelope(launch, watch, code, duration)


def _envelope(launch: Launch, watch: _Watch, code: int | None, duration: float) -> Envelope:
    stopped = None
    error = None
    if watch.why in ("timed out", "cancelled"):
        stopped = TimedOut(launch.timeout if watch.why == "timed out" else round(duration, 1), watch.why)
        error = stopped.message
    elif watch.why:
        error = watch.why
    elif code:
        error = f"Command failed with exit code {code}{_signal(code)}"
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


def _signal(code: int) -> str:
    """The signal that such an exit code stands for, as shells have it."""
    try:
        return f" ({signal.Signals(code - 128).name})"
    except ValueError:
        return ""


class _Watch:
    """Reads what a command writes, until it ends or has to be ended; `why` says what for."""

    def __init__(self, started: Started, deadline: float, cancel: threading.Event | None) -> None:
        self.output = Output()
        self.why = ""
        self._started = started
        self._deadline = deadline
        self._cancel = cancel
        self._buffer = bytearray(CHUNK)
        for stream in (started.stdout, started.stderr):
            os.set_blocking(stream.fileno(), False)

    def until_it_ends(self) -> None:
        """Return when the command's process has ended, whoever else still holds its pipes."""
        with selectors.DefaultSelector() as selector:
            for stream in (self._started.stdout, self._started.stderr):
                selector.register(stream, selectors.EVENT_READ)
            ended = _end_of(self._started)
            if ended is not None:
                selector.register(ended, selectors.EVENT_READ)
            try:
                self._loop(selector, ended)
            finally:
                if ended is not None:
                    os.close(ended)

    def _loop(self, selector: selectors.BaseSelector, ended: int | None) -> None:
        look = 0.0
        while True:
            for key, _ in selector.select(TICK):
                if key.fileobj != ended and self._read(key.fileobj) == 0:  # type: ignore[arg-type]
                    selector.unregister(key.fileobj)
            now = time.monotonic()
            if self._started.ended() or (self.why and now >= self._deadline + PATIENCE):
                return
            if now >= look:
                look = now + TICK
                self._judge(now)

    def _judge(self, now: float) -> None:
        """Let the command go on, ask it to end, or end it."""
        if self.why:
            if now >= self._deadline:
                self._started.kill()
        elif self._cancel is not None and self._cancel.is_set():
            self._ask("cancelled", now)
        elif now >= self._deadline:
            self._ask("timed out", now)
        elif len(self._started.processes(PROCESSES)) > PROCESSES:
            self.why = f"ended: it had more than {PROCESSES} processes at once"
            self._deadline = now
            self._started.kill()

    def _ask(self, why: str, now: float) -> None:
        self.why = why
        self._deadline = now + GRACE
        self._started.terminate()

    def _read(self, stream: IO[bytes]) -> int | None:
        """The number of bytes read; 0 at the end, None if there is nothing now."""
        try:
            count = os.readv(stream.fileno(), [self._buffer])
        except BlockingIOError:
            return None
        self.output.add(memoryview(self._buffer)[:count], stdout=stream is self._started.stdout)
        return count

    def read_the_rest(self) -> None:
        """What the command wrote before it ended and is still in the pipes, and no more than that."""
        for stream in (self._started.stdout, self._started.stderr):
            left = LEFT
            while left > 0 and (count := self._read(stream)):
                left -= count


def _end_of(started: Started) -> int | None:
    """A descriptor that becomes readable when the process ends, where the system has such."""
    try:
        return os.pidfd_open(started.process.pid)
    except (AttributeError, OSError):
        return None
