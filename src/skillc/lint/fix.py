"""Apply fixes that are safe: the text changes, its meaning does not.

Each fix is a function from a page's text to a better one, or None. Its result is parsed again and
counts only if the lenient reader gives the same fields and the same body as before and no longer
complains. So a strict reader gets what a lenient one got, and a second run has nothing to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from skillc.library import Skill
from skillc.lint.frontmatter import BOM, split_tools
from skillc.lint.page import Folder
from skillc.lint.positions import Block, find_block
from skillc.quotes import yaml_quote
from skillc.skills import is_name
from skillc.skills.document import Document, Frontmatter, NotYaml, load_yaml, parse
from skillc.text import one_line

Place = tuple[str, str, str]  # a file, a rule's number, and the cause

_BREAK = re.compile(r"\r\n|\n|\r")
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z")
_KEY = re.compile(r"(?s)((['\"]?)(\w[\w.-]*)\2[ \t]*:)(?:[ \t]+|$)(.*)")
_SCALAR_SIGN = re.compile(r"[|>][-+0-9]*[ \t]+(?=\S)")
_FENCE = re.compile(r"(?m)^---")
_TOOL = re.compile(r"[\w*][\w.:*/-]*(\([^()\s]*\))?")


@dataclass(frozen=True, slots=True)
class Draft:
    """The text of a page with frontmatter, to be fixed; `directory` is the name of the skill's folder."""

    text: str
    directory: str
    document: Document
    front: Frontmatter
    block: Block

    @property
    def newline(self) -> str:
        match = _BREAK.search(self.text)
        return match[0] if match else "\n"

    def replace(self, start: int, end: int, new: str) -> str:
        """Return the text with a range of its frontmatter's YAML replaced."""
        return self.text[: self.block.start + start] + new + self.text[self.block.start + end :]


class Fix(NamedTuple):
    """A fix for a rule, the reader's diagnostic behind it, and the fields that the fix may change."""

    rule: str
    cause: str
    apply: Callable[[Draft], str | None]
    fields: tuple[str, ...] = ()


def find_fixable(places: Iterable[Place], skill: Skill, folder: Folder) -> set[Place]:
    """Return which of these `fix_skill` would fix: apply the fixes without writing."""
    places = (place for place in places if place[0] in folder.pages and place[1] in FIXABLE)
    fixable: set[Place] = set()
    for name, pairs in group_by_file(places).items():
        page = folder.pages[name]
        _, repairs = apply_fixes(page.raw, pairs, skill.segment, main=page is folder.main)
        fixable |= {(name, *pair) for pair in repairs}
    return fixable


def group_by_file(places: Iterable[Place]) -> dict[str, set[tuple[str, str]]]:
    """Return the pairs of rule and cause of each file."""
    pairs_by_file: dict[str, set[tuple[str, str]]] = {}
    for file, rule, cause in places:
        pairs_by_file.setdefault(file, set()).add((rule, cause))
    return pairs_by_file


def apply_fixes(
    raw: bytes, pairs: Collection[tuple[str, str]], directory: str, *, main: bool
) -> tuple[bytes, set[tuple[str, str]]]:
    """Fix what can be fixed of these (rule, cause) pairs in a page; `main` for SKILL.md.

    Returns the bytes, and the pairs that are fixed in them.
    """
    repairs: set[tuple[str, str]] = set()
    if ("SKL119", "") in pairs and raw.startswith(BOM) and not raw.startswith(BOM + BOM):
        raw = raw.removeprefix(BOM)
        repairs.add(("SKL119", ""))
    bom, rest = (BOM, raw.removeprefix(BOM)) if raw.startswith(BOM) else (b"", raw)
    try:
        text = rest.decode()
    except UnicodeDecodeError:
        return raw, repairs  # text that can't be read can't be written back
    for fix in FIXES if main else ():
        if (fix.rule, fix.cause) in pairs:
            draft = _make_draft(text, directory)
            better = fix.apply(draft) if draft is not None else None
            if draft is None or better is None or better.startswith("\ufeff"):
                continue
            if _is_equivalent(draft.document, parse(better.encode()), fix):
                text = better
                repairs.add((fix.rule, fix.cause))
    return bom + text.encode(), repairs


