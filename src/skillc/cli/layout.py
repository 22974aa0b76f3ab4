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
from itertools import repeat

from rich.cells import cell_len
from rich.console import COLOR_SYSTEMS, Console
from rich.style import Style
from rich.text import Text
from rich.theme import Theme

from skillc.cli import PlainStream, can_print
from skillc.cli.lines import (
    BAD,
    CODE,
    CUT,
    FAINT,
    FOLD,
    GOOD,
    NEVER,
    STRONG,
    TITLE,
    WARNING,
    WHOLE,
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
READABLE = 12  # columns in which most cells can be told apart
CUT_LAST = ("ID", "STATUS")
MIN_WIDTH = 8  # columns that text keeps beside its indent, and a cell in its column
_WORD = re.compile(r"'skc [^']*'\S*|\S+")  # a command is one, so that it can be copied from one line
_LABEL = re.compile(r" *(?:\S+(?: \S+)*  +)?")
_DONE = re.compile(
    "(Added|Allowed|Built|Copied|Created|Deleted|Denied|Disabled|Enabled|Fixed:|Installed|Logged in|Pinned"
    "|Published|Removed|Restored|Revoked|Synced|Unpinned|Updated|Wrote) "
)
_KINDS = {"error[": BAD, "warning[": WARNING}
_KINDS |= dict.fromkeys(("info:", "hint:", "note:", "verbose:"), FAINT)


def print_blocks(lines: Iterable[str], stream: PlainStream) -> None:
    """Print lines and tables on a terminal, or where colour is asked for."""
    console = _console(stream)
    for line in lines:
        for piece in [line] if isinstance(line, Line | Table) else line.split("\n"):
            stream.send(f"{_render(_mark_success(piece), console)}\n")


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
        return _align(line, console)
    parts = line.parts if isinstance(line, Line) else (line,)
    texts, styles = [printable(part) for part in parts], [getattr(part, "style", "") for part in parts]
    breaks = line.breaks if isinstance(line, Line) else WORDS
    is_wide = cell_len("".join(texts)) > console.width
    if breaks == WHOLE and is_wide:
        texts[0] = f"  {texts[0].lstrip(' ')}"
    if breaks in (NEVER, WHOLE) or not is_wide:
        return "".join(map(_style, texts, styles, repeat(console)))
    text = Text.assemble(*zip(texts, styles, strict=True))
    lines = _break(text, line, breaks, console)
    return "\n".join(
        "".join(_paint(*segment[:2], console) for segment in each.render(console)) for each in lines
    )


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


def _align(table: Table, console: Console) -> str:
    """Return the lines of a table that fit the terminal: the widest columns are cut.

    The first column, which says what a row is about, IDs, which people type elsewhere, and what asks for
    something are cut last.
    Not by rich's tables, which take two seconds for the skills of a large library.
    """
    header, *rows = [[printable(one_line(cell)) for cell in row] for row in (table.header, *table.rows)]
    columns: Sequence[int] = range(len(header))
    widths = [max(map(cell_len, column)) for column in zip(header, *rows, strict=True)]
    if sum(widths) + 2 * (len(widths) - 1) > console.width:
        columns = [n for n in columns if any(row[n] for row in rows)] or columns
        columns = _leave_out(table, columns, widths, console.width)
    wanted = {n: min(widths[n], console.width) for n in columns}
    room = console.width - 2 * (len(columns) - 1)
    _shrink(wanted, room, [n for n in columns if n and table.header[n] not in CUT_LAST])
    _shrink(wanted, room, columns)
    is_number = {n: _is_count([row[n] for row in rows]) for n in columns}
    lines = []
    for marks, cells in zip((table.header, *table.rows), (header, *rows), strict=True):
        parts = []
        for n, width in wanted.items():
            text = cut(cells[n], width)
            fill = " " * (width - cell_len(text))
            style = STRONG if marks is table.header else getattr(marks[n], "style", "")
            text = _style(text, style, console)
            parts.append(fill + text if is_number[n] else text + fill)
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def _leave_out(table: Table, columns: Sequence[int], widths: Sequence[int], room: int) -> Sequence[int]:
    """Return the columns without those that can be spared, until the others can be read."""
    for name in table.spare:
        shares = (
            widths[n] if not n or table.header[n] in CUT_LAST else min(widths[n], READABLE) for n in columns
        )
        if sum(shares) + 2 * (len(columns) - 1) <= room:
            break
        columns = [n for n in columns if table.header[n] != name]
    return columns


def _shrink(widths: dict[int, int], room: int, columns: Sequence[int]) -> None:
    """Take from the widest of some columns until all fit, or none of them is wide."""
    while sum(widths.values()) > room:
        widest = max(columns, key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= MIN_WIDTH:
            return
        widths[widest] -= 1


def _is_count(cells: Sequence[str]) -> bool:
    return any(cells) and all(cell.strip().replace(",", "").isdigit() for cell in cells if cell)


def _break(text: Text, line: str, breaks: str, console: Console) -> list[Text]:
    """Return a line that is wider than the terminal in lines that are not."""
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
    start, end, room = 0, 0, first  # of the line so far, and how much is left of it
    for word in _WORD.finditer(text):
        size = cell_len(text[end : word.end()])
        if size > room and word.start() > start:
            breaks.append(start := word.start())
            size, room = cell_len(word[0]), others
        while fold and size > room:  # the word stands alone on its line
            piece = _crop(text[start : start + room], room) or text[start]
            breaks.append(start := start + len(piece))
            size, room = size - cell_len(piece), others
        room, end = room - size, word.end()
    return breaks


def _measure_indent(text: str, line: str, width: int) -> tuple[int, int]:
    """Return how much of a line is indent or label, and where it goes on below that."""
    indent = len(text) - len(text.lstrip(" "))
    if isinstance(line, Line):
        return indent, indent if line.hang is None else line.hang
    label = _LABEL.match(text)
    start = label.end() if label else 0
    return (start, start) if indent < start <= width // 2 else (indent, indent + 2)


def _mark_success(line: str) -> str:
    """Return a sentence of ours with its verb marked, if it says what was done."""
    verb = None if isinstance(line, Line | Table) else _DONE.match(line)
    return Line(Mark(verb[1], GOOD), line[verb.end(1) :], hang=2, breaks=WORDS) if verb else line


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


def _style(text: str, style: str, console: Console) -> str:
    return _paint(text, console.get_style(style) if style else None, console)


def _paint(text: str, style: Style | None, console: Console) -> str:
    if not style or not console.color_system:
        return text
    return style.render(text, color_system=COLOR_SYSTEMS[console.color_system])


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
