"""JSON as text, perhaps with comments and commas at ends: put a value in or cut one out, and leave all else.

A path is a list of keys, and of positions in lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Path = Sequence[str | int]

_TOKEN = re.compile(
    r"""(?P<space>[\ufeff\s]++|//[^\n]*+|/\*.*?\*/)"""
    r"""|"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"/]++""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a sign, and where it is in the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Member:
    """A key and its value as positions of tokens; `comma` is that of the comma after it, -1 without one.

    An item of a list is its own key.
    """

    key: int
    value: int
    last: int
    comma: int


def parse_jsonc(text: str) -> Any:
    """Return the value of a text; raise ValueError or RecursionError for what is no JSON with comments."""
    try:
        return json.loads(text)  # many times faster, and most files have no comments
    except ValueError:
        return _value(_tokens(text))


def parse_settings(text: str) -> Any:
    """Return the value of a file of settings, where nothing is an empty object; raise as `parse_jsonc`."""
    return parse_jsonc(text) if text.strip("\ufeff \t\r\n") else {}


def put_value(text: str, path: Path, value: object) -> str:
    """Return the text with a value at a path, in place of what is there or behind its neighbours.

    A text of nothing is an empty object. Raise ValueError where that can't be done.
    """
    text = text if text.strip("\ufeff \t\r\n") else "{}\n"
    tokens = _tokens(text)
    opening = 0
    for depth, key in enumerate(path):
        members = list(_members(tokens, opening))
        match = _match(tokens, opening, members, key)
        if match is None:
            for inner in reversed(path[depth + 1 :]):
                value = {inner: value}
            return _insert(text, tokens, opening, members, key, value)
        opening = match.value
    start, end = tokens[opening].start, tokens[_end(tokens, opening)].end
    indent = _indent_at(text, start)
    return text[:start] + _render(text, value, indent) + text[end:]


def add_item(text: str, path: Path, value: object) -> str:
    """Return the text with one more item in the list at a path, which is made where it is missing."""
    items = find_value(parse_settings(text), path)
    if items is None:
        return put_value(text, path, [value])
    if not isinstance(items, list):
        raise ValueError(f"'{path[-1]}' is not a list")
    tokens = _tokens(text)
    opening = _walk(tokens, path)
    return _insert(text, tokens, opening, list(_members(tokens, opening)), len(items), value)


def cut_value(text: str, path: Path) -> str:
    """Return the text without what is at a path; raise ValueError where that can't be done.

    Comments stay, also those beside it, but not those within it. One that is there twice is not cut.
    """
    tokens = _tokens(text)
    opening = _walk(tokens, path[:-1])
    members = list(_members(tokens, opening))
    match = _match(tokens, opening, members, path[-1])
    if match is None:
        raise ValueError(f"there is no entry '{path[-1]}'")
    return _cut(text, tokens, opening, members, members.index(match))


def find_value(value: Any, path: Path) -> Any:
    """Return what is at a path of a value; None where nothing is."""
    for key in path:
        if isinstance(key, str) and isinstance(value, dict):
            value = value.get(key)
        elif isinstance(key, int) and isinstance(value, list) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def count_comments(text: str) -> int:
    """Return the number of comments in a text that `parse_jsonc` takes."""
    return sum(match[0].startswith("/") for match in _TOKEN.finditer(text))


@lru_cache(maxsize=2)  # the last texts: one is changed in several steps, each of which looks at it
def _tokens(text: str) -> Sequence[Token]:
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"unexpected character at {position}")
        position = match.end()
        if match["space"] is None:
            tokens.append(Token(match[0], match.start(), position))
    return tokens


def _value(tokens: Sequence[Token]) -> Any:
    """Parse the tokens without the commas that only JSON with comments allows."""
    words = [
        token.text
        for token, after in zip(tokens, [*tokens[1:], None], strict=True)
        if not (token.text == "," and after is not None and after.text in ("}", "]"))
    ]
    return json.loads(" ".join(words))


def _members(tokens: Sequence[Token], opening: int) -> Iterator[Member]:
    """Yield the members of the object, or the items of the list, that starts at a token."""
    if tokens[opening].text not in ("{", "["):
        raise ValueError("neither an object nor a list")
    closing, before_value = ("}", 2) if tokens[opening].text == "{" else ("]", 0)
    position = opening + 1
    while tokens[position].text != closing:
        value = position + before_value
        last = _end(tokens, value)
        has_comma = tokens[last + 1].text == ","
        yield Member(position, value, last, last + 1 if has_comma else -1)
        position = last + 1 + has_comma


def _walk(tokens: Sequence[Token], path: Path) -> int:
    """Return the position of the token at which the value at a path starts."""
    opening = 0
    for key in path:
        match = _match(tokens, opening, list(_members(tokens, opening)), key)
        if match is None:
            raise ValueError(f"there is no entry '{key}'")
        opening = match.value
    return opening


def _match(tokens: Sequence[Token], opening: int, members: Sequence[Member], key: str | int) -> Member | None:
    """Return the member of that key, or the item at that position; raise ValueError for two of them."""
    if (tokens[opening].text == "[") != isinstance(key, int):
        raise ValueError(f"'{key}' is sought in something else")
    if isinstance(key, int):
        return members[key] if key < len(members) else None
    matches = [member for member in members if json.loads(tokens[member.key].text) == key]
    if len(matches) > 1:
        raise ValueError(f"there are {len(matches)} entries '{key}'")
    return matches[0] if matches else None


def _end(tokens: Sequence[Token], position: int) -> int:
    """Return the position of the last token of the value that starts at one."""
    depth = 0
    while True:
        depth += (tokens[position].text in "{[") - (tokens[position].text in "}]")
        if depth == 0:
            return position
        position += 1


def _insert(
    text: str,
    tokens: Sequence[Token],
    opening: int,
    members: Sequence[Member],
    key: str | int,
    value: object,
) -> str:
    """Insert a member or an item behind the last one, laid out as that is."""
    closing = tokens[_end(tokens, opening)].start
    stop = tokens[members[-1].last].end if members else tokens[opening].end
    rest = text[stop:closing]
    kept = rest.rstrip()  # comments, and perhaps a comma
    has_comma = bool(members) and members[-1].comma >= 0  # where the last one has a comma, ours gets one
    comma, end = ("", ",") if has_comma else (("," if members else ""), "")
    label = f"{json.dumps(key, ensure_ascii=False)}: " if isinstance(key, str) else ""
    if "\n" not in rest and (members or (opening and "\n" not in text.strip())):  # all on one line
        item = label + json.dumps(value, ensure_ascii=False)
        space, tail = (" ", rest[len(kept) :]) if members else ("", "")
        return text[:stop] + comma + kept + space + item + end + tail + text[closing:]
    is_laid_out = bool(members) and "\n" in rest
    outer = _indent_at(text, closing if is_laid_out else tokens[opening].start)
    indent = _indent_at(text, tokens[members[-1].key].start) if is_laid_out else outer + _unit(text)
    line = _line_end(text)
    tail = rest[len(kept) :] if is_laid_out else line + outer
    item = indent + label + _render(text, value, indent) + end
    return text[:stop] + comma + kept + line + item + tail + text[closing:]


def _render(text: str, value: object, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return f"{_line_end(text)}{indent}".join(lines)


def _unit(text: str) -> str:
    """Return the indent of one level."""
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent_at(text: str, position: int) -> str:
    """Return the space at the start of the line of a position."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _cut(text: str, tokens: Sequence[Token], opening: int, members: Sequence[Member], number: int) -> str:
    """Cut a member with the space before it, and the comma that is one too many then."""
    member = members[number]
    key, end = tokens[member.key].start, tokens[member.last].end
    start = _end_of_comments(text, tokens[member.key - 1].end, key)
    if member.comma >= 0:
        end = tokens[member.comma].end
        if start == key:
            end += len(text[end:]) - len(text[end:].lstrip(" "))
    before, rest = text[:start], text[end:]
    if before.endswith("\n"):  # after a comment that ends there: no empty line
        rest = re.sub(r"\A[ \t\r]*\n", "", rest)
    if len(members) == 1 and before[-1] in "{[" and rest.lstrip()[:1] in ("}", "]"):
        rest = rest.lstrip()
    elif member.comma < 0 and number > 0:
        comma = tokens[members[number - 1].comma]
        before = before[: comma.start] + before[comma.end :]
    return before + rest


def _end_of_comments(text: str, start: int, end: int) -> int:
    """Return where the comments between two tokens end; one that takes a line ends with that line."""
    last = start
    while start < end and (match := _TOKEN.match(text, start, end)):
        start = match.end()
        if match[0].startswith("//"):
            last = min(start + 1, end)
        elif match[0].startswith("/*"):
            last = start
    return last