def _make_draft(text: str, directory: str) -> Draft | None:
    document = parse(text.encode())
    front = document.frontmatter
    block = find_block(text, front.raw) if front else None
    return Draft(text, directory, document, front, block) if front and block else None


def _is_equivalent(before: Document, after: Document, fix: Fix) -> bool:
    old, new = before.frontmatter, after.frontmatter
    if old is None or new is None or before.data[before.body :] != after.data[after.body :]:
        return False
    old_codes, new_codes = ({diagnostic.code for diagnostic in front.diagnostics} for front in (old, new))
    if fix.cause in new_codes or not new_codes <= old_codes | {"W013"}:
        return False
    old_fields, new_fields = (
        {key: value for key, value in front.fields.items() if key not in fix.fields} for front in (old, new)
    )
    if old_fields != new_fields or old.text("description") != new.text("description"):
        return False
    return fix.rule == "SKL101" or old.text("name") == new.text("name")


def _fix_opening(draft: Draft) -> str | None:
    """Remove blank lines before the opening fence."""
    opening = draft.text.find("---")
    return draft.text[opening:] if opening > 0 and not draft.text[:opening].strip() else None


def _fix_closing(draft: Draft) -> str | None:
    """Break `---# Title` into two lines; add a missing fence where the reader ended the block."""
    text, newline = draft.text, draft.newline
    stop = draft.block.start + len(draft.block.raw)
    if text.startswith("---", stop) and draft.front.end == stop + 3:
        return text[: stop + 3] + newline + text[stop + 3 :]
    if draft.front.end != stop or "description" not in draft.front.fields or _FENCE.search(text, stop):
        return None  # the block may well go on below
    before = text[:stop]
    start = before if not before or before.endswith(("\n", "\r")) else before + newline
    return start + "---" + newline + text[stop:]


def _fix_values(draft: Draft) -> str | None:
    """Rewrite every entry that is no YAML by itself as YAML with the value that the reader gave it."""
    front = draft.front
    if "W019" in {diagnostic.code for diagnostic in front.diagnostics}:
        return None  # lines that belong to no entry would be lost
    chunks: list[list[str]] = [[]]
    for line in _LINES.findall(front.raw):
        if _KEY.match(line.rstrip("\r\n")):
            chunks.append([])
        chunks[-1].append(line)
    lines: list[str] = []
    for chunk in chunks:
        better = chunk if _is_yaml("".join(chunk)) else _rewrite(chunk, front.fields, draft.newline)
        if better is None:
            return None
        lines += better
    return draft.replace(0, len(front.raw), "".join(lines))


def _rewrite(chunk: list[str], fields: dict[str, object], newline: str) -> list[str] | None:
    entry = _KEY.match(chunk[0].rstrip("\r\n"))
    value = fields.get(entry[3]) if entry else None
    if entry is None or not isinstance(value, str):
        return None
    # Keep what follows the value: blank lines, and comments, which stand at the margin.
    end = max(number for number, line in enumerate(chunk) if line.strip() and line[0] != "#") + 1
    lines = [entry[4].strip(), *(line.strip() for line in chunk[1:end])]
    # A mapping or a list without its closing bracket: quotes would hide the mistake.
    lacks_bracket = value.startswith("{") or (value.startswith("[") and value.count("[") != value.count("]"))
    if lacks_bracket or any(line.startswith("#") for line in lines[1:]):
        return None  # the author should look at it, or at the comment in the value
    last = _BREAK.search(chunk[end - 1])
    for candidate in _candidates(entry[1], value, lines, newline):
        if _reads_as(candidate, {entry[3]: value}):
            return [candidate + (last[0] if last else ""), *chunk[end:]]
    return None


