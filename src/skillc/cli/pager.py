"""Show long output in a pager, as git does: `less` by default, or the program in SKILLC_PAGER or PAGER."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from io import TextIOWrapper
from typing import Any

from skillc.cli import PlainStream
from skillc.cli.progress import line, watch

# Commands whose output may be long and that ask nothing.
PAGED = frozenset(
    [
        *("audit", "browse", "doctor", "find", "help", "inventory", "lint", "list", "load", "lock"),
        *("open", "outdated", "outline", "search", "show", "sources", "stats", "tools", "turn"),
    ]
)
_OPTIONS = {"LESS": "FRX", "LV": "-c"}  # end at once where all fits on the screen; show colours


class _PagerStream(PlainStream):
    """Output for a pager, which starts when there is some: until then Ctrl+C ends the command."""

    __slots__ = ("_handler", "_process", "_program")

    def __init__(self, terminal: PlainStream, program: list[str]) -> None:
        super().__init__(terminal.stream, terminal.is_painted)
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None
        self._handler: Any = None

    def isatty(self) -> bool:
        return True

    def send(self, text: str) -> int:
        self._start()
        return super().send(text)

    def _start(self) -> None:
        if not self._program:
            return
        program, self._program = self._program, []
        env = {**_OPTIONS, **os.environ}
        line.hide()
        try:
            self._process = subprocess.Popen(program, stdin=subprocess.PIPE, env=env)  # noqa: S603 -- the user's
        except OSError:
            return
        assert self._process.stdin is not None
        pipe = TextIOWrapper(self._process.stdin, self.encoding, self.errors, write_through=True)
        self._handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the pager now
        self.stream = pipe

    def finish(self) -> None:
        """Wait until the person has seen enough."""
        if self._process is None:
            return
        try:
            self.stream.close()
        except BrokenPipeError:
            pass  # it ended before it read all
        self._process.wait()
        signal.signal(signal.SIGINT, self._handler)


@contextmanager
def attend(words: Sequence[str]) -> Iterator[None]:
    """Show a person at a terminal what the command is doing, and its output in a pager."""
    terminal, pager = sys.stdout, None
    if isinstance(terminal, PlainStream) and _is_wanted(words) and (program := _program()):
        sys.stdout = pager = _PagerStream(terminal, program)
    is_watched = words and "--watch" not in words and "--help" not in words
    try:
        with watch(words[0]) if is_watched else nullcontext():
            yield
    finally:
        if pager is not None:
            sys.stdout = terminal
            pager.finish()


def _is_wanted(words: Sequence[str]) -> bool:
    if not (sys.stdout.isatty() and sys.stdin is not None and sys.stdin.isatty()):
        return False
    command = words[0] if words else "help"
    is_help = command in ("--help", "-h") or "--help" in words or "-h" in words
    return "--no-pager" not in words and (is_help or command in PAGED)


def _program() -> list[str]:
    """Return the words of the pager's command; none where the user wants none or it is not here."""
    text = next((os.environ[name] for name in ("SKILLC_PAGER", "PAGER") if name in os.environ), "less")
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    if not words or words == ["cat"] or os.environ.get("TERM", "dumb") == "dumb":
        return []
    return words if shutil.which(words[0]) else []
