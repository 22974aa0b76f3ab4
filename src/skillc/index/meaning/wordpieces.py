"""Split text into BERT's word pieces for the sentence encoder: lower case, without accents.

The package `tokenizers` does the same, but depends on a client for model hubs.
"""

from __future__ import annotations

import unicodedata

from skillc.index.cjk import HAN, is_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_WORD = 100  # letters; a longer word is unknown to BERT
CHARACTERS = 32  # of a text that are read for each piece
START, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


class _Parts(dict[int, str]):
    """A cache for `str.translate`: a character becomes nothing, a space, itself, or a word of its own."""

    def __missing__(self, code: int) -> str:
        self[code] = part = _translate(chr(code))
        return part


def _translate(character: str) -> str:
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


def read_vocabulary(path: str) -> dict[str, int]:
    """Return the numbers of all pieces, from a file with one on each line."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return {piece: number for number, piece in enumerate(file.read().split("\n"))}


def split_pieces(text: str, vocabulary: Mapping[str, int], limit: int) -> list[int]:
    """Return the numbers of a text's first pieces, at most `limit` with the marks for start and end."""
    numbers = [vocabulary[START]]
    plain = unicodedata.normalize("NFD", text[: limit * CHARACTERS].lower())
    for word in plain.translate(_PARTS).split():
        numbers += _split_word(word, vocabulary)
        if len(numbers) >= limit:
            break
    return [*numbers[: limit - 1], vocabulary[END]]


def _split_word(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """Return the longest pieces of a word, from its start; a word that has none for a part is unknown."""
    if len(word) > MAX_WORD:
        return [vocabulary[UNKNOWN]]
    numbers = list(_matches(word, vocabulary))
    return [vocabulary[UNKNOWN]] if None in numbers else [n for n in numbers if n is not None]


def _matches(word: str, vocabulary: Mapping[str, int]) -> Iterator[int | None]:
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            number = vocabulary.get(mark + word[start:end])
            if number is not None:
                yield number
                start = end
                break
        else:
            yield None
            return
