"""Text as the sentence encoder reads it: the numbers of BERT's word pieces, lower case, without accents.

What `tokenizers` does for BERT, for one vocabulary and the first so many pieces; that package would bring a
client for model hubs along.
"""

from __future__ import annotations

import unicodedata

from skillc.index.cjk import HAN, is_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LONGEST_WORD = 100  # letters; a longer word is unknown to BERT
CHARACTERS = 32  # of a text that are looked at for each piece that is wanted
START, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


class _Parts(dict[int, str]):
    """What becomes of a character, for `str.translate`: nothing, a space, itself, or a word of its own."""

    def __missing__(self, code: int) -> str:
        self[code] = part = _part(chr(code))
        return part


def _part(character: str) -> str:
    kind = unicodedata.category(character)
    if character.isspace() or kind == "Zs":
        return " "
    if kind == "Mn" or kind[0] == "C" or character == "\ufffd":
        return ""
    alone = kind[0] == "P" or (character.isascii() and not character.isalnum())
    if alone or is_in(ord(character), HAN):
        return f" {character} "
    return character


_PARTS = _Parts()


def vocabulary(path: str) -> dict[str, int]:
    """The numbers of all pieces, from a file that has one on each line."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return {piece: number for number, piece in enumerate(file.read().split("\n"))}


def pieces(text: str, numbers: Mapping[str, int], most: int) -> list[int]:
    """The beginning of a text as numbers, at most so many with the marks for start and end."""
    found = [numbers[START]]
    # NFD before the cut: an accent more is no letter less.
    plain = unicodedata.normalize("NFD", text[: most * CHARACTERS].lower())
    for word in plain.translate(_PARTS).split():
        found += _pieces_of(word, numbers)
        if len(found) >= most:
            break
    return [*found[: most - 1], numbers[END]]


def _pieces_of(word: str, numbers: Mapping[str, int]) -> list[int]:
    """The longest pieces that make up a word, from its start; one that can't be made up is unknown whole."""
    if len(word) > LONGEST_WORD:
        return [numbers[UNKNOWN]]
    found = list(_matches(word, numbers))
    return [numbers[UNKNOWN]] if None in found else [number for number in found if number is not None]


def _matches(word: str, numbers: Mapping[str, int]) -> Iterator[int | None]:
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            number = numbers.get(mark + word[start:end])
            if number is not None:
                yield number
                start = end
                break
        else:
            yield None
            return
