"""Draw docs/terminal.svg: a real terminal with the example skill, as README shows it.

`.venv/bin/python scripts/picture.py` runs the commands on a terminal of their own, in an empty home, and
draws what it showed.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "terminal.svg"
COLUMNS = 96
COMMANDS = (
    ("find", "write the notes of a release", "--limit", "1"),
    ("search", "release-notes", "breaking change", "--limit", "2"),
    ("show", "release-notes", "--section", "Breaking changes"),
    ("stats", "release-notes", "--all", "--group-by", "sections"),
)


def show(words: tuple[str, ...], home: str) -> str:
    """Return what a command writes to a terminal."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    env = {"HOME": home, "PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    process = subprocess.Popen(
        [sys.executable, "-m", "skillc", *words, "--no-pager"],
        cwd=home,
        env=env | {"PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    )
    os.close(terminal)
    pieces = []
    try:
        while piece := os.read(controller, 65536):
            pieces.append(piece)
    except OSError:  # the other end is closed
        pass
    process.wait()
    return b"".join(pieces).decode().replace("\r\n", "\n").replace(home, "~")


def draw() -> str:
    with tempfile.TemporaryDirectory() as home, open(os.devnull, "w", encoding="utf-8") as nowhere:
        show(("build", str(ROOT / "examples" / "release-notes")), home)
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        for words in COMMANDS:
            line = " ".join(f'"{word}"' if " " in word else word for word in words)
            console.print(Text.assemble(("$ ", "bold green"), (f"skc {line}", "bold")))
            console.print(Text.from_ansi(show(words, home).rstrip("\n")))
            console.print()
        svg = console.export_svg(title="skc", theme=MONOKAI, unique_id="skc")
    # No request to another host: the fonts of the reader's own machine.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    print(f"Wrote {PICTURE.relative_to(ROOT)}")
