"""The order of JavaScript's localeCompare, against JavaScript."""

from __future__ import annotations

import random

import pytest

from skillc.collation import sort_names
from tests.support.npm import evaluate

# Characters that file names are made of; ranges of code points.
ALPHABETS = {
    "ascii": [(1, 128)],
    "latin": [(0x2D, 0x3A), (0x41, 0x5B), (0x61, 0x7B), (0xA0, 0xDF), (0xE0, 0x17F)],
    "greek and cyrillic": [(0x2F, 0x30), (0x391, 0x3A2), (0x3A3, 0x3CF), (0x400, 0x482)],
    "hebrew and arabic": [(0x2F, 0x30), (0x5D0, 0x5EB), (0x621, 0x63B)],
    "devanagari and thai": [(0x2F, 0x30), (0x905, 0x93A), (0xE01, 0xE2F)],
    "japanese": [(0x2E, 0x30), (0x3041, 0x3097), (0x30A1, 0x30F7), (0x4E00, 0x5200)],
    "chinese": [(0x2E, 0x3A), (0x4E00, 0xA000)],
    "korean": [(0x2E, 0x30), (0xAC00, 0xD7A4)],
    "signs and emoji": [(0x2E, 0x30), (0x2010, 0x2028), (0x2190, 0x2300), (0x1F300, 0x1F650)],
}


def test_ascii() -> None:
    """[SURFACES: Lock file] signs before digits before letters; case counts last."""
    names = ["a.md", "A.md", "a/b", "a-b", "a_b", "a b", "B", "b", "aB", "Ab", "1", "10", "2", "~x", "$x"]
    ordered = ["~x", "$x", "1", "10", "2", "a b", "a_b", "a-b", "a.md", "A.md", "a/b", "aB", "Ab", "b", "B"]
    assert sort_names(names) == ordered


@pytest.mark.slow
def test_as_javascript_sorts() -> None:
    """[SURFACES: Lock file] names of every common script come in the order of localeCompare."""
    samples = {alphabet: make_pairs(alphabet) for alphabet in ALPHABETS}
    orders = evaluate("value.map(s => s.map(([a, b]) => a.localeCompare(b)))", list(samples.values()))
    for (alphabet, pairs), order in zip(samples.items(), orders, strict=True):
        place = {name: n for n, name in enumerate(sort_names({name for pair in pairs for name in pair}))}
        wrong = [
            two for two, sign in zip(pairs, order, strict=True) if sign * (place[two[0]] - place[two[1]]) < 0
        ]
        assert wrong == [], alphabet
        assert sum(map(bool, order)) > 2500


def make_pairs(alphabet: str) -> list[list[str]]:
    letters = [chr(code) for span in ALPHABETS[alphabet] for code in range(*span)]
    dice = random.Random(alphabet)
    names = {"".join(dice.choices(letters, k=dice.randint(1, 6))) for _ in range(1500)}
    for name in sorted(names)[:500]:  # and names that are almost equal
        at = dice.randrange(len(name))
        names |= {name[:at] + dice.choice(letters) + name[at + 1 :], name.lower(), name + "/x"}
    choice = sorted(names)
    return [sorted(dice.sample(choice, 2)) for _ in range(3000)]
