"""Say of every command what it does once it takes long, on a terminal."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack, contextmanager

from skillc import library, remotes  # lazy, as the index is
from skillc.cli import PlainStream
from skillc.cli.pager import page_output
from skillc.cli.progress import TICK, Activity, draw_bar, line
from skillc.errors import SkillcError
from skillc.index import skills
from skillc.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


@contextmanager
def attend(words: Sequence[str]) -> Iterator[None]:
    """Show a person at a terminal what the command is doing, and its output in a pager."""
    with ExitStack() as stack:
        if isinstance(sys.stdout, PlainStream):
            stack.enter_context(page_output(words))
        if words and "--watch" not in words and "--help" not in words:
            stack.enter_context(watch(words[0]))
        yield


@contextmanager
def watch(command: str) -> Iterator[None]:
    """Show what a command is doing as long as it runs."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, PlainStream):
            stream.make_way = line.make_way
    line.downloads = remotes.describe_downloads
    with Activity(ACTIVITIES.get(command, "")), _timer():
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
        line.put(draw_bar(count, total, "skills read", root) if count < total else "")
