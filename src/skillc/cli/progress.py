"""Show on a terminal what a command is doing; print nothing anywhere else.

A command that takes long says so by itself: `watch` shows what ACTIVITIES says of it from the second second
on. Commands with several steps say more, by `working` and `Progress`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from skillc import library  # lazy, as the index is
from skillc.cli import PlainStream
from skillc.cli.style import cut
from skillc.errors import SkillcError
from skillc.index import skills
from skillc.text import one_line

BAR = 24
CLEAR = "\r\x1b[K"
TICK = 0.8  # seconds until a command shows a sign of life
INTERVAL = 0.05  # seconds between two drawings of a bar with many steps
FEW = 100  # steps that are all drawn
PAUSE = 10.0  # seconds between two lines where lines can't be drawn over

ACTIVITIES = {
    "add": "Getting the skills",
    "audit": "Looking for the skills",
    "browse": "Asking the repositories",
    "build": "Looking for the skills",
    "clean": "Measuring caches, builds and leftovers",
    "diagnose": "Asking the repositories",
    "disable": "Looking for the skill",
    "doctor": "Checking the installation, the stores and agents' directories",
    "enable": "Looking for the skill",
    "find": "Asking the repositories",
    "grant": "Asking the registry",
    "import": "Looking for skills",
    "init": "Creating the skill",
    "install": "Comparing the store with the lock",
    "inventory": "Asking the repositories",
    "lint": "Looking for the skills",
    "list": "Comparing skills with their builds",
    "load": "Asking the repositories",
    "lock": "Comparing the store with the lock",
    "login": "Asking the registry",
    "logout": "Forgetting the token",
    "open": "Looking for the skill",
    "outdated": "Comparing the store with the lock",
    "outline": "Reading the headings",
    "pin": "Changing the lock",
    "publish": "Looking for the skill",
    "publisher": "Asking the registry",
    "remove": "Looking for the skills",
    "repo": "Asking the repositories",
    "restore": "Bringing it back from the trash",
    "run": "Preparing and running the tool",
    "search": "Looking for the skill",
    "show": "Looking for the section",
    "sources": "Listing the files",
    "stats": "Counting in the logs",
    "sync": "Counting in the logs",
    "token": "Asking the registry",
    "tools": "Looking for the skill",
    "trash": "Measuring the trash",
    "trust": "Looking for the skill",
    "turn": "Asking the repositories",
    "unpin": "Changing the lock",
    "update": "Comparing the store with the lock",
    "verify": "Comparing files with the lock",
    "yank": "Asking the registry",
}


class StatusLine:
    """The last line of the terminal while a command works: what it does, and for how long.

    There is one terminal, so there is one such line. A timer of the system draws it again while nothing
    happens; a thread would keep the work from being given to forked processes.
    """

    def __init__(self) -> None:
        self._activities: list[str] = []  # the innermost is last
        self._step = ""  # what the innermost is at
        self._since = 0.0  # when that began
        self._is_visible = False
        self._is_paused = False
        self._is_free = True  # nothing of a line of output is in the way
        self._last = 0.0  # when it was drawn

    def push(self, activity: str) -> None:
        self._activities.append(activity)
        self._step, self._since = "", monotonic()

    def rename(self, activity: str) -> None:
        """Say more of the outermost activity."""
        self._activities[:1] = [activity]

    def pop(self) -> None:
        self._activities.pop()
        self._step, self._since = "", monotonic()
        self.clear()

    def put(self, step: str) -> None:
        """Show a step of the innermost activity, at once; an empty one ends it."""
        self._step, self._since = step, monotonic()
        if not step:
            self.clear()
        elif not _is_plain():
            self._draw(step)

    def clear(self) -> None:
        if self._is_visible:
            self._is_visible = False
            _write(CLEAR)

    def make_way(self, text: str) -> None:
        """Go away for a text that is printed, and stay away while it does not end its line."""
        self.clear()
        self._is_free = text.endswith("\n") or (self._is_free and not text)

    def tick(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        """Show that the work goes on where nothing else was drawn for a while."""
        now = monotonic()
        text = self._step or next(filter(None, reversed(self._activities)), "")
        if text and now - self._last >= (PAUSE if _is_plain() else TICK):
            seconds = int(now - self._since)
            self._draw(f"{text}  {seconds} s" if seconds > 1 else text)

    def _draw(self, text: str) -> None:
        if self._is_paused or not self._is_free:
            return
        self._last = monotonic()
        if _is_plain():
            _write(f"{text}\n")
            return
        self._is_visible = True
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        _write(f"{CLEAR}{cut(text, columns - 1)}")

    def hide(self) -> None:
        """Show nothing from now on: a pager has the terminal."""
        self.clear()
        self._is_paused = True

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Show nothing while a person answers."""
        self.hide()
        try:
            yield
        finally:
            self._is_paused = False


