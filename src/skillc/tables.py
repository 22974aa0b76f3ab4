"""Lay out tables of plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillc.text import one_line

EMOJI_SELECTOR = "\ufe0f"


def format_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table; a cell stays on its line whatever it holds.

    >>> print(*format_table(("SKILL", "SCOPE"), [("pdf", "project")]), sep="\\n")
    SKILL  SCOPE
    pdf    project
    """
    cells = [[*header], *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(map(width_of, column)) for column in zip(*cells, strict=True)]
    return ("  ".join(map(pad, row, widths)).rstrip() for row in cells)


def width_of(text: str) -> int:
    """Return the columns that a text takes on a terminal.

    >>> width_of("abc"), width_of("日本"), width_of("e\\u0301"), width_of("❤\\ufe0f")
    (3, 4, 1, 2)
    """
    if text.isascii():
        return len(text)
    return sum(map(_width_of_character, text))


def _width_of_character(character: str) -> int:
    from unicodedata import category, east_asian_width  # a library of its own, seldom needed

    if character == EMOJI_SELECTOR:  # makes an emoji of the character before it
        return 1
    if category(character) in ("Mn", "Me", "Cf"):  # marks and joiners
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def pad(text: str, width: int) -> str:
    """Return a text with spaces behind it, up to a width."""
    return text + " " * (width - width_of(text))
