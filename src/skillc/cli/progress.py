"""Show progress on a terminal; print nothing anywhere else."""

from __future__ import annotations

import os
import sys

from skillc.index import skills  # lazy: 'skc install' needs none of it
from skillc.text import one_line

BAR = 24
CLEAR = "\r\x1b[K"


class Progress:
    """Counts steps on stderr: `[########----------------] 12/36 skills  pdf`."""

    def __init__(self, total: int, unit: str) -> None:
        self._total = total
        self._unit = unit
        self._count = 0
        self._visible = sys.stderr.isatty() and total > 1

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def step(self, name: str) -> None:
        """Count a step, which is about `name`."""
        if self._visible:
            _draw(self._count, self._total, self._unit, name)
        self._count += 1

    def step_of(self, name: str, total: int) -> None:
        """Count a step of as many as turned out to be needed."""
        self._total = total
        self._visible = sys.stderr.isatty() and total > 1
        self.step(name)

    def reach(self, count: int, name: str) -> None:
        """Show that `count` of all are done."""
        self._count = count
        if self._visible:
            _draw(count, self._total, self._unit, name)

    def say(self, line: str) -> None:
        """Print a line that stays."""
        self.clear()
        print(line, file=sys.stderr)

    def clear(self) -> None:
        if self._visible:
            _clear()


def watch_reading() -> None:
    """Show the progress whenever the skill index has many files to read."""
    skills.skill_index().database.on_progress = _draw_reading


def _draw_reading(root: str, count: int, total: int) -> None:
    """Show how many files are read, or without a total how many directories were looked at."""
    if count and not total:
        _write_line(f"{count} directories  {one_line(root)}")
    elif count < total:
        _draw(count, total, "skills read", root)
    else:
        _clear()


def _draw(count: int, total: int, unit: str, name: str) -> None:
    bar = f"{'#' * (BAR * count // total):-<{BAR}}"
    _write_line(f"[{bar}] {count}/{total} {unit}  {one_line(name)}")


def _write_line(line: str) -> None:
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    _write(f"{CLEAR}{line[: columns - 1]}")


def _clear() -> None:
    _write(CLEAR)


def _write(text: str) -> None:
    """Write to the stream below the one that escapes control characters."""
    stream = getattr(sys.stderr, "stream", sys.stderr)
    stream.write(text)
    stream.flush()
