"""Chinese, Japanese and Korean text for SQLite's tokenizer, which would take a sentence for one word.

Every character of these scripts becomes a token of its own, set apart by an invisible
separator; a word is then found as a phrase of its characters, whatever its length.

>>> unsegment(segment("查看 log")) == "查看 log"
True
"""

from __future__ import annotations

SEPARATOR = "\u2063"  # INVISIBLE SEPARATOR: no token character, and no one's text has it

_RANGES = (
    (0x1100, 0x11FF),  # Hangul Jamo
    (0x3005, 0x3007),  # iteration mark, closing mark, zero
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3100, 0x312F),  # Bopomofo
    (0x3130, 0x318F),  # Hangul compatibility Jamo
    (0x31A0, 0x31BF),  # Bopomofo, extended
    (0x31F0, 0x31FF),  # Katakana phonetic extensions
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xAC00, 0xD7AF),  # Hangul syllables
    (0xF900, 0xFAFF),  # Han, compatibility
    (0xFF66, 0xFFDC),  # half-width Katakana with its voice marks, half-width Hangul
    (0x20000, 0x3FFFF),  # Han, further extensions
)


class _Segments(dict[int, "str | int"]):
    """A table for `str.translate` that is filled as characters are met."""

    def __missing__(self, code: int) -> str | int:
        apart = any(first <= code <= last for first, last in _RANGES)
        self[code] = f"{SEPARATOR}{chr(code)}{SEPARATOR}" if apart else code
        return self[code]


_segments = _Segments()  # a cache: at most one entry for each character there is


def segment(text: str) -> str:
    """`text` with every CJK character set apart."""
    return text if text.isascii() else text.translate(_segments)


def unsegment(text: str) -> str:
    """`text` as it was before `segment`."""
    return text if text.isascii() else text.replace(SEPARATOR, "")
