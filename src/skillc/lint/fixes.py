"""Fixes that are safe: the text changes, what it says does not.

Each is a function from a page's text to a better one, or None. Whatever it does, its result is
read again, and counts only if the lenient reader gives the same fields and the same body as before
and no longer complains. So a strict reader gets what a lenient one got, and a second run has
nothing to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from skillc.lint.frontmatter import BOM, split_tools
from skillc.lint.positions import Block, find
from skillc.skills import is_name, parse, yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from skillc.skills import Document

_BREAK = re.compile(r"\r\n|\n|\r")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_KEY = re.compile(r"((['\"]?)(\w[\w.-]*)\2[ \t]*:)(?:[ \t]+|$)(.*)", re.DOTALL)
_SCALAR_SIGN = re.compile(r"[|>][-+0-9]*[ \t]+(?=\S)")
_MUST_BE_ESCAPED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_FENCE = re.compile(r"^---", re.MULTILINE)
_TOOL = re.compile(r"[\w*][\w.:*/-]*(\([^()\s]*\))?")


class Text:
    """A page's text while it is fixed."""

    __slots__ = ("block", "directory", "document", "text")

    def __init__(self, text: str, directory: str) -> None:
        self.text = text
        self.directory = directory
        self.document = parse(text.encode())
        front = self.document.frontmatter
        self.block: Block | None = find(text, front.raw) if front else None

    @property
    def newline(self) -> str:
        found = _BREAK.search(self.text)
        return found[0] if found else "\n"

    def put(self, start: int, end: int, new: str) -> str:
        """The text with a range of its frontmatter's YAML replaced."""
        assert self.block is not None
        return self.text[: self.block.start + start] + new + self.text[self.block.start + end :]


@dataclass(frozen=True, slots=True)
class Fix:
    """What a function here mends: a rule, the reader's diagnostic behind it, the fields it may change."""

    rule: str
    cause: str
    apply: Callable[[Text], str | None]
    fields: tuple[str, ...] = ()


class Mended(NamedTuple):
    data: bytes
    done: frozenset[tuple[str, str]]  # rule and cause


def mend(raw: bytes, wanted: Collection[tuple[str, str]], directory: str, *, main: bool) -> Mended:
    """A page's bytes with what can be fixed of the wanted (rule, cause) pairs fixed."""
    done: set[tuple[str, str]] = set()
    if ("SKL119", "") in wanted and raw.startswith(BOM) and not raw.startswith(BOM + BOM):
        raw = raw.removeprefix(BOM)
        done.add(("SKL119", ""))
    bom, rest = (BOM, raw.removeprefix(BOM)) if raw.startswith(BOM) else (b"", raw)
    try:
        text = rest.decode()
    except UnicodeDecodeError:
        return Mended(raw, frozenset(done))  # what can't be read can't be written back
    for fix in FIXES if main else ():
        if (fix.rule, fix.cause) in wanted:
            better = _attempt(fix, Text(text, directory))
            if better is not None:
                text = better
                done.add((fix.rule, fix.cause))
    return Mended(bom + text.encode(), frozenset(done))


def _attempt(fix: Fix, text: Text) -> str | None:
    better = fix.apply(text) if text.block is not None else None
    if better is None or better.startswith("\ufeff"):
        return None
    before, after = text.document, parse(better.encode())
    return better if _says_the_same(before, after, fix) else None


def _says_the_same(before: Document, after: Document, fix: Fix) -> bool:
    old, new = before.frontmatter, after.frontmatter
    if old is None or new is None or before.data[before.body :] != after.data[after.body :]:
        return False
    if fix.cause in {noticed.code for noticed in new.diagnostics}:
        return False
    if not {noticed.code for noticed in new.diagnostics} <= {"W013"} | {n.code for n in old.diagnostics}:
        return False
    was, is_now = (
        {key: value for key, value in front.fields.items() if key not in fix.fields} for front in (old, new)
    )
    if was != is_now:
        return False
    return old.text("description") == new.text("description") and (
        fix.rule == "SKL101" or old.text("name") == new.text("name")
    )


# The fences


def _first_line(text: Text) -> str | None:
    """Blank lines before the opening fence go."""
    opening = text.text.find("---")
    return text.text[opening:] if opening > 0 and not text.text[:opening].strip() else None


def _closing_fence(text: Text) -> str | None:
    """`---# Title` becomes two lines; a missing fence is put where the block was taken to end."""
    front, block = text.document.frontmatter, text.block
    if front is None or block is None:
        return None
    stop = block.start + len(block.raw)
    if text.text.startswith("---", stop) and front.end == stop + 3:
        return text.text[: stop + 3] + text.newline + text.text[stop + 3 :]
    if front.end != stop or "description" not in front.fields or _FENCE.search(text.text, stop):
        return None  # the block may well go on below
    before = text.text[:stop]
    start = before if not before or before.endswith(("\n", "\r")) else before + text.newline
    return start + "---" + text.newline + text.text[stop:]


# Values


def _quoting(text: Text) -> str | None:
    """Every entry that is no YAML by itself is written so that it is, with the value it was taken for."""
    front = text.document.frontmatter
    assert front is not None
    if "W019" in {noticed.code for noticed in front.diagnostics}:
        return None  # lines that belong to nothing would be lost
    chunks: list[list[str]] = [[]]
    for line in _LINES.findall(front.raw):
        if _KEY.match(line.rstrip("\r\n")):
            chunks.append([])
        chunks[-1].append(line)
    written: list[str] = []
    for chunk in chunks:
        better = chunk if _is_yaml("".join(chunk)) else _requoted(chunk, front.fields, text.newline)
        if better is None:
            return None
        written += better
    return text.put(0, len(front.raw), "".join(written))


