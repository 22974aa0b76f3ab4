"""Run `skc` with a terminal for questions and answers."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading
from collections.abc import Mapping

from tests.conftest import World
from tests.support.forks import start_skc


class Screen:
    """A terminal, and all that was written to it; a context, in which programs get its `end`."""

    def __init__(self, columns: int, rows: int = 50) -> None:
        self._controller, self.end = pty.openpty()
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._pieces: list[bytes] = []
        self._reader = threading.Thread(target=self._read)

    def _read(self) -> None:
        try:
            while piece := os.read(self._controller, 65536):
                self._pieces.append(piece)
        except OSError:  # the last writer is gone
            pass

    def __enter__(self) -> Screen:
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.end)
        self._reader.join()
        os.close(self._controller)

    def type(self, text: str) -> None:
        os.write(self._controller, text.encode())

    @property
    def text(self) -> str:
        return b"".join(self._pieces).decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def on_terminal(
    world: World, answer: str, *words: str, env: Mapping[str, str] | None = None, columns: int = 500
) -> tuple[int, str, str]:
    """Return the status, stdout, and what the terminal showed, which is stdin and stderr."""
    variables = world.env | dict(env or {})
    with Screen(columns) as screen:
        process = start_skc(
            words,
            cwd=world.project,
            env=variables,
            stdin=screen.end,
            stderr=screen.end,
            stdout=subprocess.PIPE,
        )
        screen.type(answer)
        out = process.communicate(timeout=120)[0].decode()
    return process.returncode, out, screen.text


def show_on_terminal(
    world: World,
    *words: str,
    env: Mapping[str, str] | None = None,
    columns: int = 80,
    rows: int = 50,
    has_input: bool = False,
    with_progress: bool = False,
) -> str:
    """Return all that a command writes to a terminal, which is its stdout and stderr, and maybe its stdin.

    What it shows only for a while, which depends on the machine, is left out unless `with_progress` is set.
    """
    with Screen(columns, rows) as screen:
        start_skc(
            words,
            cwd=world.project,
            env={**world.env, "TERM": "xterm", **(env or {})},
            stdin=screen.end if has_input else subprocess.DEVNULL,
            stdout=screen.end,
            stderr=screen.end,
        ).wait(timeout=120)
    shown = screen.text
    return shown if with_progress else re.sub(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K", "", shown)
