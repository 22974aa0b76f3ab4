"""Say what stdout and stderr are: how wide, in colour or not, and which characters they lack."""

from __future__ import annotations

import os
import shutil
import sys
from codecs import register_error
from collections.abc import Sequence

from skillc.cli import PlainStream

WHEN = ("auto", "always", "never")
LOOKALIKE = "skillc.lookalike"  # the name of an error handler
LOOKALIKES = dict(zip("–—•·×█├└│─‘’\xa0", "--**x#|`|-'' ", strict=True)) | {
    "…": "...",
    "→": "->",
    "←": "<-",
    "“": '"',
    "”": '"',
}


def prepare_terminal(words: Sequence[str]) -> None:
    """Wrap stdout where it is a terminal, and let stdout and stderr show styles as the user wants."""
    register_error(LOOKALIKE, _replace)
    for stream in (sys.stdout, sys.stderr):
        if stream.isatty() and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=LOOKALIKE)
    when = _read_color(words)
    is_painted = _wants_color(when, sys.stdout.isatty())
    if is_painted or sys.stdout.isatty():
        sys.stdout = PlainStream(sys.stdout, is_painted)
    if isinstance(sys.stderr, PlainStream):
        sys.stderr.is_painted = _wants_color(when, sys.stderr.isatty())


def columns() -> int:
    """Return the width of the terminal that stdout is; 0 where it is none."""
    if not sys.stdout.isatty():
        return 0
    width = os.environ.get("COLUMNS", "")
    if width.isascii() and width.isdigit() and int(width) > 0:
        return int(width)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80
    except (OSError, ValueError):
        return 80


def measure() -> tuple[int, int]:
    """Return columns and rows of the terminal that stderr is, with questions and progress; 80 and 24 else."""
    try:
        size = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        return shutil.get_terminal_size()
    return size.columns or 80, size.lines or 24


def has_person() -> bool:
    """Return whether there is a person to ask: stdin and stderr are a terminal."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed
        return False


def has_many_colors() -> bool:
    """Return whether the terminal has more than eight colours."""
    return "256" in os.environ.get("TERM", "") or bool(os.environ.get("COLORTERM"))


def is_dumb() -> bool:
    """Return whether the terminal, or the program that reads it aloud, can't draw over a line."""
    return os.environ.get("TERM") == "dumb"


def _read_color(words: Sequence[str]) -> str:
    """Return the value of `--color`; of one that is none, parsing the command says so."""
    values = [words[place + 1] for place, word in enumerate(words[:-1]) if word == "--color"]
    values += [word.partition("=")[2] for word in words if word.startswith("--color=")]
    return values[-1] if values and values[-1] in WHEN else "auto"


def _wants_color(when: str, is_terminal: bool) -> bool:
    """Return whether to paint: as `--color` says, then NO_COLOR, FORCE_COLOR, and what the output is."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return is_terminal and not is_dumb()


def _replace(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return ASCII that looks like characters which the terminal's encoding lacks, or their escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    pieces = [LOOKALIKES.get(c) or c.encode("ascii", "backslashreplace").decode() for c in text]
    return "".join(pieces), error.end
