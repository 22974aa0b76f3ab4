"""The tool blocks of a SKILL.md as Markdown has them: headings, paragraphs, tables and fences in order [D35].

Says nothing of what they mean; `definition` does.

>>> body = b"### greet\\n\\nSay hello.\\n\\n#### Command\\n\\n```bash\\necho hello\\n```\\n"
>>> block = find_blocks(body)[0]
>>> block.title, block.description, block.fences
('greet', 'Say hello.', ['echo hello\\n'])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skillc.skills.markdown import body_text, newlines

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOL_LEVEL = 3
PART_LEVEL = 4


@dataclass(slots=True)
class ToolBlock:
    """What stands below an H3 that has a `#### Command`.

    `tables` are rows of cells, the header first; None where there is no `#### Parameters` at all.
    """

    title: str
    line: int
    paragraphs: list[str] = field(default_factory=list)
    tables: list[list[list[str]]] | None = None
    commands: int = 0
    fences: list[str] = field(default_factory=list)

    @property
    def description(self) -> str:
        return "\n\n".join(self.paragraphs)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block of the document: `level` is a heading's and 0 otherwise, `rows` are a table's."""

    kind: str
    text: str
    position: int
    level: int = 0
    rows: tuple[list[str], ...] = ()


def find_blocks(data: bytes, body: int = 0) -> list[ToolBlock]:
    """The H3 sections that have a `#### Command`; `body` is the byte where the frontmatter ends."""
    found: list[ToolBlock] = []
    block: ToolBlock | None = None
    part = ""
    line, counted = 1, 0
    for piece in _pieces(body_text(data, body)):
        if piece.kind == "Heading" and piece.level <= TOOL_LEVEL:
            block, part = None, ""
            if piece.level == TOOL_LEVEL:
                line += newlines(data, counted, body + piece.position)
                counted = body + piece.position
                block = ToolBlock(piece.text, line)
                found.append(block)
        elif block is None:
            continue
        elif piece.kind == "Heading" and piece.level == PART_LEVEL:
            part = piece.text.casefold()
            block.commands += part == "command"
            if part == "parameters":
                block.tables = block.tables or []
        elif piece.kind != "Heading":
            _add(block, part, piece)
    return [block for block in found if block.commands]


def _add(block: ToolBlock, part: str, piece: _Piece) -> None:
    if not part and piece.kind == "Paragraph":
        block.paragraphs.append(piece.text)
    elif part == "parameters" and piece.kind == "Table" and block.tables is not None:
        block.tables.append(list(piece.rows))
    elif part == "command" and piece.kind == "CodeBlock":
        block.fences.append(piece.text)


def _pieces(text: str) -> Iterator[_Piece]:
    """Headings, paragraphs, tables and fenced blocks in order, with their plain text."""
    from pyromark import Options, events_with_range

    events: Iterator[tuple[Any, Any]] = events_with_range(text, options=Options.ENABLE_TABLES)
    for event, span in events:
        tag = event.get("Start") if isinstance(event, dict) else None
        kind: str | None = next(iter(tag)) if isinstance(tag, dict) else tag
        detail: Any = tag[kind] if isinstance(tag, dict) else None
        at = span["start"]
        if kind == "Heading":
            yield _Piece(kind, _text(events, kind).strip(), at, int(detail["level"][1]))
        elif kind == "Paragraph":
            yield _Piece(kind, _text(events, kind).strip(), at)
        elif kind == "CodeBlock" and isinstance(detail, dict):  # a fence; indented code has no detail
            yield _Piece(kind, _text(events, kind), at)
        elif kind == "Table":
            yield _Piece(kind, "", at, rows=tuple(_rows(events)))


def _text(events: Iterator[tuple[Any, Any]], end: str) -> str:
    """The plain text up to the end of the block that was just opened."""
    words: list[str] = []
    for event, _ in events:
        if _ends(event, end):
            break
        if isinstance(event, dict):
            words.append(str(event.get("Text") or event.get("Code") or ""))
        elif event in ("SoftBreak", "HardBreak"):
            words.append(" ")
    return "".join(words)


def _rows(events: Iterator[tuple[Any, Any]]) -> Iterator[list[str]]:
    """The rows of a table, the header first."""
    cells: list[str] = []
    for event, _ in events:
        if _ends(event, "Table"):
            return
        if isinstance(event, dict) and event.get("Start") == "TableCell":
            cells.append(_text(events, "TableCell").strip())
        elif _ends(event, "TableRow") or _ends(event, "TableHead"):
            yield cells
            cells = []


def _ends(event: object, kind: str) -> bool:
    tag = event.get("End") if isinstance(event, dict) else None
    return tag == kind or (isinstance(tag, dict) and kind in tag)
