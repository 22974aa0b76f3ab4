"""Show long output in a pager, as git does: `less` by default, or the program in SKILLC_PAGER or PAGER."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from skillc.cli import PlainStream

# Commands whose output may be long and that ask nothing.
PAGED = frozenset(
    [
        *("audit", "browse", "diagnose", "find", "help", "inventory", "lint", "list", "load", "lock"),
        *("open", "outdated", "outline", "search", "show", "sources", "stats", "tools", "turn"),
    ]
)
_OPTIONS = {"LESS": "FRX", "LV": "-c"}  # end at once where all fits on the screen; show colours


class _PagerStream(PlainStream):
    """Output that a pager shows: for the command still a terminal."""

    __slots__ = ()

    def isatty(self) -> bool:
        return True


@contextmanager
def page_output(words: Sequence[str]) -> Iterator[None]:
    """Send stdout through the pager where a person looks at it and the command may print much."""
    program = _program() if _is_wanted(words) else []
    if not program or not isinstance(sys.stdout, PlainStream):
        yield
        return
    terminal = sys.stdout
    env = {**_OPTIONS, **os.environ}
    try:
        process = subprocess.Popen(program, stdin=subprocess.PIPE, env=env)  # noqa: S603 -- the user's own
    except OSError:
        yield
        return
    assert process.stdin is not None
    pipe = io.TextIOWrapper(process.stdin, terminal.encoding, "backslashreplace", write_through=True)
    sys.stdout = _PagerStream(pipe, terminal.is_painted)
    # Ctrl+C is for the pager while it runs.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        sys.stdout = terminal
        try:
            pipe.close()
        except BrokenPipeError:
            pass  # the person has seen enough
        process.wait()
        signal.signal(signal.SIGINT, handler)


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
