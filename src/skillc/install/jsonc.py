"""JSON as text, perhaps with comments and commas at ends: cut a member, and leave all else as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

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
    """A key and its value as positions of tokens; `comma` is that of the comma after it, -1 without one."""

    key: int
    value: int
    last: int
    comma: int


def parse_jsonc(text: str) -> Any:
    """Return the value of a text; raise ValueError or RecursionError for what is no JSON with comments."""
    return _value(_tokens(text))


def cut_member(text: str, *keys: str) -> str:
    """Return the text without the member at the path `keys`; raise ValueError where that can't be done.

    Comments stay, also those beside the member, but not those within it. One that is there twice is not cut.
    """
    tokens = _tokens(text)
    opening = 0
    for number, key in enumerate(keys, 1):
        members = list(_members(tokens, opening))
        matches = [member for member in members if json.loads(tokens[member.key].text) == key]
        if len(matches) != 1:
            raise ValueError(f"there are {len(matches)} entries '{key}'")
        if number == len(keys):
            return _cut(text, tokens, opening, members, members.index(matches[0]))
        opening = matches[0].value
    raise ValueError("no key")


def count_comments(text: str) -> int:
    """Return the number of comments in a text that `parse_jsonc` takes."""
    return sum(match[0].startswith("/") for match in _TOKEN.finditer(text))


def _tokens(text: str) -> list[Token]:
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
    """Yield the members of the object that starts at a token."""
    if tokens[opening].text != "{":
        raise ValueError("not an object")
    position = opening + 1
    while tokens[position].text != "}":
        value = position + 2
        last = _end(tokens, value)
        has_comma = tokens[last + 1].text == ","
        yield Member(position, value, last, last + 1 if has_comma else -1)
        position = last + 1 + has_comma


def _end(tokens: Sequence[Token], position: int) -> int:
    """Return the position of the last token of the value that starts at one."""
    depth = 0
    while True:
        depth += (tokens[position].text in "{[") - (tokens[position].text in "}]")
        if depth == 0:
            return position
        position += 1


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
    if len(members) == 1 and before.endswith("{") and rest.lstrip().startswith("}"):
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
