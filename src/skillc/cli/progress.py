"""Show on a terminal what a command is doing; print nothing anywhere else.

`watch` names what a command does once it takes long. Commands with several steps say more, with
`show_activity` and `Progress`. Not by rich's progress bars: a thread draws them, and a process with two
threads can't give work to forked processes. A timer of the system draws the line again while nothing happens.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

from skillc.cli import PlainStream
from skillc.cli.terminal import is_dumb, measure
from skillc.errors import SkillcError
from skillc.index import skills
from skillc.library import repositories
from skillc.remotes import http
from skillc.tables import width_of
from skillc.text import one_line

BAR = 24
CLEAR = "\r\x1b[K"
TICK = 0.8  # seconds until a command shows a sign of life
INTERVAL = 0.05  # seconds between two drawings of a bar with many steps
FEW = 100  # steps that are all drawn
PAUSE = 10.0  # seconds between two lines where lines can't be drawn over

# What is shown while a command takes long.
ACTIVITIES = {
    command: activity
    for activity, commands in {
        "Asking the registry": "grant login publisher token yank",
        "Asking the repositories": "browse find inventory load repo turn",
        "Bringing it back from the trash": "restore",
        "Changing the lock": "pin unpin",
        "Checking the installation, the stores and agents' directories": "doctor",
        "Comparing files with the lock": "verify",
        "Reading the skill's files": "digest sign",
        "Reading what skills need": "why",
        "Comparing skills with their builds": "info list",
        "Reading what lies in agents' directories": "listing",
        "Comparing the store with the lock": "install lock outdated update",
        "Counting in the logs": "stats sync",
        "Running agents": "eval",
        "Creating the skill": "init",
        "Reading the configuration of agents": "setup",
        "Forgetting the token": "logout",
        "Getting the skills": "add",
        "Listing the files": "sources",
        "Looking for skills": "import",
        "Looking for the section": "show",
        "Looking for the skill": "disable enable open publish search tools trust",
        "Looking for the skills": "audit build lint remove",
        "Measuring caches, builds and leftovers": "clean",
        "Measuring the trash": "trash",
        "Preparing and running the tool": "run",
        "Reading the headings": "outline",
        "Setting agents up": "setup",
        "Reading the skills that may be offered": "hook",
    }.items()
    for command in commands.split()
}


class StatusLine:
    """The last line of the terminal while a command works: what it does, and for how long.

    There is one terminal, so there is one such line.
    """

    def __init__(self) -> None:
        self._activities: list[str] = []  # the innermost is last
        self._step = ""  # of the innermost activity
        self._since = 0.0  # when that began
        self._is_visible = False
        self._is_paused = False
        self._is_free = True  # nothing of a line of output is in the way
        self._last = 0.0  # when it was drawn
        self.downloads: Callable[[], str] = str  # says how much was downloaded

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
        elif not is_dumb():
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
        if text and now - self._last >= (PAUSE if is_dumb() else TICK):
            seconds = int(now - self._since)
            time = f"{seconds} s" if seconds > 1 else ""
            self._draw("  ".join(filter(None, (text, self.downloads(), time))))

    def _draw(self, text: str) -> None:
        if self._is_paused or not self._is_free:
            return
        self._last = monotonic()
        if is_dumb():
            _write(f"{text}\n")
            return
        self._is_visible = True
        columns, _ = measure()
        while width_of(text) >= columns:
            text = text[:-1]
        _write(f"{CLEAR}{text}")

    def hide(self) -> None:
        """Show nothing from now on: a pager or a question has the terminal."""
        self.clear()
        self._is_paused = True

    def resume(self) -> None:
        """Show again what there is to show."""
        self._is_paused = False


line = StatusLine()


@contextmanager
def pause() -> Iterator[None]:
    """Show nothing while a person answers."""
    line.hide()
    try:
        yield
    finally:
        line.resume()


@contextmanager
def show_activity(text: str) -> Iterator[None]:
    """Say what the command is doing, if that takes longer than a second."""
    line.push(one_line(text) if sys.stderr.isatty() else "")
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
            line.put(draw_bar(self._count, self._total, self._unit, name))


def draw_bar(count: int, total: int, unit: str, name: str) -> str:
    """Return a bar with what is done; on a terminal that can't draw, the numbers alone."""
    done = f"{count}/{total} {unit}  {one_line(name)}"
    return done if is_dumb() else f"[{'#' * (BAR * count // total):-<{BAR}}] {done}"


@contextmanager
def watch(command: str) -> Iterator[None]:
    """Show what a command is doing as long as it runs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, PlainStream):
            stream.make_way = line.make_way
    line.downloads = http.describe_downloads
    with show_activity(ACTIVITIES.get(command, "")), _timer():
        yield


@contextmanager
def _timer() -> Iterator[None]:
    try:
        handler = signal.signal(signal.SIGALRM, line.tick)
    except (AttributeError, ValueError):  # on Windows, or not in the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK / 4)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def watch_reading() -> None:
    """Show the progress whenever the skill index has many files to read."""
    skills.skill_index().database.on_progress = _draw_reading


def _draw_reading(root: str, count: int, total: int) -> None:
    """Show how many files are read, or without a total how many directories were looked at."""
    if count and not total:
        line.put(f"{count} directories  {one_line(root)}")
    else:
        line.put(draw_bar(count, total, "skills read", root) if count < total else "")


def name_repositories(cwd: str) -> None:
    """Say which repositories are asked that may take their time."""
    try:
        configured = repositories.SkillsConfig.load(cwd).repositories
    except SkillcError:
        return  # the command itself says what is wrong
    names = [repository.name for repository in configured if repository.type != "filesystem"]
    if names:
        line.rename(one_line(f"Asking {', '.join(names)}"))


def _write(text: str) -> None:
    """Write to the terminal itself: the timer may interrupt a write to the stream above it."""
    try:
        os.write(sys.stderr.fileno(), text.encode(sys.stderr.encoding or "ascii", "backslashreplace"))
    except (OSError, ValueError):
        pass  # it is gone
