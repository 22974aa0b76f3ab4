"""The order of JavaScript's `localeCompare`: the root collation of Unicode's CLDR, which English uses.

Names are compared by their letters first, then by accents, then by case (small before capital). Punctuation
comes before digits, and digits before letters; control characters count for nothing.

`collation.txt` has the order of the characters of the Basic Multilingual Plane and of emoji, as
`scripts/collation.js` takes it from ICU; it is read only for names that are not ASCII. Not exact: ideographs
of the extensions, letters beyond the plane, and names that differ in nothing but the style of a letter (ß and
SS, ﬁ and FI).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from unicodedata import normalize

# The weights of a character: primary (letter), secondary (accent), tertiary (case); 0 for none.
Element = tuple[int, int, int]
Table = dict[int, tuple[Element, ...]]

ASCII = "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz"
_RANKS = {ord(c): rank for rank, c in enumerate(ASCII, 1)}
_BEYOND = 1 << 20  # above the ranks of all characters in the table
_IDEOGRAPHS = 1 << 21
_COMMON = 1  # the secondary and the tertiary weight of most characters
_STYLE = 1 << 6  # what a letter's other style adds to its tertiary weight, above that of a capital
_VARIANT = 1 << 10  # the first secondary weight of a letter such as đ, above those of accents
_cache: Table = {}  # what collation.txt says, once it was needed: 34,000 characters, never dropped


def sort_names(names: Iterable[str]) -> list[str]:
    """Return paths in the order of `localeCompare`; those that it takes for equal, by code points.

    >>> sort_names(["b", "B", "a_b", "a-b", "AB", "ab", "a/b"])
    ['a_b', 'a-b', 'a/b', 'ab', 'AB', 'b', 'B']
    >>> sort_names(["zebra", "Über", "unten", "日本", "ärger", "arm"])
    ['ärger', 'arm', 'Über', 'unten', 'zebra', '日本']
    """
    names = sorted(names)
    if all(map(str.isascii, names)):
        return sorted(names, key=_ascii_key)
    if not _cache:
        _cache.update(_read_table())
    return sorted(names, key=lambda name: _key(name, _cache))


def _ascii_key(name: str) -> tuple[list[int], list[bool]]:
    visible = [c for c in name if ord(c.lower()) in _RANKS]
    return [_RANKS[ord(c.lower())] for c in visible], [c.isupper() for c in visible]


def _key(name: str, table: Table) -> tuple[list[int], ...]:
    elements: list[Element] = []
    for c in normalize("NFC", name):
        elements += table[ord(c)] if ord(c) in table else _weigh(normalize("NFD", c), table)
    return tuple([weight for each in elements if (weight := each[level])] for level in range(3))


def _weigh(parts: str, table: Table) -> Iterator[Element]:
    """Yield the weights of a character that no table has, from its parts or the letter it is a style of."""
    for part in parts:
        if ord(part) in table:
            yield from table[ord(part)]
        elif (plain := normalize("NFKD", part)) != part:
            for primary, secondary, tertiary in _weigh(plain, table):
                yield primary, secondary, tertiary + 1
        else:
            yield _implicit(ord(part)), _COMMON, _COMMON


def _implicit(code: int) -> int:
    """Return the primary weight of a character that no table has: rare ideographs after all others."""
    is_ideograph = 0x3400 <= code <= 0x4DBF or 0x20000 <= code <= 0x3FFFF
    return _IDEOGRAPHS + code if is_ideograph else _BEYOND + code


def _read_table() -> Table:
    path = os.path.join(os.path.dirname(__file__), "collation.txt")
    with open(path, encoding="ascii") as file:
        lines = dict(line.split(" ", 1) for line in file)
    table: Table = dict.fromkeys(_codes(lines["nothing"]), ())
    for rank, mark in enumerate(_codes(lines["marks"]), _COMMON + 1):
        table[mark] = ((0, rank, _COMMON),)
    rank = 0
    for token in lines["order"].split():
        for group in [token] if "," in token or ";" in token else [f"{code:x}" for code in _codes(token)]:
            rank += 1
            table |= _weigh_group(rank, group)
    for token in lines["several"].split():
        name, _, parts = token.partition("=")
        code = int(name, 16)
        table[code] = tuple(
            (primary, secondary, tertiary + _STYLE + chr(code).isupper())
            for part in parts.split("+")
            for primary, secondary, tertiary in table[int(part, 16)]
        )
    return table


def _weigh_group(rank: int, group: str) -> Iterator[tuple[int, tuple[Element, ...]]]:
    """Yield the characters of one letter: `;` stands before another accent, `,` before another case."""
    for variant, part in enumerate(group.split(";")):
        accent = ((0, _VARIANT + variant, _COMMON),) if variant else ()
        for tertiary, code in enumerate(part.split(","), _COMMON):
            yield int(code, 16), ((rank, _COMMON, tertiary), *accent)


def _codes(text: str) -> Iterator[int]:
    for token in text.split():
        first, _, last = token.partition("-")
        yield from range(int(first, 16), int(last or first, 16) + 1)
