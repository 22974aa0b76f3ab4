"""Text that is shown to a person who decides by it."""

from __future__ import annotations

import itertools
import unicodedata

import pytest

from skillc.text import fold, visible

HIDDEN = [
    *("\x00", "\x07", "\x1b", "\x7f", "\x85", "\x9b"),  # control characters
    *("\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u180e"),  # of no width
    *("\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069"),  # of direction
    *("\U000e0001", "\U000e0041", "\U000e007f"),  # tags
    *("\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef", "\u180b"),  # variation selectors
    *("\ue000", "\uf8ff", "\U000f0000", "\U0010ffff"),  # private use, and no characters
    *("\u00a0", "\u1680", "\u2003", "\u202f", "\u205f", "\u3000", "\u2028", "\u2029"),  # spaces
    *("\u2800", "\u3164", "\u115f", "\u1160", "\uffa0", "\u17b4", "\U0001d159"),  # blanks
    *("\ud800", "\udcff", "\u0378"),  # half a character, a byte that is none, an unassigned one
]


def test_what_can_not_be_seen() -> None:
    """[D54] [TOOLS §6.3] is written out, wherever it stands."""
    for character, (before, after) in itertools.product(HIDDEN, [("", ""), *zip('a"é', 'b"é', strict=True)]):
        escape = character.encode("unicode_escape").decode()
        text = before + character + after
        assert visible(text) == text.replace(character, escape), ascii(text)


def test_marks() -> None:
    """[D54] [TOOLS §6.3] combining marks stay on letters, at most two, and are written out elsewhere."""
    for text in ("cafe\u0301", "ก็้", "नमस्ते", "שָׁלוֹם", "日本語", "naïve — “x”", "👍🏽"):
        assert visible(text) == text
    assert visible("\u0301") == "\\u0301"
    assert visible("/\u0338 \u0301\u200ba") == "/\\u0338 \\u0301\\u200ba"
    assert visible("a" + "\u0336" * 4) == "a\u0336\u0336\\u0336\\u0336"
    assert visible("\u3164\u0301") == "\\u3164\\u0301"


@pytest.mark.slow
def test_all_of_unicode() -> None:
    """[D54] [TOOLS §6.3] what stays as it is has a shape of its own, by its category."""
    shown = [c for c in map(chr, range(0x110000)) if visible(c) == c]
    assert {unicodedata.category(c)[0] for c in shown} == {"L", "N", "P", "S", "Z"}
    assert [c for c in shown if c.isspace()] == [" "]


def test_folding() -> None:
    """[D54] [TOOLS §6.3] nothing is lost, no line is wider, and wide characters take two columns."""
    for text in ("x" * 100, "日本" * 30, "a b " * 30, ""):
        lines = fold(text, 20, "    ").split("\n")
        assert lines[0] + "".join(line.removeprefix("    ") for line in lines[1:]) == text
        widths = [sum(2 if unicodedata.east_asian_width(c) == "W" else 1 for c in line) for line in lines]
        assert max(widths) <= 20
