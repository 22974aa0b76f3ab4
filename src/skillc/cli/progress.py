"""Show progress on a terminal; print nothing anywhere else."""

from __future__ import annotations

import os
import sys

from skillc.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

BAR = 24


class Progress:
    """Counts steps on stderr: `[########----------------] 12/36 skills  pdf`."""

    def __init__(self, total: int, unit: str) -> None:
        self._total = total
        self._unit = unit
        self._done = 0
        self._visible = sys.stderr.isatty() and total > 1

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def step(self, name: str) -> None:
        """Count a step, which is about `name`."""
        if self._visible:
            _draw(self._done, self._total, self._unit, name)
        self._done += 1

    def say(self, line: str) -> None:
        """Print a line that stays."""
        self.clear()
        print(line, file=sys.stderr)

    def clear(self) -> None:
        if self._visible:
            _clear()


def watch_reading() -> None:
    """Show how far it is whenever the skill index has many files to read."""
    from skillc.index.skills import skill_index

    skill_index().database.on_progress = _draw_reading


def _draw_reading(root: str, done: int, total: int) -> None:
    if done < total:
        _draw(done, total, "skills read", root)
    else:
        _clear()


def _draw(done: int, total: int, unit: str, name: str) -> None:
    filled = BAR * done // total
    bar = "#" * filled + "-" * (BAR - filled)
    line = f"[{bar}] {done}/{total} {unit}  {one_line(name)}"
    columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
    sys.stderr.write(f"\r\x1b[K{line[: columns - 1]}")
    sys.stderr.flush()


def _clear() -> None:
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
