"""Draw README's pictures: docs/terminal.svg, a real terminal with the example skill, and docs/listing.svg.

`.venv/bin/python scripts/picture.py` runs the commands on a terminal of their own, in an empty home, and
draws what it showed. What agents see of 199 skills is drawn from the table in docs/agents.md.
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
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from skillc.palette import DARK, LIGHT

ROOT = Path(__file__).resolve().parent.parent
PICTURE, LISTING = ROOT / "docs" / "terminal.svg", ROOT / "docs" / "listing.svg"
SKILLS, AGENTS = "199", ("Claude Code", "Codex")
CELL, IN_ROW = 8, 40  # skills are squares: so wide with the gap, and so many in a row
# What stands for a skill in the picture: its class, and its colour in light and dark.
COLOURS = {
    "whole": ("#14855a", "#4cc38a"),
    "cut": ("#d98a00", "#f0a63c"),
    "name": ("#b8bec6", "#59636e"),
    "found": ("#7fb9c8", "#2f7f92"),
}
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


def draw_listing() -> str:
    """Draw a square for each skill, in the colour of what the model is told of it."""
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    parts: list[str] = []
    top = 24
    for agent in AGENTS:
        cells = re.search(rf"^\| {agent} \| {SKILLS} \| (.*) \|$", text, re.MULTILINE)
        assert cells is not None, agent
        whole, cut, name, absent, _, after, rest, demand, _ = map(int, cells[1].replace(",", "").split(" | "))
        before = {
            "whole": (whole, "whole"),
            "cut": (cut, "cut"),
            "by name alone": (name, "name"),
            "not told": (absent, "name"),
        }
        then = {
            "whole": (after, "whole"),
            "cut": (rest, "cut"),
            "found on demand": (demand, "found"),
        }
        for label, counts in ((f"{agent}, {SKILLS} skills", before), ("with skc", then)):
            parts += _draw_row(top, label, counts)
            top += 22 + (int(SKILLS) + IN_ROW - 1) // IN_ROW * CELL + 14
        top += 10
    width = IN_ROW * CELL + 24
    box = f'viewBox="0 0 {width} {top - 10}" role="img" style="font: 13px system-ui, sans-serif"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box}>'
    title = "<title>What the model is told of 199 skills, without and with skc</title>"
    back = f'<rect class="ground" width="{width}" height="{top - 10}" rx="6"/>'
    return "\n".join((head, title, _write_style(), back, *parts, "</svg>", ""))


def _write_style() -> str:
    """Return the colours, in light and for those who prefer dark."""
    colours = COLOURS | {"ground": (LIGHT["ground"], DARK["ground"]), "ink": (LIGHT["ink"], DARK["ink"])}
    light, dark = (
        " ".join(f".{name} {{ fill: {each[n]} }}" for name, each in colours.items()) for n in (0, 1)
    )
    return f"<style>{light} @media (prefers-color-scheme: dark) {{ {dark} }}</style>"


def _draw_row(top: int, title: str, counts: dict[str, tuple[int, str]]) -> Iterator[str]:
    words = ", ".join(f"{count} {what}" for what, (count, _) in counts.items() if count)
    yield f'<text x="12" y="{top}" class="ink"><tspan font-weight="600">{title}</tspan>: {words}</text>'
    squares = [state for count, state in counts.values() for _ in range(count)]
    for number, state in enumerate(squares):
        x, y = 12 + number % IN_ROW * CELL, top + 8 + number // IN_ROW * CELL
        yield f'<rect x="{x}" y="{y}" width="{CELL - 2}" height="{CELL - 2}" class="{state}"/>'


if __name__ == "__main__":
    LISTING.write_text(draw_listing(), encoding="utf-8")
    PICTURE.write_text(draw(), encoding="utf-8")
    print(f"Wrote {LISTING.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}")
