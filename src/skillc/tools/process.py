"""Run one command and return its envelope: output and time bounded, none of its processes left afterwards.

stdout and stderr are two pipes, since `parsed` needs stdout alone; `output` has their bytes in the
order of arrival, which is exact within each pipe.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any

from skillc.contract import JSON, OMIT, Result, hidden, optional
from skillc.errors import SkillcError, TimedOut
from skillc.text import one_line
from skillc.tools.sandbox import NONE, PATIENCE, Launch, Process, start

GRACE = 5.0  # seconds between SIGTERM and SIGKILL [D44]
TICK = 0.1  # seconds between checks of cancellation and the number of processes
CHUNK = 1 << 16  # bytes read at once
REST = 1 << 20  # bytes read after the end: more than a pipe can hold
HEAD = 2048  # bytes of output that are kept from its start
TAIL = 2048  # and from its end
MAX_JSON = 1 << 20  # bytes of stdout; more is not read as JSON
TIMED_OUT, CANCELLED = "timed out", "cancelled"
NOT_JSON = object()  # in place of a value, which may be null
_SIGNALS = {128 + number: f" ({number.name})" for number in signal.Signals}  # by exit code, as in shells


@dataclass(frozen=True, slots=True)
class Envelope(Result):
    """The result of a run [D43]; `interruption` is the error if it timed out or was cancelled [D44].

    `code` is that of the error that ended it, or kept it from starting [D55].
    """

    success: bool
    exit_code: int | None
    output: str
    truncated: bool
    duration_ms: int
    sandbox: str
    error: str | None = optional()
    code: str | None = optional()
    parsed: Any = field(default=NOT_JSON, metadata={OMIT: True, JSON: True})
    interruption: TimedOut | None = hidden(None)

    @classmethod
    def of_error(cls, error: SkillcError) -> Envelope | None:
        """Return the envelope of a run that never started; None if the error is not about a run [D55].

        E012 is about a run where a link leads out of the skill: there is no digest to approve [D64].
        """
        if error.code != "E012" and not "E060" <= error.code <= "E066":
            return None
        return cls(False, None, "", False, 0, NONE, one_line(error.message), code=error.code)


def run(
    launch: Launch, cancel: threading.Event | None = None, check: Callable[[], None] | None = None
) -> Envelope:
    """Run a command to its end, its time-out or its cancellation.

    `check` is called at the last moment before the start and may raise, if the skill is no longer
    what was approved. Raises CannotRun and SandboxUnavailable where nothing was started.
    """
    if check is not None:
        check()
    end = run_program(launch, cancel)
    return _envelope(launch, end)


@dataclass(frozen=True, slots=True)
class End:
    """How a program ended: its exit code, or the reason why it was ended, and its output."""

    code: int | None
    reason: str
    seconds: float
    output: Output


def run_program(
    launch: Launch, cancel: threading.Event | None = None, *, keep: int = MAX_JSON, grace: float = GRACE
) -> End:
    """Run a program to its end, its time-out or its cancellation; its stdout is kept up to `keep` bytes.

    Raises CannotRun and SandboxUnavailable where nothing was started.
    """
    begin = time.monotonic()
    process = start(launch)
    try:
        watch = _Watch(process, begin + launch.timeout, cancel, Output(keep), grace)
        watch.wait()
        duration = time.monotonic() - begin
        process.kill()  # what it left behind
        watch.read_rest()
        code = None if watch.reason else process.exit_code(watch.output.text())
    finally:
        process.close()
    return End(code, watch.reason, duration, watch.output)


def _envelope(launch: Launch, end: End) -> Envelope:
    interruption, error, code = None, end.reason or None, end.code
    if end.reason in (TIMED_OUT, CANCELLED):
        seconds = launch.timeout if end.reason == TIMED_OUT else round(end.seconds, 1)
        interruption = TimedOut(seconds, end.reason)
        error = interruption.message
    elif code:
        error = f"Command failed with exit code {code}{_SIGNALS.get(code, '')}"
    parsed = end.output.parse_json() if code is not None else None
    return Envelope(
        success=code == 0,
        exit_code=code,
        output=end.output.text(),
        truncated=end.output.truncated,
        duration_ms=round(end.seconds * 1000),
        sandbox=launch.sandbox,
        error=error,
        parsed=parsed[0] if parsed else NOT_JSON,
        interruption=interruption,
        code=interruption.code if interruption else None,
    )


class _Watch:
    """Reads what a command writes, until it ends or has to be ended; `reason` says why it was."""

    def __init__(
        self,
        process: Process,
        deadline: float,
        cancel: threading.Event | None,
        output: Output,
        grace: float,
    ) -> None:
        self.output = output
        self.reason = ""
        self._grace = grace
        self._process = process
        self._deadline = deadline
        self._cancel = cancel
        self._buffer = bytearray(CHUNK)
        for stream in process.streams:
            os.set_blocking(stream.fileno(), False)

    def wait(self) -> None:
        """Return when the command's process has ended, even if others still have its pipes open."""
        with selectors.DefaultSelector() as selector:
            for stream in self._process.streams:
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
            self._terminate(CANCELLED, now)
        elif now >= self._deadline:
            self._terminate(TIMED_OUT, now)
        elif excess := self._process.find_excess():
            self.reason = f"ended: {excess}"
            self._deadline = now
            self._process.kill()

    def _terminate(self, reason: str, now: float) -> None:
        self.reason = reason
        self._deadline = now + self._grace
        self._process.terminate()

    def _read(self, stream: IO[bytes]) -> int | None:
        """Return the number of bytes read; 0 at the end, None if there is nothing now."""
        try:
            count = os.readv(stream.fileno(), [self._buffer])
        except BlockingIOError:
            return None
        self.output.add(memoryview(self._buffer)[:count], stdout=stream is self._process.streams[0])
        return count

    def read_rest(self) -> None:
        """Read what the command wrote before it ended and is still in the pipes, and no more."""
        for stream in self._process.streams:
            rest = REST
            while rest > 0 and (count := self._read(stream)):
                rest -= count


