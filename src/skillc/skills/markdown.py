"""Walk a Markdown document: its headings with their sections, and any other element [D6, D15].

>>> headings = find_headings(b"# One\\n\\n## `Two` *x*\\n\\nText\\n# Three\\n")
>>> [(h.level, h.text, h.line, h.end_line) for h in headings]
[(1, 'One', 1, 6), (2, 'Two x', 3, 6), (1, 'Three', 6, 7)]

Documents are UTF-8 bytes here, because the parser counts bytes. Lines end as CommonMark's do,
in LF, CRLF or CR.
"""

from __future__ import annotations

from skillc.startup import import_parser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from typing import Any

# Elements with text. They do not contain each other, and are yielded when their text is complete.
_WITH_TEXT = frozenset(("Heading", "Paragraph", "CodeBlock", "TableCell"))

TABLES = 1 << 1  # of the parser's options, as in pyromark.Options.ENABLE_TABLES
MAX_NESTING = 50  # quotes and lists that one line can open
_MARKS = bytes.maketrans(b"-+*0123456789.)", b">" * 15)  # the characters of their marks as one


class Element:
    """A block or an inline of a document, with its byte range and the line it starts on.

    `kind` and `detail` are the parser's: a heading's detail has its level, a link's its target. `text`
    is the plain text of a heading, paragraph, code block or table cell.
    """

    __slots__ = ("detail", "end", "kind", "line", "start", "text")

    def __init__(self, kind: str, detail: Any, start: int, end: int, line: int) -> None:
        self.kind = kind
        self.detail = detail
        self.start = start
        self.end = end
        self.line = line
        self.text = ""

    @property
    def level(self) -> int:
        return int(self.detail["level"][1])


def walk(data: bytes, body: int, kinds: Collection[str], *, tables: bool = False) -> Iterator[Element]:
    """Yield the elements of these kinds in order; `body` is the byte where the frontmatter ends.

    Kinds are the parser's: Heading, Paragraph, CodeBlock, Link, Image, HtmlBlock, InlineHtml and, with
    `tables`, Table, TableHead, TableRow and TableCell.
    """
    line, position = 1, 0  # of the last element
    element: Element | None = None  # the one whose text is being read
    words: list[str] = []
    inline_html = "InlineHtml" in kinds
    text = parser_text(data, body)
    parse = import_parser().events_with_range  # here, so that only parsing loads it
    for event, span in parse(text, options=TABLES if tables else 0):
        if element is not None:
            words.append(_plain_text(event))
        if type(event) is not dict:
            continue
        if "Start" in event:
            tag: Any = event["Start"]  # a kind, or a mapping from it to its detail
        elif inline_html and "InlineHtml" in event:
            tag = "InlineHtml"
        else:
            if element is not None and "End" in event and element.kind in event["End"]:
                element.text = "".join(words)
                yield element
                element = None
            continue
        kind = tag if type(tag) is str else next(iter(tag))
        if kind in kinds:
            start = body + span["start"]
            line += newlines(data, position, start)
            position = start
            new = Element(kind, None if kind is tag else tag[kind], start, body + span["end"], line)
            if kind in _WITH_TEXT:
                element, words = new, []
            else:
                yield new


def _plain_text(event: object) -> str:
    """Return the text of an event: words, code, and line breaks as spaces."""
    if isinstance(event, dict):
        return str(event.get("Text") or event.get("Code") or "")
    return " " if event in ("SoftBreak", "HardBreak") else ""


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


def find_headings(data: bytes, body: int = 0) -> list[Heading]:
    """Return the headings of a document in order; `body` is the byte where its frontmatter ends."""
    if data.find(b"#", body) < 0 and data.find(b"=", body) < 0 and data.find(b"-", body) < 0:
        return []  # nothing that could make a heading
    last_line = line_count(data) + 1
    headings: list[Heading] = []
    start = 0
    for element in walk(data, body, ("Heading",)):
        # The line starts after the last line end, or where the heading before it does.
        position = element.start
        start = max(data.rfind(b"\n", start, position), data.rfind(b"\r", start, position), start - 1) + 1
        text = element.text.strip().replace("\0", "\ufffd")
        headings.append(Heading(element.level, text, element.line, last_line, start, len(data)))
    _close_sections(headings)
    return headings


def title_to_show(headings: Sequence[Heading], number: int) -> str:
    """Return the title of a section, or of the nearest above it that is shown: the first of its title is."""
    while number >= 0:
        heading = headings[number]
        title = heading.text.casefold()
        if all(other.text.casefold() != title for other in headings[:number]):
            return heading.text
        above = (n for n in reversed(range(number)) if headings[n].level < heading.level)
        number = next(above, -1)
    return ""


def guess_body(data: bytes) -> int:
    """Return about where the frontmatter ends, without parsing it."""
    if not data.startswith(b"---"):
        return 0
    end = data.find(b"\n---", 3)
    return data.find(b"\n", end + 1) + 1 if end > 0 else 0


def _close_sections(headings: list[Heading]) -> None:
    """End each section where the next heading of its level or a higher one starts."""
    ends: list[Heading | None] = [None] * 7  # by level, the heading that ends a section
    for heading in reversed(headings):
        end = ends[heading.level]
        if end is not None:
            heading.end_line, heading.end = end.line, end.start
        ends[heading.level :] = [heading] * (7 - heading.level)


def newlines(data: bytes, start: int, end: int) -> int:
    """Return how many lines end in a byte range."""
    count = data.count(b"\n", start, end)
    returns = data.count(b"\r", start, end)
    return count + returns - data.count(b"\r\n", start, end) if returns else count


def line_count(data: bytes) -> int:
    """Return how many lines a document has, a last one without an end included."""
    return newlines(data, 0, len(data)) + (1 if data and data[-1:] not in (b"\n", b"\r") else 0)


def parser_text(data: bytes, body: int) -> str:
    """Return the text to parse: with LF for a lone CR, which the parser does not see as a line end."""
    content = data[body:]
    if b"\r" in content and content.count(b"\r") != content.count(b"\r\n"):
        content = b"\r\n".join(part.replace(b"\r", b"\n") for part in content.split(b"\r\n"))
    if b">" * MAX_NESTING in content.translate(_MARKS, b" \t"):
        content = _cut_nesting(content)
    return content.decode("utf-8", "replace")


def _cut_nesting(content: bytes) -> bytes:
    """Make text of what one line nests deeper than MAX_NESTING; all other bytes stay as they are.

    The parser asks every open quote and list about each line that follows.
    """
    import re  # few documents come this far

    rule = rb"(?![ \t]*+(?:(?:-[ \t]*+)++|(?:\*[ \t]*+)++)\r?$)"  # a thematic break nests nothing
    mark = rb"[ \t]*+(?:>|[-+*][ \t]|[0-9]{1,9}[.)][ \t])"
    pattern = rb"^%b((?:%b){%d}[ \t]*+)[->+*0-9]" % (rule, mark, MAX_NESTING)
    return re.sub(pattern, rb"\1x", content, flags=re.MULTILINE)
