"""The YAML block at the top of a SKILL.md or a reference: found and read leniently.

Real skills break YAML by the thousand, most often with an unquoted colon. What can be
understood is, and every repair is a diagnostic [D4]. Nothing here raises for bad input.

>>> block = find("---\\nname: pdf\\ndescription: Use when: filling forms\\n---\\n# PDF\\n")
>>> block.fields["description"]
'Use when: filling forms'
>>> [d.code for d in block.diagnostics]
['W011']
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from skillc.errors import Diagnostic, warning
from skillc.skills import yaml

MAX_BYTES = 64 * 1024  # a larger block is not read [D5]

_OPENING = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*+(?=---[ \t]*(?:\r\n|\n|\r|\Z))")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_CLOSING = re.compile(r"---(?!-)")
_ENTRY = re.compile(r"(['\"]?)([\w][\w.-]*)\1[ \t]*:(?:[ \t]+|$)(.*)", re.DOTALL)
_COMMENT = re.compile(r"[ \t]+#")
_BREAK = re.compile(r"\r\n|\n|\r")
_HEADING = re.compile(r"(?<=\n)[ \t\r]*\n(?=#{1,6} )")
_BLOCK_SCALAR = re.compile(r"([|>])[-+0-9]*[ \t]+(?=\S)")


_UNCLOSED = warning("W012", "it is taken to end at the first blank line")


class Frontmatter(NamedTuple):
    """What a block holds. `raw` is the YAML as it stands; `end` is where the body starts in the text."""

    fields: dict[str, Any]
    raw: str
    end: int
    diagnostics: tuple[Diagnostic, ...]

    def text(self, field: str) -> str | None:
        """A field as text: what is no text in YAML (a number, a list) is read as it was written."""
        value = self.fields.get(field)
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, list | dict):
            return _plain_entries(self.raw).plain.get(field) or str(value)
        written = _plain_entries(self.raw).plain.get(field, str(value))
        return _COMMENT.split(written, maxsplit=1)[0]


def find(text: str) -> Frontmatter | None:
    """The frontmatter at the beginning of a document, or None where there is none.

    A document that opens with a thematic break is no frontmatter: the block must be a mapping.
    """
    block = _cut(text)
    if block is None:
        return None
    start, stop, end, noticed = block
    closed = stop < end
    first_line = len(_BREAK.findall(text, 0, start)) + 1
    fields, problems = _read(text[start:stop], first_line)
    heading = _HEADING.search(text[start:stop]) if problems else None
    if heading:  # the fence that seemed to close it belongs to the body
        closed = False
        stop = end = start + heading.start()
        noticed.append(_UNCLOSED)
        fields, problems = _read(text[start:stop], first_line)
    if fields is None or not (closed or {"name", "description"} & fields.keys()):
        return None
    return Frontmatter(fields, text[start:stop], end, (*noticed, *problems))


def _cut(text: str) -> tuple[int, int, int, list[Diagnostic]] | None:
    """Where the block's YAML starts and stops and where the body starts; what was odd about the fences.

    An unclosed block stops where the body starts.
    """
    opening = _OPENING.match(text)
    if opening is None:
        return None
    noticed = [warning("W018")] if opening.end() else []
    start = position = _line_end(text, opening.end())
    first_blank = -1
    while position < len(text):
        end = _line_end(text, position)
        line = text[position:end]
        if _CLOSING.match(line):
            if not line[3:].strip():
                return start, position, end, noticed
            # `---# Title`, as some converters write it: the rest of the line is the body's
            noticed.append(warning("W012", "what follows '---' is read as the body"))
            return start, position, position + 3, noticed
        if first_blank < 0 and not line.strip() and position > start:
            first_blank = position
        position = end
    end = first_blank if first_blank >= 0 else len(text)
    return start, end, end, [*noticed, _UNCLOSED]


def _line_end(text: str, position: int) -> int:
    match = _LINE.match(text, position)
    return match.end() if match else len(text)


def _read(raw: str, first_line: int) -> tuple[dict[str, Any] | None, list[Diagnostic]]:
    """The block's fields; None where it is no mapping at all."""
    if len(raw.encode("utf-8", "replace")) > MAX_BYTES:
        return ({} if _ENTRY.match(raw.lstrip()) else None), [warning("W016", MAX_BYTES // 1024)]
    try:
        value, duplicates, _ = yaml.load(raw)
    except yaml.NotYaml as error:
        return _repair(raw, first_line, error)
    if value is None:  # nothing, or what YAML takes for comments
        return (None if raw.strip() else {}), []
    if not isinstance(value, dict):
        return None, [warning("W017")]
    return value, [warning("W013", key) for key in duplicates]


def _repair(raw: str, first_line: int, error: yaml.NotYaml) -> tuple[dict[str, Any] | None, list[Diagnostic]]:
    """Each entry by itself: as YAML where it is YAML, otherwise as plain text."""
    entries = _plain_entries(raw)
    fields: dict[str, Any] = {}
    repaired: list[str] = []
    duplicates = list(entries.duplicates)
    room = yaml.MAX_NODES
    for key, chunk in entries.chunks.items():
        try:
            loaded = yaml.load(chunk, room)
        except yaml.NotYaml:
            loaded = None
        if loaded and isinstance(loaded.value, dict):
            fields.update(loaded.value)
            duplicates += loaded.duplicates
            room -= loaded.weight
        else:
            fields[key] = entries.plain[key]
            repaired.append(key)
    if not fields:
        return None, [warning("W017")]
    problem = f"line {first_line + error.line}: {error}" if error.line is not None else str(error)
    noticed = [warning("W011", problem, ", ".join(repaired) or "nothing")]
    noticed += [warning("W013", key) for key in dict.fromkeys(duplicates)]
    noticed += [warning("W019", first_line + line) for line in entries.stray]
    return fields, noticed


class _Entries(NamedTuple):
    plain: dict[str, str]
    chunks: dict[str, str]
    stray: list[int]
    duplicates: list[str]


def _plain_entries(raw: str) -> _Entries:
    """The block line by line, without YAML: values as plain text, the lines of each, lines of none."""
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
    plain = {key: _plain_text(lines) for key, lines in chunks.items()}
    return _Entries(plain, {key: "\n".join(lines) for key, lines in chunks.items()}, stray, duplicates)


def _plain_text(lines: list[str]) -> str:
    """An entry's value with its lines folded as YAML folds plain text, or kept after `|`."""
    entry = _ENTRY.match(lines[0])
    first = entry[3] if entry else lines[0]
    block = _BLOCK_SCALAR.match(first)
    if block:
        first = first[block.end() :]
    rest = [line.strip() for line in lines[1:]]
    if block and block[1] == "|":
        return "\n".join([first.strip(), *rest]).strip()
    folded = first.strip()
    for line in rest:
        folded += "\n" if not line else (line if folded.endswith("\n") or not folded else " " + line)
    folded = folded.strip()
    return _unquoted(folded)


def _unquoted(text: str) -> str:
    """Without the quotes around it, unless the first of them closes before the end: `"a" or "b"`."""
    quote, inner = text[:1], text[1:-1]
    if len(text) < 2 or quote not in "\"'" or text[-1] != quote:
        return text
    at = inner.find(quote)
    closes = at > 0 and not inner[at - 1].isspace() and not inner[at + 1 : at + 2].isalnum()
    return text if closes else inner.strip()
