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
import time
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


class Session:
    """A command at a terminal of a certain size, which a test types at and looks at as a person does."""

    def __init__(
        self,
        world: World,
        *words: str,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._screen = Screen(columns, rows)
        self._columns = columns
        self._words, self._cwd = words, world.project
        self._env = {**world.env, "TERM": "xterm", **(env or {})}

    def __enter__(self) -> Session:
        self._screen.__enter__()
        self._before = termios.tcgetattr(self._screen.end)
        end = self._screen.end
        self.process = start_skc(self._words, cwd=self._cwd, env=self._env, stdin=end, stdout=end, stderr=end)
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=60)
        self._screen.__exit__()

    def press(self, keys: str, *shown: str) -> str:
        """Type keys one by one, each as one write, and return the picture when it shows all texts."""
        for key in re.findall(r"\x1b\[.|.", keys, re.DOTALL):
            self._screen.type(key)
        return self.wait(*shown)

    def wait(self, *shown: str) -> str:
        """Return the picture as soon as it shows all texts."""
        end = time.monotonic() + 20
        while True:
            picture = self.picture()
            if all(text in picture for text in shown):
                return picture
            assert time.monotonic() < end, f"{shown} not in:\n{picture}"
            time.sleep(0.02)

    def finish(self) -> tuple[int, str]:
        """Wait for the end; return the status and the last picture, with the terminal as it was before."""
        status = self.process.wait(timeout=60)
        assert termios.tcgetattr(self._screen.end) == self._before, "the terminal is not as it was"
        os.write(self._screen.end, b"\0")  # comes after all that the command wrote
        while not self.raw.endswith("\0"):
            time.sleep(0.01)
        assert self.raw.rfind("\x1b[?25h") >= self.raw.rfind("\x1b[?25l"), "the cursor is hidden"
        return status, self.picture()

    @property
    def raw(self) -> str:
        return self._screen.text

    def picture(self) -> str:
        """Return the rows that the terminal shows: it moves up, clears, and wraps at its last column."""
        rows, row, column = [""], 0, 0
        for piece in re.findall(r"\x1b\[[?\d;]*[A-Za-z]|.", self.raw, re.DOTALL):
            if match := re.fullmatch(r"\x1b\[(\d*)A", piece):
                row = max(row - int(match[1] or 1), 0)
            elif piece in ("\x1b[J", "\x1b[K"):
                rows[row:] = [rows[row][:column], *(rows[row + 1 :] if piece == "\x1b[K" else [])]
            elif piece == "\r":
                column = 0
            elif piece == "\n" or (piece.isprintable() and column == self._columns):
                row, column = row + 1, 0
                rows += [""] if row == len(rows) else []
            if piece.isprintable():
                rows[row] = f"{rows[row][:column].ljust(column)}{piece}{rows[row][column + 1 :]}"
                column += 1
        return "\n".join(rows)
