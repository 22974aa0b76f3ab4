"""Run `skc` in a fork that is killed at the n-th thing it does with a file."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path

from skillc.cli import main

LIMIT = 5000  # events; no command of a test comes near it
READS = ("os.listdir", "os.scandir", "os.walk", "os.fwalk", "glob.glob", "glob.glob/2", "os.chdir")
WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def run_until(step: int, root: Path, *words: str, cwd: Path, status: int = 0) -> bool:
    """Run a command in a fork, kill it at its n-th event below `root`, and return whether it came to its end.

    Events are those that Python tells its auditors: opening, renaming, linking, removing, making directories.
    An exchange of two names has none, but something before it and after it does. Reading does not count: a
    command that is killed there leaves what it would leave at its next change. A command that comes to its
    end exits with `status`. None prints a traceback.
    """
    with tempfile.TemporaryFile() as errors:
        child = os.fork()
        if not child:
            code = 2
            try:
                os.chdir(cwd)
                null = os.open(os.devnull, os.O_RDWR)
                for descriptor, file in ((0, null), (1, null), (2, errors.fileno())):
                    os.dup2(file, descriptor)
                _die_at(step, str(root))
                code = main(words)
            finally:
                os._exit(code)
        _, result = os.waitpid(child, 0)
        errors.seek(0)
        assert b"Traceback" not in errors.read()
    if os.WIFSIGNALED(result):
        assert os.WTERMSIG(result) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(result) == status, words
    return True


def _changes(event: str, arguments: tuple[object, ...]) -> bool:
    """Whether a command may change a file by this event."""
    if event == "open":
        flags = arguments[2]
        return isinstance(flags, int) and bool(flags & WRITE)
    return event not in READS


def _die_at(step: int, root: str) -> None:
    left = step

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if not _changes(event, arguments):
            return
        if any(isinstance(argument, str) and root in argument for argument in arguments):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
