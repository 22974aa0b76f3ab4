"""Break text into lines at its spaces.

The standard textwrap loads the regular expressions, which take longer than all the rest of help; and it
takes letters that are two columns wide for one.

>>> wrap("List the skills of this project", 16)
['List the skills', 'of this project']
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Measure = Callable[[str], int]


def wrap(text: str, width: int, first: int | None = None, measure: Measure = len) -> list[str]:
    """Return the lines of a text, the first in `first` columns; a word that is longer stays whole.

    The last word is not left alone on its line where another can join it.

    >>> wrap("Say what is wrong and how to mend it", 34)
    ['Say what is wrong and how to', 'mend it']
    """
    words = text.split()
    first = width if first is None else first
    lines = _fill(words, width, first, measure)
    for less in range(1, width // 2):
        if len(lines) < 2 or " " in lines[-1]:
            break
        narrow = _fill(words, width - less, first - less, measure)
        if len(narrow) > len(lines):
            break
        if " " in narrow[-1]:
            return narrow
    return lines


def _fill(words: Sequence[str], width: int, first: int, measure: Measure) -> list[str]:
    """Return lines that each hold as many words as they can."""
    lines: list[str] = []
    line, used = "", 0
    for word in words:
        size = measure(word)
        if line and used + 1 + size > (width if lines else first):
            lines.append(line)
            line, used = word, size
        else:
            line, used = (f"{line} {word}", used + 1 + size) if line else (word, size)
    return [*lines, line] if line else lines


def split_words(text: str, width: int, measure: Measure = len) -> str:
    """Return a text with spaces in its words that are wider than a line, so that `wrap` breaks them.

    >>> split_words("a bcdefg", 3)
    'a bcd efg'
    """
    return " ".join(piece for word in text.split() for piece in _split(word, width, measure))


def _split(word: str, width: int, measure: Measure) -> list[str]:
    if measure(word) <= width:
        return [word]
    pieces, room = [""], width
    for character in word:
        size = measure(character)
        if size > room and pieces[-1]:
            pieces.append("")
            room = width
        pieces[-1] += character
        room -= size
    return pieces
