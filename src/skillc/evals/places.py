"""The workspace of evaluations: places for runs, and a cache of those that were made.

    <workspace>/runs/<place>/       an evaluation that is under way: it holds the lock in it
    <workspace>/cache/<digest>/     a run, by all that it depends on
    <workspace>/<skill>/            results, which are links to the files of the cache, and stay

When an evaluation begins while no other one is under way, it drops from the cache what was not used for 30
days and, beyond 1 GiB, what was used longest ago. `skc clean` drops all of it: notes in the home say where.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from skillc import atomic, paths, trash
from skillc.errors import InvalidOption

MAX_AGE = 30 * 86400.0  # seconds that a run is in the cache without being used
MAX_CACHE = 1 << 30  # bytes
_SHARED = "/var/tmp" if os.name == "posix" else os.environ.get("PROGRAMDATA", "C:\\")  # noqa: S108


def find_workspace(named: str, cwd: str) -> str:
    """Return the folder for runs and results, made if it is not there; raises InvalidOption.

    Codex refuses to work below the temporary directory, and Claude Code reads CLAUDE.md of all folders above.
    """
    default = os.path.join(_SHARED, f"skc-eval-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    if not named and os.path.islink(default):  # all users may write where it is
        raise _refuse(default, "is a link; remove it, or name another folder")
    path = os.path.realpath(os.path.join(cwd, os.path.expanduser(named) if named else default))
    home = paths.user_home()
    if home and paths.is_inside(path, os.path.realpath(home)):
        raise _refuse(path, "is below your home, whose CLAUDE.md agents would read; name another folder")
    if paths.is_inside(path, os.path.realpath(tempfile.gettempdir())):
        raise _refuse(path, "is temporary, and Codex refuses to work there; name another folder")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.lstat(path)
    except OSError as error:
        raise _refuse(path, f"can't be made: {error.strerror}") from None
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise _refuse(path, "belongs to another user; name a folder of your own")
    if stat.S_IMODE(status.st_mode) & 0o077 and not named:
        os.chmod(path, 0o700)
    return path


def _refuse(path: str, reason: str) -> InvalidOption:
    return InvalidOption(f"--workspace '{path}' {reason}")


@contextmanager
def open_place(workspace: str) -> Iterator[str]:
    """Make a folder for runs, which is gone afterwards.

    Folders of processes that were killed are removed first: they may hold credentials.
    """
    runs = os.path.join(workspace, "runs")
    for folder in (runs, os.path.join(workspace, "cache")):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    with ExitStack() as stack:
        with atomic.Lock(os.path.join(runs, "lock")):
            for name in os.listdir(runs):
                with suppress(OSError), atomic.Lock(os.path.join(runs, name, "lock"), wait=False):
                    remove_place(os.path.join(runs, name))
            if os.listdir(runs) == ["lock"]:
                _prune(workspace)
            place = os.path.join(runs, os.urandom(6).hex())
            os.mkdir(place, mode=0o700)
            stack.enter_context(atomic.Lock(os.path.join(place, "lock")))
        try:
            yield place
        finally:
            remove_place(place)


def remove_place(folder: str) -> None:
    """Remove a folder, also what an agent made unreadable in it."""
    for directory, names, _ in os.walk(folder):
        for name in names:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                with suppress(OSError):
                    os.chmod(path, 0o700)
    atomic.discard(folder)


def _prune(workspace: str) -> None:
    """Drop what was not used for long; only while no evaluation is under way."""
    folder, size = os.path.join(workspace, "cache"), 0
    atomic.sweep(folder)
    runs = [os.path.join(folder, name) for name in paths.list_names(folder)]
    for path in sorted(runs, key=os.path.getmtime, reverse=True):
        size += trash.measure_size(path)
        if size > MAX_CACHE or time.time() - os.path.getmtime(path) > MAX_AGE:
            atomic.discard(path)
