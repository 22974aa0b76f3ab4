"""Paint text for a terminal: marks that stand for a style, and what they become.

A style is a pair of marks around a text. Marks are noncharacters of Unicode; the stream for terminals turns
them into escape sequences, and escapes all others. So the worst that a skill's text can do is to look bold.
Without colour `paint` returns the text as it is.
"""

from __future__ import annotations

import os
import sys

from skillc import tables
from skillc.cli import can_print, is_painted
from skillc.cli.wrap import split_words, wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

STRONG, FAINT, CODE, GOOD, WARNING, BAD, TITLE = map(chr, range(0xFDD0, 0xFDD7))
END = chr(0xFDD7)
_SEQUENCES = {
    STRONG: "\x1b[1m",
    FAINT: "\x1b[2m",
    CODE: "\x1b[36m",
    GOOD: "\x1b[32m",
    WARNING: "\x1b[33m",
    BAD: "\x1b[1;31m",
    TITLE: "\x1b[1;35m",
    END: "\x1b[0m",
}
if "256" in os.environ.get("TERM", "") or os.environ.get("COLORTERM"):
    # Yellow, cyan and green of the eight colours can't be read on white. These can, on white and on black.
    _SEQUENCES |= {CODE: "\x1b[38;5;31m", GOOD: "\x1b[38;5;28m", WARNING: "\x1b[38;5;130m"}
_REMOVAL = str.maketrans(dict.fromkeys(_SEQUENCES))

WHEN = ("auto", "always", "never")


