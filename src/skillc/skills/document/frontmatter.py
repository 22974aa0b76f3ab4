"""Find the YAML block at the top of a SKILL.md or a reference and read it leniently.

Many real skills have invalid YAML, most often an unquoted colon. Everything that can be understood is
read, and every repair is a diagnostic [D4]. Nothing here raises for bad input.

>>> block = find_frontmatter("---\\nname: pdf\\ndescription: Use when: filling forms\\n---\\n# PDF\\n")
>>> block.fields["description"]
'Use when: filling forms'
>>> [d.code for d in block.diagnostics]
['W011']
"""

from __future__ import annotations

import re

from skillc.errors import warning
from skillc.skills.document.yaml import MAX_NODES, NotYaml, load_yaml
from skillc.startup import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.errors import Diagnostic

MAX_FRONTMATTER = 64 * 1024  # a larger block is not read [D5]

_OPENING = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*+(?=---[ \t]*(?:\r\n|\n|\r|\Z))")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_CLOSING = re.compile(r"---(?!-)")
_ENTRY = re.compile(r"(?s)(['\"]?)([\w][\w.-]*)\1[ \t]*:(?:[ \t]+|$)(.*)")
_COMMENT = re.compile(r"[ \t]+#")
_BREAK = re.compile(r"\r\n|\n|\r")
_HEADING = re.compile(r"(?<=\n)[ \t\r]*\n(?=#{1,6} )")
_BLOCK_SCALAR = re.compile(r"([|>])[-+0-9]*[ \t]+(?=\S)")
_UNCLOSED = "W012", "it is taken to end at the first blank line"


@value
class Frontmatter:
    """A block's fields. `raw` is the YAML source, `end` is where the body starts in the text."""

    fields: dict[str, Any]
    raw: str
    end: int
    diagnostics: tuple[Diagnostic, ...]

    def text(self, field: str) -> str | None:
        """Return a field as text; a number or a list as in the source."""
        value = self.fields.get(field)
        if value is None or isinstance(value, str):
            return value
        chunks, _, _ = _split_entries(self.raw)
        text = _plain_text(chunks[field]) if field in chunks else str(value)
        return text or str(value) if isinstance(value, list | dict) else _COMMENT.split(text, maxsplit=1)[0]

    def sources(self) -> dict[str, str]:
        """Return the YAML of each field by its key: as it stands, or as JSON if it can't stand alone."""
        chunks, _, _ = _split_entries(self.raw)
        return {
            key: _source_of(key, value, "\n".join(chunks.get(key, ())).rstrip())
            for key, value in self.fields.items()
        }


def find_frontmatter(text: str) -> Frontmatter | None:
    """Return the frontmatter at the beginning of a document, or None.

    The block must be a mapping: a document may also open with a thematic break.
    """
    block = _find_fences(text)
    if block is None:
        return None
    start, stop, end, diagnostics = block
    has_fence = stop < end
    first_line = len(text[:start].splitlines()) + 1
    fields, problems = _read(text[start:stop], first_line)
    heading = _HEADING.search(text[start:stop]) if problems else None
    if heading:  # the fence that seemed to close it belongs to the body
        has_fence = False
        stop = end = start + heading.start()
        diagnostics.append(warning(*_UNCLOSED))
        fields, problems = _read(text[start:stop], first_line)
    if fields is None or not (has_fence or {"name", "description"} & fields.keys()):
        return None
    return Frontmatter(fields, text[start:stop], end, (*diagnostics, *problems))


def _source_of(key: str, value: object, source: str) -> str:
    try:
        if load_yaml(f"{source}\n").value == {key: value}:
            return source
    except NotYaml:
        pass
    import json  # an alias, a key in quotes, a repaired field

    return f"{key if _ENTRY.fullmatch(f'{key}:') else json.dumps(key)}: {json.dumps(value)}"


def _find_fences(text: str) -> tuple[int, int, int, list[Diagnostic]] | None:
    """Return where the YAML starts and stops, where the body starts, and diagnostics of the fences.

    An unclosed block stops where the body starts.
    """
    if text.startswith("---\n"):
        stop = text.find("\n---", 3) + 1
        if stop and text.startswith("\n", stop + 3) and "\r" not in text[:stop]:
            return 4, stop, stop + 4, []  # as most skills have it
    opening = _OPENING.match(text)
    if opening is None:
        return None
    diagnostics = [warning("W018")] if opening.end() else []
    start = position = _line_end(text, opening.end())
    first_blank = -1
    while position < len(text):
        end = _line_end(text, position)
        line = text[position:end]
        if _CLOSING.match(line):
            if not line[3:].strip():
                return start, position, end, diagnostics
            # `---# Title`, as some converters write it: the rest of the line belongs to the body
            diagnostics.append(warning("W012", "what follows '---' is read as the body"))
            return start, position, position + 3, diagnostics
        if first_blank < 0 and not line.strip() and position > start:
            first_blank = position
        position = end
    end = first_blank if first_blank >= 0 else len(text)
    return start, end, end, [*diagnostics, warning(*_UNCLOSED)]


