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


def on_terminal(
    world: World, answer: str, *words: str, env: Mapping[str, str] | None = None, columns: int = 500
) -> tuple[int, str, str]:
    """Return the status, stdout, and what the terminal showed."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = start_skc(
        words,
        cwd=world.project,
        env=world.env | dict(env or {}),
        stdin=terminal,
        stderr=terminal,
        stdout=subprocess.PIPE,
    )
    os.close(terminal)
    os.write(controller, answer.encode())
    out = process.communicate(timeout=120)[0].decode()
    shown = b""
    while True:
        try:
            piece = os.read(controller, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(controller)
    return process.returncode, out, shown.decode().replace("\r\n", "\n")


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
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    pieces: list[bytes] = []

    def read() -> None:
        try:
            while piece := os.read(controller, 65536):
                pieces.append(piece)
        except OSError:  # the last writer is gone
            pass

    reader = threading.Thread(target=read)
    reader.start()
    start_skc(
        words,
        cwd=world.project,
        env={**world.env, "TERM": "xterm", **(env or {})},
        stdin=terminal if has_input else subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
    ).wait(timeout=120)
    os.close(terminal)
    reader.join()
    os.close(controller)
    shown = b"".join(pieces).decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    return shown if with_progress else re.sub(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K", "", shown)