class Output:
    """The output of a command, of any length: its start, its end, and stdout while it is short."""

    def __init__(self, keep: int = MAX_JSON) -> None:
        self.total = 0
        self._keep = keep
        self._head = bytearray()
        self._tail = b""
        self._stdout: bytearray | None = bytearray()  # None once it is longer than what is kept

    def add(self, data: bytes | memoryview, *, stdout: bool) -> None:
        self.total += len(data)
        if stdout and self._stdout is not None:
            if len(self._stdout) + len(data) <= self._keep:
                self._stdout += data
            else:
                self._stdout = None
        room = HEAD - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + bytes(data[room:][-TAIL:]))[-TAIL:]

    @property
    def stdout(self) -> bytes | None:
        """All of stdout; None if it was longer than what is kept."""
        return None if self._stdout is None else bytes(self._stdout)

    @property
    def truncated(self) -> bool:
        return self.total > HEAD + TAIL

    def text(self) -> str:
        """Return the output, cut as bytes and then decoded [D43]."""
        if not self.truncated:
            return (bytes(self._head) + self._tail).decode("utf-8", "replace")
        cut = f"\n... [truncated {self.total - HEAD - TAIL} bytes] ...\n"
        return self._head.decode("utf-8", "replace") + cut + self._tail.decode("utf-8", "replace")

    def parse_json(self) -> tuple[Any] | None:
        """Return stdout as JSON, in a tuple because it may be null; None if it is not JSON."""
        if not self._stdout:
            return None
        try:
            value = json.loads(self._stdout.decode("utf-8"), parse_constant=_refuse_constant)
            if b"\\u" in self._stdout:  # half a surrogate pair can be read, but not written again
                json.dumps(value, ensure_ascii=False).encode("utf-8")
        except (ValueError, RecursionError):
            return None
        return (value,)


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # NaN and Infinity are not JSON
