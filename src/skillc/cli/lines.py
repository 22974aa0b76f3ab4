"""What a command prints, as values: marked words, lines and tables.

Each is a text, which is what a pipe gets, and knows more of itself: `layout` shows it on a terminal with
styles, and as wide as that is. Plain texts are sentences.

>>> print(Line(Mark("pdf", STRONG), "  Fill forms"))
pdf  Fill forms
"""

from __future__ import annotations

from collections.abc import Sequence

from skillc.tables import format_table

STRONG, FAINT, CODE, GOOD, WARNING, BAD, TITLE = "strong", "faint", "code", "good", "warning", "bad", "title"

# How a line is broken that is wider than the terminal.
WORDS = "words"  # between words; paths and other long words stay whole, for copying
FOLD = "fold"  # also within words: text of a skill must not go on in the first column, as if it were ours
CUT = "cut"  # the end is left out
NEVER = "never"  # a text looks as it is written, and the terminal wraps it
WHOLE = "whole"  # a command, as NEVER, so that it can be copied; near the edge where it is wide


class Mark(str):
    """A text in a style."""

    style: str

    def __new__(cls, text: str, style: str) -> Mark:
        mark = super().__new__(cls, text)
        mark.style = style
        return mark


class Line(str):
    """A line of texts and marks; where it is broken, it goes on behind `hang` spaces."""

    parts: tuple[str, ...]
    hang: int | None
    breaks: str

    def __new__(cls, *parts: str, hang: int | None = None, breaks: str = FOLD) -> Line:
        line = super().__new__(cls, "".join(parts))
        line.parts, line.hang, line.breaks = parts, hang, breaks
        return line


class Table(str):
    """A table for people; a cell stays on its line whatever it holds.

    Where it is far too wide for a terminal, the columns in `spare` are left out, the first of them first.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    spare: Sequence[str]

    def __new__(
        cls, header: Sequence[str], rows: Sequence[Sequence[str]], spare: Sequence[str] = ()
    ) -> Table:
        table = super().__new__(cls, "\n".join(format_table(header, rows)))
        table.header, table.rows, table.spare = header, rows, spare
        return table