def _candidates(key: str, value: str, lines: list[str], newline: str) -> list[str]:
    """Return ways to write an entry, the one most like the source first."""
    sign = _SCALAR_SIGN.match(lines[0])
    lines = [lines[0][sign.end() :] if sign else lines[0], *lines[1:]]
    while len(lines) > 1 and not lines[0]:
        lines = lines[1:]
    on_one_line = f"{key} {quote(value)}"
    if len(lines) == 1:
        return [on_one_line]
    body = newline.join(f"  {line}" if line else "" for line in lines)
    return [*(f"{key} {style}{newline}{body}" for style in (">-", "|-")), on_one_line]


def quote(value: str) -> str:
    r"""Quote text for YAML on one line, without escapes where possible.

    >>> print(quote("Use when: x"), quote('say "x"'), quote("a\n\"'"))
    "Use when: x" 'say "x"' "a\n\"'"
    """
    if one_line(value) == value:
        if '"' not in value and "\\" not in value:
            return f'"{value}"'
        if "'" not in value:
            return f"'{value}'"
    return yaml_quote(value)


def _is_yaml(entry: str) -> bool:
    try:
        return isinstance(load_yaml(entry).value, dict | None)
    except NotYaml:
        return False


def _reads_as(entry: str, value: object) -> bool:
    try:
        document = load_yaml(entry)
        return not document.duplicates and bool(document.value == value)
    except NotYaml:
        return False


def _fix_types(draft: Draft) -> str | None:
    """Quote a name or description that is a number or a truth value."""
    better: str | None = None
    for field in ("name", "description"):
        if isinstance(draft.front.fields.get(field), bool | int | float):
            better = _set_field(draft, field, draft.front.text(field) or "")
            next_draft = _make_draft(better or "", draft.directory)
            if next_draft is None:
                return None
            draft = next_draft
    return better


def _fix_name(draft: Draft) -> str | None:
    """Set a missing name to the directory's, as readers do, where that is a valid one."""
    front, name = draft.front, draft.directory
    if not is_name(name):
        return None
    if "name" in front.fields:
        return _set_field(draft, "name", name)
    if front.raw.strip() and not draft.block.entries:
        return None
    return _write_value(draft, (0, 0), "name", name, "name: ", draft.newline)


def _fix_allowed_tools(draft: Draft) -> str | None:
    """Turn commas and lists into spaces, where every tool is one word."""
    value = draft.front.fields.get("allowed-tools")
    tools = split_tools(value) if isinstance(value, str) else value
    if not isinstance(tools, list) or not tools:
        return None
    if not all(isinstance(tool, str) and _TOOL.fullmatch(tool) for tool in tools):
        return None
    return _set_field(draft, "allowed-tools", " ".join(tools))


def _set_field(draft: Draft, field: str, value: str) -> str | None:
    """Return the text with another value for a field, if its entry is simple."""
    entry = draft.block.entries.get(field)
    if entry is None or not entry.simple:
        return None
    return _write_value(draft, entry.span, field, value, " ", "")


def _write_value(
    draft: Draft, span: tuple[int, int], field: str, value: str, before: str, after: str
) -> str | None:
    """Return the text with a field's value in a range of the block, if the reader gets that value of it."""
    plain = _reads_as(f"{field}: {value}", {field: value})
    text = draft.replace(*span, f"{before}{value if plain else quote(value)}{after}")
    front = parse(text.encode()).frontmatter
    return text if front is not None and front.fields.get(field) == value else None


# The order matters: each fix may need the result of the ones before it.
FIXES = (
    Fix("SKL100", "W018", _fix_opening),
    Fix("SKL100", "W012", _fix_closing),
    Fix("SKL100", "W011", _fix_values),
    Fix("SKL117", "W015", _fix_types, ("name", "description")),
    Fix("SKL101", "W014", _fix_name, ("name",)),
    Fix("SKL114", "", _fix_allowed_tools, ("allowed-tools",)),
)
FIXABLE = frozenset(("SKL119", *(fix.rule for fix in FIXES)))
