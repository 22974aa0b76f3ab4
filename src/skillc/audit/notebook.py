"""Read Jupyter notebooks: each cell as Python, a shell's script or Markdown, each output as text.

The JSON is a stranger's: what is no notebook is read word by word, and that is said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from skillc.audit.commands import Read
from skillc.audit.findings import Trace
from skillc.audit.markdown import read_markdown
from skillc.audit.prose import check_prose
from skillc.skills import parse

MAX_CELLS = 2000
_MAGIC = re.compile(r"^%%(?:(bash|sh|script|cmd|system|sx|!)|(javascript|js)|(\w+))\b.*")
_COMMAND = re.compile(
    r"^(\s*)(?:\w+\s*=\s*)?(?:!{1,2}|%(?:system|sx)\s|(?=%(?:pip|conda)\s)%)(.*)", re.MULTILINE
)
_OTHER_MAGIC = re.compile(r"^(\s*)%.*", re.MULTILINE)


def read_notebook(text: str, trace: Trace, read: Read) -> None:
    """Take note of what the cells of a notebook do and say; findings are at their lines of the file."""
    try:
        cells = json.loads(text)["cells"]
        if not isinstance(cells, list):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        trace.report("A09", "is no notebook that can be read, and was read word by word", 1)
        read(trace, "text", text, 1, 0)
        return
    if len(cells) > MAX_CELLS:
        trace.report("A09", f"has {len(cells)} cells; the first {MAX_CELLS} were read", 1)
    finder = _LineFinder(text)
    for cell in cells[:MAX_CELLS]:
        if isinstance(cell, dict):
            _read_cell(cell, finder, trace, read)


def _read_cell(cell: dict[str, Any], finder: _LineFinder, trace: Trace, read: Read) -> None:
    source = _lines(cell.get("source"))
    numbers = finder.find(source)
    inner = trace.branch()
    code = "".join(source)
    if cell.get("cell_type") == "code":
        _read_code(code, inner, read)
    else:
        read_markdown(parse(code.encode("utf-8", "surrogatepass")), code, inner, read)
    trace.take_over(inner, numbers)
    for output in _texts(cell.get("outputs")):
        spoken = trace.branch()
        check_prose(output, spoken)
        trace.take_over(spoken, numbers[-1:])


def _read_code(code: str, trace: Trace, read: Read) -> None:
    magic = _MAGIC.match(code.lstrip())
    if magic:
        language = "shell" if magic[1] else "javascript" if magic[2] else "python"
        read(trace, language, code.replace(magic[0], "", 1), 1, 0)
        return
    for match in _COMMAND.finditer(code):
        read(trace, "shell", match[2], code.count("\n", 0, match.start(2)) + 1, 0)
    read(trace, "python", _OTHER_MAGIC.sub(r"\1pass", _COMMAND.sub(r"\1pass", code)), 1, 0)


def _lines(source: Any) -> list[str]:
    """Return the lines of a cell, which the format has as a list or as one text."""
    pieces = source if isinstance(source, list) else [source]
    return [piece for piece in pieces if isinstance(piece, str)] or [""]


def _texts(outputs: Any) -> Iterator[str]:
    """Yield the texts that a cell printed."""
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, dict):
            data = output.get("data")
            kinds = data if isinstance(data, dict) else {}
            pieces = [
                output.get("text"),
                *(kinds.get(f"text/{kind}") for kind in ("plain", "markdown", "html")),
            ]
            yield from ("".join(_lines(piece)) for piece in pieces if piece)


class _LineFinder:
    """Finds the lines of cells in a notebook's file, in one pass: each is looked for after the one before."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position, self.line = 0, 1
        self.is_lost = False

    def find(self, pieces: list[str]) -> list[int]:
        """Return the line of the file for each line of a cell."""
        numbers: list[int] = []
        for piece in pieces:
            self._move(piece)
            numbers += [self.line] * max(1, piece.count("\n"))
        return numbers

    def _move(self, piece: str) -> None:
        if self.is_lost or not piece:
            return
        forms = (json.dumps(piece, ensure_ascii=ascii) for ascii in (False, True))
        found = next((at for at in (self.text.find(form, self.position) for form in forms) if at >= 0), -1)
        self.is_lost = found < 0  # written in another way: what follows is not looked for, it would take long
        if found >= 0:
            self.line += self.text.count("\n", self.position, found)
            self.position = found + len(piece)