line = StatusLine()


@contextmanager
def watch(command: str) -> Iterator[None]:
    """Show what a command is doing as long as it runs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, PlainStream):
            stream.make_way = line.make_way
    with working(ACTIVITIES.get(command, "")), _timer():
        yield


@contextmanager
def _timer() -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return
    try:
        handler = signal.signal(signal.SIGALRM, line.tick)
    except ValueError:  # not in the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK / 4)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


@contextmanager
def working(text: str) -> Iterator[None]:
    """Say what the command is doing, if that takes longer than a second."""
    if not text or not sys.stderr.isatty():
        yield
        return
    line.push(one_line(text))
    try:
        yield
    finally:
        line.pop()


class Progress:
    """Counts steps on stderr: `[########----------------] 12/36 skills  pdf`."""

    def __init__(self, total: int, unit: str) -> None:
        self._total = total
        self._unit = unit
        self._count = 0
        self._last = 0.0  # when a step was drawn
        self._is_shown = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        line.push("")
        return self

    def __exit__(self, *_: object) -> None:
        line.pop()

    def step(self, name: str) -> None:
        """Count a step, which is about `name`."""
        self._show(name)
        self._count += 1

    def step_of(self, name: str, total: int) -> None:
        """Count a step of as many as turned out to be needed."""
        self._total = total
        self.step(name)

    def reach(self, count: int, name: str) -> None:
        """Show that `count` of all are done."""
        self._count = count
        self._show(name)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        line.clear()
        print(text, file=sys.stderr)

    def clear(self) -> None:
        line.clear()

    def _show(self, name: str) -> None:
        if not self._is_shown or self._total < 2:
            return
        now = monotonic()
        if self._total <= FEW or now - self._last >= INTERVAL:
            self._last = now
            line.put(_bar(self._count, self._total, self._unit, name))


def watch_reading() -> None:
    """Show the progress whenever the skill index has many files to read."""
    skills.skill_index().database.on_progress = _draw_reading


def name_repositories(cwd: str) -> None:
    """Say which repositories are asked that may take their time."""
    try:
        repositories = library.SkillsConfig.load(cwd).repositories
    except SkillcError:
        return  # the command itself says what is wrong
    names = [repository.name for repository in repositories if repository.type != "filesystem"]
    if names:
        line.rename(one_line(f"Asking {', '.join(names)}"))


def _draw_reading(root: str, count: int, total: int) -> None:
    """Show how many files are read, or without a total how many directories were looked at."""
    if count and not total:
        line.put(f"{count} directories  {one_line(root)}")
    else:
        line.put(_bar(count, total, "skills read", root) if count < total else "")


def _bar(count: int, total: int, unit: str, name: str) -> str:
    done = f"{count}/{total} {unit}  {one_line(name)}"
    return done if _is_plain() else f"[{'#' * (BAR * count // total):-<{BAR}}] {done}"


def _is_plain() -> bool:
    """Return whether the terminal, or who reads it aloud, has no way to draw over a line."""
    return os.environ.get("TERM") == "dumb"


def _write(text: str) -> None:
    """Write to the terminal itself: the timer may interrupt a write to the stream above it."""
    try:
        os.write(sys.stderr.fileno(), text.encode(sys.stderr.encoding or "ascii", "backslashreplace"))
    except (OSError, ValueError):
        pass  # it is gone
