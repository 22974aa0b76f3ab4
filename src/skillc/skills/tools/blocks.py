"""Find the tool blocks of a SKILL.md: H3 sections with a `#### Command` [D35].

Only collects their paragraphs, tables and fences; `definition` says what they mean.

>>> body = b"### greet\\n\\nSay hello.\\n\\n#### Command\\n\\n```bash\\necho hello\\n```\\n"
>>> block = find_blocks(body)[0]
>>> block.title, block.description, block.fences
('greet', 'Say hello.', ['echo hello\\n'])
"""

from __future__ import annotations

from dataclasses import dataclass, field

from skillc.skills.markdown import Element, walk

TOOL_LEVEL = 3
PART_LEVEL = 4
_KINDS = ("Heading", "Paragraph", "CodeBlock", "Table", "TableHead", "TableRow", "TableCell")


@dataclass(slots=True)
class ToolBlock:
    """The content of an H3 section that has a `#### Command`.

    `tables` are rows of cells, the header first; None without a `#### Parameters`.
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


def find_blocks(data: bytes, body: int = 0) -> list[ToolBlock]:
    """Return the H3 sections that have a `#### Command`; `body` is the byte where the frontmatter ends."""
    blocks: list[ToolBlock] = []
    block: ToolBlock | None = None
    part = ""  # the H4 that the walk is below, in lower case
    for element in walk(data, body, _KINDS, tables=True):
        level = element.level if element.kind == "Heading" else 0
        if 0 < level <= TOOL_LEVEL:
            block, part = None, ""
            if level == TOOL_LEVEL:
                block = ToolBlock(element.text.strip(), element.line)
                blocks.append(block)
        elif block is None:
            continue
        elif level == PART_LEVEL:
            part = element.text.strip().casefold()
            block.commands += part == "command"
            if part == "parameters":
                block.tables = block.tables or []
        elif not level:
            _add(block, part, element)
    return [block for block in blocks if block.commands]


def _add(block: ToolBlock, part: str, element: Element) -> None:
    if not part and element.kind == "Paragraph":
        block.paragraphs.append(element.text.strip())
    elif part == "command" and element.kind == "CodeBlock" and element.detail != "Indented":
        block.fences.append(element.text)
    elif part == "parameters" and block.tables is not None:
        if element.kind == "Table":
            block.tables.append([])
        elif element.kind in ("TableHead", "TableRow"):
            block.tables[-1].append([])
        elif element.kind == "TableCell":
            block.tables[-1][-1].append(element.text.strip())
