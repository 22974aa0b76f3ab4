"""Lay out on a terminal, with rich, what commands print: lines, tables, Markdown, diagnostics.

Loaded only where a person looks, because rich takes longer to load than a reading command takes. All text is
escaped before rich gets it, never as markup, so that a terminal acts on nothing but our styles.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from rich.cells import cell_len
from rich.console import COLOR_SYSTEMS, Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table as Grid
from rich.text import Text
from rich.theme import Theme

from skillc.cli import PlainStream, can_print
from skillc.cli.blocks import (
    BAD,
    CODE,
    CUT,
    FAINT,
    FOLD,
    NEVER,
    STRONG,
    TITLE,
    WARNING,
    WORDS,
    Line,
    Mark,
    Table,
)
from skillc.cli.terminal import columns, has_many_colors
from skillc.text import one_line, terminal_text

# These colours can be read on white and on black. Terminals with eight colours get the nearest of theirs.
THEME = Theme(
    {
        "strong": "bold",
        "faint": "dim",
        "code": "color(31)",
        "good": "color(28)",
        "warning": "color(130)",
        "bad": "bold red",
        "title": "bold magenta",
    },
    inherit=False,
)
UNBOUNDED = 1 << 20  # columns of what is no terminal, where colour was asked for
MIN_WIDTH = 8  # columns that text keeps beside its indent, and a cell in its column
_WORD = re.compile(r"'skc [^']*'\S*|\S+")  # a command is one, so that it can be copied from one line
_LABEL = re.compile(r" *(?:\S+(?: \S+)*  +)?")
_KINDS = {"error[": BAD, "warning[": WARNING}
_KINDS |= dict.fromkeys(("info:", "hint:", "note:", "verbose:"), FAINT)


def print_blocks(lines: Iterable[str], stream: PlainStream) -> None:
    """Print lines and tables on a terminal, or where colour is asked for."""
    console = _console(stream)
    for line in lines:
        for piece in [line] if isinstance(line, Line | Table) else line.split("\n"):
            stream.send(f"{_render(piece, console)}\n")


def render_diagnostics(text: str, stream: PlainStream) -> str:
    """Return what a terminal is sent for text on stderr: errors, warnings and hints stand out."""
    console = _console(stream)
    return "\n".join(_render(_mark_kind(line), console) for line in text.split("\n"))


def render_markdown(text: str, stream: PlainStream) -> str:
    """Return what a terminal is sent for Markdown: its text as it is, with styles."""
    console = _console(stream)
    lines = (Line(*parts, breaks=NEVER) for parts in _mark_markdown(text))
    return "\n".join(_render(line, console) for line in lines)


def _render(line: str, console: Console) -> str:
    if isinstance(line, Table):
        return _print(_grid(line, console), console)
    parts = line.parts if isinstance(line, Line) else (line,)
    texts = [printable(part) for part in parts]
    if getattr(line, "breaks", "") == NEVER or cell_len("".join(texts)) <= console.width:
        # Not by rich, which would change tabs, and takes long for many lines.
        return "".join(_style(part, text, console) for part, text in zip(parts, texts, strict=True))
    styles = [getattr(part, "style", "") for part in parts]
    text = Text.assemble(*zip(texts, styles, strict=True))
    return "\n".join(_print(each, console) for each in _break(text, line, console))


def cut(text: str, width: int) -> str:
    """Return a text in at most `width` columns, with an ellipsis where something is left out.

    Of a path the end is kept: that is where paths differ.
    """
    if cell_len(text) <= width:
        return text
    ellipsis = ("…" if can_print("…") else "...")[: max(width, 0)]
    room = width - len(ellipsis)
    if text.startswith(("/", "~/")):
        return ellipsis + _crop(text[::-1], room)[::-1]
    return _crop(text, room) + ellipsis


def _crop(text: str, width: int) -> str:
    """Return the start of a text that fits into a width."""
    end = min(len(text), max(width, 0))  # no character is narrower than none, most are one column wide
    while end and cell_len(text[:end]) > width:
        end -= 1
    return text[:end]


def printable(text: str) -> str:
    """Return a text without what a terminal acts on, in the characters that its encoding has."""
    text = terminal_text(text)
    if can_print(text):
        return text
    encoding = sys.stdout.encoding or "ascii"
    return text.encode(encoding, sys.stdout.errors or "backslashreplace").decode(encoding)


class _Cell:
    """A cell that is cut to the width of its column."""

    def __init__(self, cell: str) -> None:
        self._text = printable(one_line(cell))
        self._style = cell.style if isinstance(cell, Mark) else ""

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = cell_len(self._text)
        return Measurement(min(width, MIN_WIDTH), width).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(cut(self._text, options.max_width), self._style, no_wrap=True)


def _grid(table: Table, console: Console) -> Grid:
    """Return a table whose widest columns are cut; an ID, which people type elsewhere, is cut last."""
    grid = Grid(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style=STRONG)
    columns = list(zip(table.header, *table.rows, strict=True))
    widths = [max(map(cell_len, column)) for column in columns]
    if sum(widths) + 2 * (len(widths) - 1) > console.width:
        columns = [column for column in columns if any(column[1:])] or columns
    for header, *cells in columns:
        is_number = any(cells) and all(cell.strip().replace(",", "").isdigit() for cell in cells if cell)
        grid.add_column(
            _Cell(header), no_wrap=header in ("ID", "SKILL"), justify="right" if is_number else "left"
        )
    for row in zip(*(column[1:] for column in columns), strict=True):
        grid.add_row(*map(_Cell, row))
    return grid


def _break(text: Text, line: str, console: Console) -> list[Text]:
    """Return a line that is wider than the terminal in lines that are not."""
    breaks = line.breaks if isinstance(line, Line) else WORDS
    if breaks == CUT:
        kept = cut(text.plain, console.width)
        ellipsis = "…" if kept.endswith("…") else "..."
        return [text[: len(kept) - len(ellipsis)] + Text(ellipsis)]
    start, hang = _measure_indent(text.plain, line, console.width)
    head, body = text.divide([start])
    widths = (max(console.width - indent, MIN_WIDTH) for indent in (start, hang))
    first, *others = body.divide(_find_breaks(body.plain, *widths, fold=breaks == FOLD))
    for each in (first, *others):
        each.rstrip()
    return [head + first, *(Text(" " * hang) + each for each in others)]


def _find_breaks(text: str, first: int, others: int, *, fold: bool) -> list[int]:
    """Return where all lines but the first start: at words, and with `fold` within wider ones.

    Not by rich's wrapping, which would break commands, and words that people copy.
    """
    breaks: list[int] = []
    start, width = 0, first
    for word in _WORD.finditer(text):
        if cell_len(text[start : word.end()]) > width and word.start() > start:
            breaks.append(start := word.start())
            width = others
        while fold and cell_len(text[start : word.end()]) > width:
            breaks.append(start := start + max(1, len(_crop(text[start : word.end()], width))))
            width = others
    return breaks


def _measure_indent(text: str, line: str, width: int) -> tuple[int, int]:
    """Return how much of a line is indent or label, and where it goes on below that."""
    indent = len(text) - len(text.lstrip(" "))
    if isinstance(line, Line):
        return indent, indent if line.hang is None else line.hang
    label = _LABEL.match(text)
    start = label.end() if label else 0
    return (start, start) if indent < start <= width // 2 else (indent, indent + 2)


def _mark_kind(line: str) -> str:
    style = next((style for start, style in _KINDS.items() if line.startswith(start)), "")
    if not style:
        return Line(line, breaks=NEVER)
    kind, colon, rest = line.partition(":")
    return Line(Mark(kind + colon, style), rest, hang=2, breaks=WORDS)


def _mark_markdown(text: str) -> Iterator[Sequence[str]]:
    """Yield the parts of each line: headings, code blocks, code within a line."""
    fence = ""
    for line in text.split("\n"):
        start = line.lstrip(" ")
        marker = start[: len(start) - len(start.lstrip("`~"))]
        if fence:
            is_end = marker.startswith(fence) and not start[len(marker) :].strip()
            yield [Mark(line, FAINT if is_end else CODE)]
            fence = "" if is_end else fence
        elif len(marker) >= 3 and len(set(marker)) == 1:
            fence = marker
            yield [Mark(line, FAINT)]
        elif start.startswith("#") and start.lstrip("#")[:1] in ("", " "):
            yield [Mark(line, TITLE)]
        else:
            parts = line.split("`")
            is_code = len(parts) > 2 and len(parts) % 2
            yield [Mark(f"`{p}`", CODE) if n % 2 else p for n, p in enumerate(parts)] if is_code else [line]


def _style(part: str, text: str, console: Console) -> str:
    if not isinstance(part, Mark) or not console.color_system:
        return text
    style, system = console.get_style(part.style), COLOR_SYSTEMS[console.color_system]
    return style.render(text, color_system=system)


def _print(renderable: Text | Grid, console: Console) -> str:
    """Return what a terminal is sent for a renderable, without the spaces that rich fills lines with."""
    with console.capture() as capture:
        console.print(renderable, overflow="ignore", no_wrap=True, crop=False)
    return re.sub(r" +((?:\x1b\[0m)?)$", r"\1", capture.get().removesuffix("\n"), flags=re.MULTILINE)


def _console(stream: PlainStream) -> Console:
    return _make_console(has_many_colors() if stream.is_painted else None, columns() or UNBOUNDED)


@lru_cache(maxsize=4)  # one for each stream, and width
def _make_console(has_many: bool | None, width: int) -> Console:
    """Return a console of rich that writes nowhere; whether there is colour is our decision, not its own."""
    return Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system=None if has_many is None else "256" if has_many else "standard",
        no_color=False,
        width=width,
        height=25,
        theme=THEME,
        legacy_windows=False,
    )
