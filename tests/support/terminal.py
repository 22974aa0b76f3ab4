"""Run `skc` with a terminal for questions and answers."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping

from tests.conftest import World


def on_terminal(
    world: World, answer: str, *words: str, env: Mapping[str, str] | None = None, columns: int = 500
) -> tuple[int, str, str]:
    """Return the status, stdout, and what the terminal showed."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "skillc", *words],
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
