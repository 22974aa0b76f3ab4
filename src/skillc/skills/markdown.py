"""Headings of a Markdown document: CommonMark's, with the lines of the section each opens [D6, D15].

>>> found = headings(b"# One\\n\\n## `Two` *x*\\n\\nText\\n# Three\\n")
>>> [(h.level, h.text, h.line, h.end_line) for h in found]
[(1, 'One', 1, 6), (2, 'Two x', 3, 6), (1, 'Three', 6, 7)]

Documents are UTF-8 bytes here, because the parser counts bytes. Lines end as CommonMark's do,
in LF, CRLF or CR.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Heading:
    """A heading and the section below it, which ends before the next heading of its level or a higher one.

    `line` and `end_line` count from 1, `end_line` is exclusive; `start` and `end` are the
    section's byte range, from the beginning of the heading's line.
    """

    __slots__ = ("end", "end_line", "level", "line", "start", "text")

    def __init__(self, level: int, text: str, line: int, end_line: int, start: int, end: int) -> None:
        self.level = level
        self.text = text
        self.line = line
        self.end_line = end_line
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"<Heading {'#' * self.level} {self.text!r} {self.line}-{self.end_line}>"


def headings(data: bytes, body: int = 0) -> list[Heading]:
    """The headings of a document in order; `body` is the byte where its frontmatter ends."""
    last_line = line_count(data) + 1
    found: list[Heading] = []
    line, counted = 1, 0
    for level, text, position in _raw_headings(body_text(data, body)):
        start = _line_start(data, counted, body + position)
        line += newlines(data, counted, start)
        counted = start
        found.append(Heading(level, text, line, last_line, start, len(data)))
    _close_sections(found)
    return found


def _raw_headings(text: str) -> Iterator[tuple[int, str, int]]:
    """Level, plain text and byte position of each heading."""
    if not ("#" in text or "=" in text or "-" in text):
        return  # nothing that could make a heading
    from pyromark import events_with_range  # here, so that what never parses does not load it

    words: list[str] | None = None  # of the heading we are in
    level = position = 0
    events: Iterator[tuple[Any, Any]] = events_with_range(text)
    for event, span in events:
        if words is not None:
            words.append(_plain(event))
        if type(event) is not dict:
            continue
        if "Start" in event and "Heading" in event["Start"]:
            level, position, words = int(event["Start"]["Heading"]["level"][1]), span["start"], []
        elif words is not None and "End" in event and "Heading" in event["End"]:
            yield level, "".join(words).strip().replace("\0", "\ufffd"), position
            words = None


def _plain(event: object) -> str:
    """The plain text of something inside a heading: words, code, and line breaks as spaces."""
    if isinstance(event, dict):
        return str(event.get("Text") or event.get("Code") or "")
    return " " if event in ("SoftBreak", "HardBreak") else ""


def _close_sections(found: list[Heading]) -> None:
    """Give each heading the place where the next one of its level or a higher one starts."""
    following: list[Heading | None] = [None] * 7
    for heading in reversed(found):
        after = following[heading.level]
        if after is not None:
            heading.end_line, heading.end = after.line, after.start
        for level in range(heading.level, 7):
            following[level] = heading


def newlines(data: bytes, start: int, end: int) -> int:
    """How many lines end in a byte range."""
    count = data.count(b"\n", start, end)
    returns = data.count(b"\r", start, end)
    return count + returns - data.count(b"\r\n", start, end) if returns else count


def line_count(data: bytes) -> int:
    """How many lines a document has, a last one without an end included."""
    return newlines(data, 0, len(data)) + (1 if data and data[-1:] not in (b"\n", b"\r") else 0)


def _line_start(data: bytes, known: int, position: int) -> int:
    """Where the line of a position starts; `known` is the start of an earlier line."""
    return max(data.rfind(b"\n", known, position), data.rfind(b"\r", known, position), known - 1) + 1


def body_text(data: bytes, body: int) -> str:
    """What the parser reads. It takes a lone CR for the end of a line in some places only, so it gets LF."""
    content = data[body:]
    if content.count(b"\r") != content.count(b"\r\n"):
        content = b"\r\n".join(part.replace(b"\r", b"\n") for part in content.split(b"\r\n"))
    return content.decode("utf-8", "replace")
