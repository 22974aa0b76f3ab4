"""Splitting a command template into tokens: `{{…}}` is atomic, then POSIX quoting [D36].

>>> [token.pieces for token in tokenise("echo 'a b' x{{y}}")]
[('echo',), ('a b',), ('x', Placeholder(name='y', modifier=None))]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_QUOTABLE = '$`"\\'  # what a backslash quotes inside double quotes


class InvalidTemplate(ValueError):
    """What is wrong with a template, in words."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """`{{name}}` or `{{name:modifier}}`."""

    name: str
    modifier: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A token: its pieces, and as it is written; `bare` where nothing in it is quoted."""

    pieces: tuple[str | Placeholder, ...]
    written: str
    bare: bool


def tokenise(text: str) -> list[Written]:
    """The tokens of the one logical line of a template; raises InvalidTemplate."""
    items = list(_atoms(text.replace("\r\n", "\n").replace("\r", "\n")))
    tokens = list(_Reader(items).tokens())
    if not tokens:
        raise InvalidTemplate("the command is empty")
    return tokens


def _atoms(text: str) -> Iterator[str | Placeholder]:
    """Characters and placeholders, in time that grows with the text alone."""
    position = 0
    while (start := text.find("{{", position)) >= 0:
        end = text.find("}}", start + 2)
        inner = text[start + 2 : end]
        if end < 0 or "\n" in inner:
            raise InvalidTemplate("'{{' is not closed")
        yield from text[position:start]
        name, colon, modifier = inner.partition(":")
        yield Placeholder(name.strip(), modifier if colon else None)
        position = end + 2
    yield from text[position:]


class _Reader:
    """Reads tokens off a list of characters and placeholders."""

    def __init__(self, items: list[str | Placeholder]) -> None:
        self._items = items
        self._at = 0

    def tokens(self) -> Iterator[Written]:
        ended = False  # the logical line has
        found = False
        while self._at < len(self._items):
            item = self._items[self._at]
            if item in (" ", "\t"):
                self._at += 1
            elif item == "\n":
                ended = found
                self._at += 1
            elif item == "\\" and self._next() == "\n":
                self._at += 2
            elif ended:
                raise InvalidTemplate("more than one line; put the steps into a script")
            else:
                found = True
                yield self._token()

    def _next(self) -> str | Placeholder | None:
        return self._items[self._at + 1] if self._at + 1 < len(self._items) else None

    def _token(self) -> Written:
        """One token, up to white space that is not quoted."""
        pieces: list[str | Placeholder] = []
        bare = True
        while self._at < len(self._items):
            item = self._items[self._at]
            if item in (" ", "\t", "\n"):
                break
            if item in ("'", '"'):
                bare = False
                self._quoted(str(item), pieces)
            elif item == "\\":
                bare = False
                self._escaped(pieces)
            else:
                pieces.append(item)
                self._at += 1
        joined = _joined(pieces)
        return Written(joined, "".join(piece for piece in joined if isinstance(piece, str)), bare)

    def _escaped(self, pieces: list[str | Placeholder]) -> None:
        """A backslash outside of quotes: the next character as it is; a newline joins lines."""
        following = self._next()
        if following is None:
            raise InvalidTemplate("a backslash at the end quotes nothing")
        if isinstance(following, Placeholder):
            raise InvalidTemplate("a backslash before '{{' quotes nothing")
        if following != "\n":
            pieces.append(following)
        self._at += 2

    def _quoted(self, mark: str, pieces: list[str | Placeholder]) -> None:
        """What stands in quotes. An empty piece is kept, so that '' is a token."""
        pieces.append("")
        self._at += 1
        while self._at < len(self._items):
            item = self._items[self._at]
            following = self._next()
            if item == mark:
                self._at += 1
                return
            if mark == '"' and item == "\\" and isinstance(following, str) and following in _QUOTABLE + "\n":
                if following != "\n":
                    pieces.append(following)
                self._at += 2
            else:
                pieces.append(item)
                self._at += 1
        raise InvalidTemplate(f"{mark} is not closed")


def _joined(pieces: list[str | Placeholder]) -> tuple[str | Placeholder, ...]:
    """Neighbouring text as one piece; empty text only where there is nothing else."""
    joined: list[str | Placeholder] = []
    for piece in pieces:
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "" or not joined:
            joined.append(piece)
    if len(joined) > 1 and joined[0] == "":
        joined.pop(0)
    return tuple(joined)