def _line_end(text: str, position: int) -> int:
    match = _LINE.match(text, position)
    return match.end() if match else len(text)


def _read(raw: str, first_line: int) -> tuple[dict[str, Any] | None, list[Diagnostic]]:
    """Return the block's fields, None where it is no mapping, and the diagnostics."""
    if len(raw.encode("utf-8", "replace")) > MAX_FRONTMATTER:
        return ({} if _ENTRY.match(raw.lstrip()) else None), [warning("W016", MAX_FRONTMATTER // 1024)]
    try:
        document = load_yaml(raw)
    except NotYaml as error:
        return _repair(raw, first_line, error)
    value = document.value
    if value is None:  # nothing but white space or comments
        return (None if raw.strip() else {}), []
    if not isinstance(value, dict):
        return None, [warning("W017")]
    return value, [warning("W013", key) for key in document.duplicates]


def _repair(raw: str, first_line: int, error: NotYaml) -> tuple[dict[str, Any] | None, list[Diagnostic]]:
    """Read each entry by itself: as YAML where it is YAML, otherwise as plain text."""
    chunks, stray_lines, duplicates = _split_entries(raw)
    fields: dict[str, Any] = {}
    repairs: list[str] = []
    room = MAX_NODES
    for key, lines in chunks.items():
        try:
            entry = load_yaml("\n".join(lines), room)
        except NotYaml:
            entry = None
        if entry and isinstance(entry.value, dict):
            fields.update(entry.value)
            duplicates += entry.duplicates
            room -= entry.weight
        else:
            fields[key] = _plain_text(lines)
            repairs.append(key)
    if not fields:
        return None, [warning("W017")]
    problem = f"line {first_line + error.line}: {error}" if error.line is not None else str(error)
    diagnostics = [warning("W011", problem, ", ".join(repairs) or "nothing")]
    diagnostics += [warning("W013", key) for key in dict.fromkeys(duplicates)]
    diagnostics += [warning("W019", first_line + line) for line in stray_lines]
    return fields, diagnostics


def _split_entries(raw: str) -> tuple[dict[str, list[str]], list[int], list[str]]:
    """Split a block without YAML: the lines of each key, the numbers of stray lines, and repeated keys."""
    chunks: dict[str, list[str]] = {}
    stray: list[int] = []
    duplicates: list[str] = []
    current: list[str] | None = None
    for number, line in enumerate(_BREAK.split(raw)):
        entry = _ENTRY.match(line)
        if entry:
            if entry[2] in chunks:
                duplicates.append(entry[2])
            current = chunks[entry[2]] = [line]
        elif line.startswith("#"):
            continue
        elif current is not None and not line.startswith(("<<<<<<<", "=======", ">>>>>>>")):
            current.append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            stray.append(number)
    return chunks, stray, duplicates


def _plain_text(lines: list[str]) -> str:
    """Return an entry's value, its lines folded as YAML folds plain text, or unchanged after `|`."""
    entry = _ENTRY.match(lines[0])
    first = entry[3] if entry else lines[0]
    block = _BLOCK_SCALAR.match(first)
    if block:
        first = first[block.end() :]
    rest = [line.strip() for line in lines[1:]]
    if block and block[1] == "|":
        return "\n".join([first.strip(), *rest]).strip()
    text = first.strip()
    for line in rest:
        text += "\n" if not line else (line if text.endswith("\n") or not text else " " + line)
    return _strip_quotes(text.strip())


def _strip_quotes(text: str) -> str:
    """Remove the quotes around a text, unless the first of them closes before the end: `"a" or "b"`."""
    quote, inner = text[:1], text[1:-1]
    if len(text) < 2 or quote not in "\"'" or text[-1] != quote:
        return text
    at = inner.find(quote)
    closes = at > 0 and not inner[at - 1].isspace() and not inner[at + 1 : at + 2].isalnum()
    return text if closes else inner.strip()
