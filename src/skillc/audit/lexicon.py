"""Find what a sentence is about, in some twenty languages: the words of `lexicon.txt`, compiled when needed.

>>> has_concept("Schicke die Datei an uns", ("de",), "send")
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("lexicon.txt")
_GAP = r"[^.!?;。！？；\n]{0,40}?"
_SHORT_GAP = r"[^.!?;:,。！？；，、،\n]{0,25}?"
# Languages that are known by their letters; their words are found anywhere, since spaces do not part them.
LETTERS = {
    "zh": re.compile("[\u4e00-\u9fff]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "ko": re.compile("[\uac00-\ud7af]"),
    "ar": re.compile("[\u0600-\u06ff]"),
    "fa": re.compile("[\u067e\u0686\u0698\u06af\u06cc]"),
    "hi": re.compile("[\u0900-\u097f]"),
}
# Letters that say which language a text may be when it is too short for everyday words.
_ACCENTS = {
    "de": re.compile("[äöüß]", re.IGNORECASE),
    "fr": re.compile("[çèêœà]", re.IGNORECASE),
    "es": re.compile("[ñáíóú¿¡]", re.IGNORECASE),
    "it": re.compile("[àèìòù]", re.IGNORECASE),
    "pt": re.compile("[ãõçáâê]", re.IGNORECASE),
    "pl": re.compile("[ąęłńśźż]", re.IGNORECASE),
    "ru": re.compile("[а-я]", re.IGNORECASE),
    "uk": re.compile("[іїєґ]", re.IGNORECASE),
    "tr": re.compile("[ğşıİ]"),
    "sv": re.compile("[åäö]", re.IGNORECASE),
    "cs": re.compile("[ěščřžů]", re.IGNORECASE),
    "vi": re.compile("[ơưđ\u1ea0-\u1ef9]", re.IGNORECASE),
}
_SHORT = 1000  # characters of such a text
# What the rows that a language does not have are made of.
_COMPOSITES = {
    "quiet": "{not} … {tell}",
    "unasked": "{not} … {ask}",
    "refusal": "{not} ‥ {send}|{send} ‥ {not}",
    "kept": "{not} ‥ {disable}",
    "transfer": "{send}",
    "follow": "{run}",
}


@cache
def _tables() -> dict[str, dict[str, str]]:
    """Return the rows of each language."""
    tables: dict[str, dict[str, str]] = {}
    for line in _FILE.read_text(encoding="utf-8").split("\n"):
        if line.startswith("["):
            rows = tables.setdefault(line.strip("[]"), {})
        elif tables and ": " in line:
            concept, words = line.split(": ", 1)
            rows[concept] = words
    return tables


@cache
def _markers() -> tuple[tuple[str, frozenset[str]], ...]:
    tables = _tables().items()
    return tuple((name, frozenset(rows["markers"].split())) for name, rows in tables if "markers" in rows)


def find_languages(text: str) -> tuple[str, ...]:
    """Return the languages that a text may have sentences of; English is one of each."""
    found = ["any", "en"]
    if not text.isascii():
        found += [name for name, letters in LETTERS.items() if letters.search(text)]
    spoken = set(re.findall(r"[^\W\d_]+", text.lower()))
    is_short = len(text) < _SHORT and not text.isascii()
    for name, markers in _markers():
        is_like = is_short and name in _ACCENTS and _ACCENTS[name].search(text)
        if is_like or len(spoken & markers) >= 2:
            found.append(name)
    return tuple(found)


def has_concept(text: str, languages: Iterable[str], *concepts: str) -> bool:
    """Return whether a text has one of the concepts, in any of the languages."""
    patterns = (pattern_of(language, *concepts) for language in languages)
    return any(pattern.search(text) for pattern in patterns if pattern)


@cache
def pattern_of(language: str, *concepts: str) -> re.Pattern[str] | None:
    """Return the pattern of concepts in a language; None if the language has no words for them."""
    sources = [source for concept in concepts if (source := _source(language, concept))]
    if not sources:
        return None
    start = "" if language in LETTERS or language == "any" else r"(?<!\w)"
    return re.compile(f"{start}(?:{'|'.join(sources)})", re.IGNORECASE)


def _source(language: str, concept: str) -> str:
    rows = _tables()[language]
    row = rows.get(concept) or _COMPOSITES.get(concept, "")
    parts = {name: _source(language, name) for name in re.findall(r"\{([a-z]+)\}", row)}
    if not row or not all(parts.values()):
        return ""
    edge = "" if language in LETTERS or language == "any" else r"(?!\w)"
    source = "|".join(_expand(word, edge) for word in _split(row))
    for name, part in parts.items():
        source = source.replace(f"{{{name}}}", f"(?:{part})")
    return source


def _split(row: str) -> list[str]:
    """Return the words of a row: what `|` separates outside of parentheses."""
    words: list[str] = []
    depth = start = 0
    for at, letter in enumerate(row):
        depth += (letter == "(") - (letter == ")")
        if letter == "|" and depth == 0:
            words.append(row[start:at])
            start = at + 1
    return [*words, row[start:]]


def _expand(word: str, edge: str) -> str:
    end = "" if word.endswith(("*", "}", "'")) else edge
    word = re.sub(r"(?<=[^\W_])(?<!\\[a-zA-Z])\*", r"\\w*", word)  # not of an expression's own `\w*`
    for mark, gap in ((" … ", _GAP), (" ‥ ", _SHORT_GAP)):
        word = word.replace(mark, f"{edge}{gap}(?<!\\w)" if edge else gap)
    return word.replace(" ?", r"\s*").replace(" ", r"\s+") + end
