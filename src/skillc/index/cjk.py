"""Characters of scripts that are written without spaces: one table for search, indexes and estimates.

SQLite's tokenizer would take a Chinese sentence for one word. In a section index each character of
SEGMENTED becomes a token of its own, between invisible separators; a word is then found as a phrase
of its characters, whatever its length.

>>> unsegment(segment("查看 log")) == "查看 log"
True
"""

from __future__ import annotations

from itertools import groupby

SEPARATOR = "\u2063"  # INVISIBLE SEPARATOR: no token character, and not in use in texts

Ranges = tuple[tuple[int, int], ...]

SOUTHEAST_ASIAN: Ranges = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))  # Thai, Lao, Myanmar, Khmer
MARKS: Ranges = ((0x3005, 0x3007),)  # iteration mark, closing mark, zero
KANA: Ranges = ((0x3040, 0x30FF), (0x31F0, 0x31FF))  # Hiragana, Katakana, phonetic extensions
BOPOMOFO: Ranges = ((0x3100, 0x312F), (0x31A0, 0x31BF))
HANGUL: Ranges = ((0x3130, 0x318F), (0xAC00, 0xD7AF))  # compatibility Jamo, syllables
JAMO: Ranges = ((0x1100, 0x11FF),)
JAMO_EXTENDED: Ranges = ((0xD7B0, 0xD7FF),)  # block B; block A is among the SIGNS
# Extension A, the main block, compatibility, extensions B to E, compatibility supplement.
HAN: Ranges = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))
HAN_LATER: Ranges = ((0x2CEB0, 0x2F7FF), (0x2FA20, 0x3FFFF))  # the rest of planes 2 and 3
HALF_WIDTH: Ranges = ((0xFF66, 0xFFDC),)  # Katakana with its voice marks, Hangul
STROKES: Ranges = ((0x3190, 0x319F), (0x31C0, 0x31EF))  # Kanbun, strokes
# Radicals, punctuation, enclosed characters, hexagrams, Jamo block A, full-width forms, half-width signs.
SIGNS: Ranges = (
    *((0x2E80, 0x3004), (0x3008, 0x303F), (0x3200, 0x33FF), (0x4DC0, 0x4DFF), (0xA960, 0xA97F)),
    *((0xFF00, 0xFF65), (0xFFDD, 0xFFEF)),
)

_LETTERS = MARKS + KANA + BOPOMOFO + HANGUL + HAN + HAN_LATER

SEGMENTED = _LETTERS + JAMO + HALF_WIDTH  # characters that are tokens of their own in a section index
UNSPACED = _LETTERS + JAMO + JAMO_EXTENDED + STROKES + SOUTHEAST_ASIAN  # found by pairs in the skill index
WIDE = _LETTERS + JAMO_EXTENDED + STROKES + HALF_WIDTH + SIGNS  # characters that cost a token each


def is_in(code: int, ranges: Ranges) -> bool:
    return any(first <= code <= last for first, last in ranges)


class _Unspaced(dict[str, bool]):
    """A cache of which characters are of UNSPACED; like `_Segments`."""

    def __missing__(self, character: str) -> bool:
        self[character] = value = is_in(ord(character), UNSPACED)
        return value


is_unspaced = _Unspaced().__getitem__


class _Segments(dict[int, "str | int"]):
    """A cache for `str.translate`: at most one entry for each character there is."""

    def __missing__(self, code: int) -> str | int:
        self[code] = value = f"{SEPARATOR}{chr(code)}{SEPARATOR}" if is_in(code, SEGMENTED) else code
        return value


_segments = _Segments()


def segment(text: str) -> str:
    """Return `text` with separators around every character of SEGMENTED."""
    return text if text.isascii() else text.translate(_segments)


def unsegment(text: str) -> str:
    """Return `text` as it was before `segment`."""
    return text if text.isascii() else text.replace(SEPARATOR, "")


class _Letters(dict[int, "str | int"]):
    """Itself for a character of words, a space for any other; a cache for `str.translate`.

    Marks belong to the letter before them, as vowels do in many scripts. With `unspaced`, only characters of
    scripts without spaces stay, or only those of others.
    """

    def __init__(self, unspaced: bool | None = None) -> None:
        self._unspaced = unspaced

    def __missing__(self, code: int) -> str | int:
        from unicodedata import category

        is_letter = chr(code).isalnum() or (code > 127 and category(chr(code))[0] == "M")
        fits = self._unspaced is None or self._unspaced == is_unspaced(chr(code))
        self[code] = value = code if is_letter and fits else " "
        return value


_letters, _spaced, _unspaced = _Letters(), _Letters(unspaced=False), _Letters(unspaced=True)


def split_letters(text: str) -> list[str]:
    """Return what is between characters that belong to no word."""
    return text.translate(_letters).split()


def split_runs(text: str) -> list[str]:
    """Return the words of a text, split where a script without spaces begins or ends.

    >>> split_runs("MRI检查: 日志")
    ['MRI', '检查', '日志']
    """
    return ["".join(run) for word in split_letters(text) for _, run in groupby(word, is_unspaced)]


def split_scripts(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text in scripts with spaces, and what is in others.

    >>> split_scripts("MRI检查: 日志")
    (['MRI'], ['检查', '日志'])
    """
    runs = text.translate(_unspaced).split()
    return text.translate(_spaced).split() if runs != [text] else [], runs