def wants_color(when: str, is_terminal: bool) -> bool:
    """Return whether to paint: as `--color` says, then NO_COLOR, FORCE_COLOR, and what the output is."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") != "0":
        return True
    return is_terminal and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str) -> str:
    """Return a text in a style, line by line, where stdout shows styles."""
    if not text or not is_painted():
        return text
    return "\n".join(f"{style}{line}{END}" if line else line for line in strip(text).split("\n"))


def strip(text: str) -> str:
    """Return a text without marks."""
    return text.translate(_REMOVAL)


def translate(text: str, escape: Callable[[str], str]) -> str:
    """Return what a terminal is sent for a text with marks; all else is escaped."""
    if not any(mark in text for mark in _SEQUENCES):
        return escape(text)
    parts, start = [], 0
    for position, character in enumerate(text):
        if character in _SEQUENCES:
            parts += [escape(text[start:position]), _SEQUENCES[character]]
            start = position + 1
    return "".join([*parts, escape(text[start:])])


# What the lines of a command become

OPENING, CLOSING = "[MATCH]", "[/MATCH]"  # around words that a search found [RFC-0004]


def paint_results(lines: Iterable[str]) -> Iterator[str]:
    """Paint search results: where, and below it a snippet with its matches."""
    for line in lines:
        if line.startswith("  "):
            yield from _wrap(paint_matches(line) if is_painted() else line)
        else:
            place, separator, score = line.rpartition(" (score: ")
            place = place.removesuffix("#")  # a match before the first heading of a file
            is_wide = 0 < columns() < width_of(line)
            rest = "" if score == "0.00)" or is_wide else separator + score  # too small to say anything
            yield f"{paint(place, STRONG)}{paint(rest, FAINT)}" if separator else line


def paint_skills(lines: Iterable[str]) -> Iterator[str]:
    """Paint what `find` and `browse` list: a skill, what it is for, why it fits, and how to read it."""
    for line in lines:
        label, colon, rest = line.partition(": ")
        if not line.startswith("  "):
            name, space, rest = line.partition("  ")
            # Without a score it is no skill, but says how many more there are.
            yield f"{paint(name, STRONG)}{paint(space + rest, FAINT)}" if space else line
        elif colon and label.strip() == "read":
            # One line, however long: a command that the terminal itself wraps can be copied whole.
            yield f"{paint(label + colon, FAINT)}{paint(rest, CODE)}"
        elif colon and label.strip().islower() and " " not in label.strip():
            yield paint(line, FAINT)
        else:
            yield from _wrap(line)


def paint_listing(lines: Iterable[str]) -> Iterator[str]:
    """Paint a list of names with a text behind each: two columns, cut to the terminal's width."""
    rows = [line.partition("  ") for line in lines]
    limit = min(MAX_NAME, columns() // 3 or MAX_NAME)  # one long name is not to crowd out all texts
    width = min(limit, max((width_of(name) for name, gap, _ in rows if gap), default=0))
    for name, gap, text in rows:
        if not gap:
            yield from _wrap(name, "")
            continue
        room = columns() - max(width, width_of(name)) - len(gap)
        words = cut(text, max(room, MIN_CELL)) if columns() else text
        yield f"{paint(tables.pad(name, width), STRONG)}{gap}{words}"


def _wrap(line: str, others: str | None = None) -> list[str]:
    """Return an indented line in lines that fit the terminal; `others` is the indent below the first."""
    room = columns()
    if not room or width_of(line) <= room:
        return [line]
    text = line.lstrip(" ")
    indent = line[: len(line) - len(text)]
    others = indent if others is None else others
    return _hang(text, indent, others, room)


def _hang(text: str, start: str, indent: str, room: int, *, whole: bool = False) -> list[str]:
    """Return a text in lines: the first behind `start`, the others behind an indent.

    A word that is wider than a line is broken, because where the terminal breaks it, it goes on in the
    first column, as if it were a line of ours; unless it is to stay `whole`, for copying.
    """
    width = max(room - len(indent), MIN_CELL)
    words = text if whole else split_words(text, width, width_of)
    lines = wrap(_join_commands(words), width, room - width_of(start), width_of) or [""]
    first, *others = [line.replace(JOINT, " ") for line in lines]
    return [f"{start}{first}", *(f"{indent}{line}" for line in others)]


JOINT = "\0"  # a space where no line ends


def _join_commands(text: str) -> str:
    """Return a text with joints in its commands: 'skc find "<task>"' can be copied from one line."""
    before, *pieces = text.split("'skc ")
    commands = [piece.partition("'") for piece in pieces]
    parts = [f"'skc {command}".replace(" ", JOINT) + mark + rest for command, mark, rest in commands]
    return "".join([before, *parts])


def paint_matches(text: str) -> str:
    """Return a snippet with its matches in bold instead of in marks."""
    before, *pieces = text.split(OPENING)
    parts = [before]
    for piece in pieces:
        match, closing, rest = piece.partition(CLOSING)
        parts += [paint(match, STRONG), rest] if closing else [OPENING, piece]
    return "".join(parts)


def paint_outline(lines: Iterable[str]) -> Iterator[str]:
    """Paint an outline: files, and the hashes of headings behind them."""
    for line in lines:
        text = line.lstrip(" #")
        yield f"{paint(line[: -len(text) or None], FAINT)}{text}" if line[:1] == " " else paint(line, STRONG)


def paint_markdown(lines: Iterable[str]) -> Iterator[str]:
    """Paint lines of Markdown: headings, code blocks, code within a line."""
    fence = ""
    for line in lines:
        start = line.lstrip(" ")
        marker = start[: len(start) - len(start.lstrip("`~"))]
        if fence:
            is_end = marker.startswith(fence) and not start[len(marker) :].strip()
            yield paint(line, FAINT if is_end else CODE)
            fence = "" if is_end else fence
        elif len(marker) >= 3 and len(set(marker)) == 1:
            fence = marker
            yield paint(line, FAINT)
        elif start.startswith("#") and start.lstrip("#")[:1] in ("", " "):
            yield paint(line, TITLE)
        else:
            yield _paint_code(line)


def _paint_code(line: str) -> str:
    parts = line.split("`")
    if len(parts) < 3 or len(parts) % 2 == 0:
        return line
    return "".join(paint(f"`{part}`", CODE) if number % 2 else part for number, part in enumerate(parts))


def paint_diagnostics(text: str) -> str:
    """Paint the start of each line that is an error, a warning or a hint."""
    return "\n".join(map(_paint_diagnostic, strip(text).split("\n")))


_KINDS = {"error[": BAD, "warning[": WARNING}
_KINDS |= dict.fromkeys(("info:", "hint:", "note:", "verbose:"), FAINT)


def _paint_diagnostic(line: str) -> str:
    style = next((style for start, style in _KINDS.items() if line.startswith(start)), "")
    if not style:
        return line
    if room := columns():
        line = "\n".join(_hang(line, "", "  ", room, whole=True)) if width_of(line) > room else line
    kind, colon, rest = line.partition(":")
    return f"{style}{kind}{colon}{END}{rest}"


def paint_findings(lines: Iterable[str]) -> Iterator[str]:
    """Paint the findings of a file: the number of the line, and the code."""
    for line in lines:
        first, *others = _wrap(line, "      ")
        place, colon, rest = first.partition(": ")
        kind, end, text = rest.partition(": ")
        style = BAD if kind.startswith("error") else WARNING
        yield f"{paint(place + colon, FAINT)}{paint(kind + end, style)}{text}"
        yield from others


def paint_problems(lines: Iterable[str]) -> Iterator[str]:
    """Paint lines that start with an error or a warning and its code."""
    for line in lines:
        first, *others = _wrap(line, "  ")
        kind, colon, rest = first.partition(":")
        style = next((style for start, style in _KINDS.items() if first.startswith(start)), "")
        yield f"{paint(kind + colon, style)}{rest}" if style else first
        yield from others


def paint_checks(lines: Iterable[str]) -> Iterator[str]:
    """Paint the checks of `doctor`: a word for the result, the name, and what was found."""
    styles = {"ok": GOOD, "warning": WARNING, "error": BAD}
    for line in lines:
        word = line.partition(" ")[0]
        if line.startswith(CHECK_GAP):
            yield _paint_fix(line)
        elif word in styles:
            first, *others = _wrap_check(line)
            yield f"{paint(word, styles[word])}{first[len(word) :]}"
            yield from others
        else:
            yield from _wrap(line, "  ")


def _wrap_check(line: str) -> list[str]:
    """Return a check in lines: below what it says, or near the edge where that has no room for a path."""
    room, text = columns(), line[len(CHECK_GAP) :]
    if not room or width_of(line) <= room:
        return [line]
    if max(map(width_of, text.split()), default=0) <= room - len(CHECK_GAP):
        return _hang(text, line[: len(CHECK_GAP)], CHECK_GAP, room)
    return [line[: len(CHECK_GAP)].rstrip(), *_hang(text, "  ", "  ", room)]


def _paint_fix(line: str) -> str:
    """Return the line of a command as one, for copying: near the edge where it is long."""
    label, colon, command = line.partition(": ")
    if 0 < columns() < width_of(line):
        label = f"  {label.lstrip(' ')}"
    return f"{label}{colon}{paint(command, CODE)}"


def paint_report(lines: Iterable[str]) -> Iterator[str]:
    """Break sentences of a report between words; paths and other words stay whole, for copying."""
    for line in (line for text in lines for line in text.split("\n")):
        if 0 < columns() < width_of(line):
            yield from _hang_report(line)
        else:
            yield line


def _hang_report(line: str) -> list[str]:
    """Return a long line in several: below what stands behind its label, or a little further in."""
    text = line.lstrip(" ")
    indent = line[: len(line) - len(text)]
    label, gap, _ = text.partition("  ")
    rest = text[len(label) :].lstrip(" ")
    start = line[: len(line) - len(rest)]
    if gap and width_of(start) <= columns() // 2:
        return _hang(rest, start, " " * width_of(start), columns(), whole=True)
    return _hang(text, indent, f"{indent}  ", columns(), whole=True)


def paint_statuses(lines: Iterable[str]) -> Iterator[str]:
    """Paint the rows of a table whose last cell says that something is to be done."""
    for line in lines:
        start, gap, status = line.rpartition("  ")
        is_open = status.startswith(("not-built", "obsolete"))
        yield f"{start}{gap}{paint(status, WARNING)}" if is_open else line


# How much room there is

CHECK_GAP = " " * 24  # stands before what a check of `doctor` says, where it has several lines
MAX_NAME = 40  # columns for names in a list
MIN_CELL = 8  # columns that a cell keeps when its table is cut


def width_of(text: str) -> int:
    """Return the columns that a text takes on a terminal, without marks, and as its encoding has it."""
    if text.isascii():
        return len(text)
    text, encoding = strip(text), sys.stdout.encoding or "ascii"
    if not can_print(text):
        text = text.encode(encoding, sys.stdout.errors or "backslashreplace").decode(encoding)
    return tables.width_of(text)


def cut(text: str, width: int) -> str:
    """Return a text in at most `width` columns, with an ellipsis where something is left out."""
    if width_of(text) <= width:
        return text
    if width < 1:
        return ""
    ellipsis = "…" if can_print("…") else "..."[:width]
    room, kept = width - len(ellipsis), []
    for character in text:
        room -= width_of(character)
        if room < 0:
            break
        kept.append(character)
    return f"{''.join(kept)}{ellipsis}"


def cut_path(text: str, width: int) -> str:
    """Return the end of a path in at most `width` columns: that is where paths differ."""
    if width_of(text) <= width or not text.startswith(("/", "~/")):
        return cut(text, width)
    return cut(text[::-1], width)[::-1] if text.isascii() else cut(text, width)


def columns() -> int:
    """Return the width of the terminal that stdout is; 0 where it is none."""
    if not sys.stdout.isatty():
        return 0
    width = os.environ.get("COLUMNS", "")
    if width.isascii() and width.isdigit() and int(width) > 0:
        return int(width)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80
    except (OSError, ValueError):
        return 80


def fit_cells(cells: list[list[str]], room: int) -> list[list[str]]:
    """Return the cells of a table, the header first, as they fit into lines of `room` columns."""
    wide = sum(tables.measure(cells)) + 2 * (len(cells[0]) - 1) > room
    table = [column for column in zip(*cells, strict=True) if not wide or any(column[1:])]
    table = table or [*zip(*cells, strict=True)]
    widths = [max(map(width_of, column)) for column in table]
    widths = fit(widths, room, {number for number, (title, *_) in enumerate(table) if title == "ID"})
    rows = zip(*map(_fit_column, table, widths), strict=True)
    return [list(row) for row in rows]


def _fit_column(column: Sequence[str], width: int) -> list[str]:
    """Return the cells of a column in a width, numbers on the right."""
    cells = [cut_path(cell, width) for cell in column]
    is_number = any(column[1:]) and all(
        cell.strip().replace(",", "").isdigit() for cell in column[1:] if cell
    )
    return [f"{cell:>{max(map(len, cells))}}" for cell in cells] if is_number else cells


def fit(widths: list[int], room: int, last: Container[int] = ()) -> list[int]:
    """Return widths of columns that fit into a line: the widest give way first, but these `last`.

    >>> fit([5, 40, 30], 50)
    [5, 20, 21]
    >>> fit([40, 12, 30], 60, {0})
    [40, 8, 8]
    """
    widths = list(widths)
    excess = sum(widths) + 2 * (len(widths) - 1) - room
    while excess > 0:
        wide = [number for number, width in enumerate(widths) if width > MIN_CELL]
        if not wide:
            break
        widest = max([number for number in wide if number not in last] or wide, key=widths.__getitem__)
        widths[widest] -= 1
        excess -= 1
    return widths