def _requoted(chunk: list[str], fields: dict[str, object], newline: str) -> list[str] | None:
    entry = _KEY.match(chunk[0].rstrip("\r\n"))
    value = fields.get(entry[3]) if entry else None
    if entry is None or not isinstance(value, str):
        return None
    # What follows the value stays as it is: blank lines, and comments, which stand at the margin.
    end = max(number for number, line in enumerate(chunk) if line.strip() and line[0] != "#") + 1
    lines = [entry[4].strip(), *(line.strip() for line in chunk[1:end])]
    if any(line.startswith("#") for line in lines[1:]) or _was_meant_as_more(value):
        return None  # a comment in the value, or a broken mapping: someone should look at it
    last = _BREAK.search(chunk[end - 1])
    for candidate in _candidates(entry[1], value, lines, newline):
        if _reads_as(candidate, {entry[3]: value}):
            return [candidate + (last[0] if last else ""), *chunk[end:]]
    return None


def _was_meant_as_more(value: str) -> bool:
    """Whether text looks like a mapping or a list with a bracket too few; quotes would hide that."""
    return value.startswith("{") or (value.startswith("[") and value.count("[") != value.count("]"))


def _candidates(key: str, value: str, lines: list[str], newline: str) -> list[str]:
    """Ways to write an entry, the one most like what was there first."""
    sign = _SCALAR_SIGN.match(lines[0])
    lines = [lines[0][sign.end() :] if sign else lines[0], *lines[1:]]
    while len(lines) > 1 and not lines[0]:
        lines = lines[1:]
    on_one_line = f"{key} {quoted(value)}"
    if len(lines) == 1:
        return [on_one_line]
    blocks = [
        newline.join([f"{key} {style}", *(f"  {line}" if line else "" for line in lines)])
        for style in (">-", "|-")
    ]
    return [*blocks, on_one_line]


def quoted(value: str) -> str:
    r"""Text as YAML on one line, in quotes.

    >>> print(quoted("Use when: x"), quoted('say "x"'), quoted("a\n\"'"))
    "Use when: x" 'say "x"' "a\n\"'"
    """
    if not _MUST_BE_ESCAPED.search(value):
        if '"' not in value and "\\" not in value:
            return f'"{value}"'
        if "'" not in value:
            return f"'{value}'"
    return '"' + _MUST_BE_ESCAPED.sub(_escape, value.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _escape(found: re.Match[str]) -> str:
    if found[0] in "\n\t":
        return "\\n" if found[0] == "\n" else "\\t"
    code = ord(found[0])
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}"


def _is_yaml(entry: str) -> bool:
    try:
        value = yaml.load(entry).value
    except yaml.NotYaml:
        return False
    return value is None or isinstance(value, dict)


def _reads_as(entry: str, value: object) -> bool:
    try:
        loaded = yaml.load(entry)
    except yaml.NotYaml:
        return False
    return bool(loaded.value == value) and not loaded.duplicates


def _as_text(text: Text) -> str | None:
    """A name or description that is a number or the like is put in quotes."""
    better: str | None = None
    for field in ("name", "description"):
        front = text.document.frontmatter
        value = front.fields.get(field) if front else None
        if front is not None and isinstance(value, bool | int | float):
            better = _replaced(text, field, front.text(field) or "")
            if better is None:
                return None
            text = Text(better, text.directory)
    return better


def _missing_name(text: Text) -> str | None:
    """The directory's name, which is what readers take, where that is a valid one."""
    front, block = text.document.frontmatter, text.block
    if front is None or block is None or not is_name(text.directory):
        return None
    if "name" in front.fields:
        return _replaced(text, "name", text.directory)
    if front.raw.strip() and not block.entries:
        return None
    line = f"name: {_plain_or_quoted('name', text.directory)}{text.newline}"
    return _if_it_sets(text.put(0, 0, line), "name", text.directory)


def _allowed_tools(text: Text) -> str | None:
    """Commas and lists become spaces, where every tool is one word."""
    front = text.document.frontmatter
    value = front.fields.get("allowed-tools") if front else None
    tools = split_tools(value) if isinstance(value, str) else value
    if not isinstance(tools, list) or not tools:
        return None
    if not all(isinstance(tool, str) and _TOOL.fullmatch(tool) for tool in tools):
        return None
    return _replaced(text, "allowed-tools", " ".join(tools))


def _replaced(text: Text, field: str, value: str) -> str | None:
    """The text with another value for a field, if nothing but the value stands there."""
    entry = text.block.entries.get(field) if text.block else None
    if entry is None or not entry.simple:
        return None
    better = text.put(entry.start, entry.end, f" {_plain_or_quoted(field, value)}")
    return _if_it_sets(better, field, value)


def _if_it_sets(better: str, field: str, value: str) -> str | None:
    front = parse(better.encode()).frontmatter
    return better if front is not None and front.fields.get(field) == value else None


def _plain_or_quoted(key: str, value: str) -> str:
    return value if _reads_as(f"{key}: {value}", {key: value}) else quoted(value)


# In this order: each finds what those before it have put right.
FIXES = (
    Fix("SKL100", "W018", _first_line),
    Fix("SKL100", "W012", _closing_fence),
    Fix("SKL100", "W011", _quoting),
    Fix("SKL117", "W015", _as_text, ("name", "description")),
    Fix("SKL101", "W014", _missing_name, ("name",)),
    Fix("SKL114", "", _allowed_tools, ("allowed-tools",)),
)
