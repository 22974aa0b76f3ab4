"""The result of a run: the envelope, and the output in it, bounded in memory."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from skillc.errors import TimedOut

HEAD = 2048  # bytes of output that are kept from its start
TAIL = 2048  # and from its end
PARSED = 1 << 20  # bytes of stdout; more is not read as JSON


class Output:
    """The output of a command, of any length: its start, its end, and stdout while it is short.

    >>> output = Output()
    >>> output.add(b"x" * 5000, stdout=True)
    >>> output.text()[2047:2081]
    'x\\n... [truncated 904 bytes] ...\\nxx'
    """

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = b""
        self._stdout: bytearray | None = bytearray()  # None: too long to be read as JSON

    def add(self, data: bytes | memoryview, *, stdout: bool) -> None:
        self.total += len(data)
        if stdout and self._stdout is not None:
            if len(self._stdout) + len(data) <= PARSED:
                self._stdout += data
            else:
                self._stdout = None
        room = HEAD - len(self._head)
        if room:
            self._head += data[:room]
            data = data[room:]
        if len(data) >= TAIL:
            self._tail = bytes(data[-TAIL:])
        elif data:
            self._tail = (self._tail + bytes(data))[-TAIL:]

    @property
    def truncated(self) -> bool:
        return self.total > HEAD + TAIL

    def text(self) -> str:
        """Return the output, cut as bytes and then decoded [D43]."""
        if not self.truncated:
            return (bytes(self._head) + self._tail).decode("utf-8", "replace")
        cut = f"\n... [truncated {self.total - HEAD - TAIL} bytes] ...\n"
        return self._head.decode("utf-8", "replace") + cut + self._tail.decode("utf-8", "replace")

    def parsed(self) -> tuple[Any] | None:
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


@dataclass(frozen=True, slots=True)
class Envelope:
    """The result of a run [D43]; `stopped` is the error of a run that timed out or was cancelled [D44]."""

    success: bool
    exit_code: int | None
    output: str
    truncated: bool
    duration_ms: int
    sandbox: str
    error: str | None = None
    parsed: tuple[Any] | None = None
    stopped: TimedOut | None = None

    def as_json(self) -> dict[str, Any]:
        names = ("success", "exit_code", "output", "truncated", "duration_ms", "sandbox")
        value: dict[str, Any] = {name: getattr(self, name) for name in names}
        if self.error is not None:
            value["error"] = self.error
        if self.parsed is not None:
            value["parsed"] = self.parsed[0]
        return value
