"""Find what a reader does not see: characters that are not shown, and encoded text.

Joiners in emoji and in scripts that need them, and marks at the start of a file are ordinary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from skillc.audit import indicators
from skillc.audit.findings import LineCounter, Trace
from skillc.audit.patterns import load_names, load_pattern

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_ZERO = re.compile("[\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e\u00ad\u115f\u1160\u3164\uffa0]+")
_INVISIBLE = load_pattern("invisible")
_BLOB = load_pattern("character-blob")
_HEX = re.compile(r"(?<![\w])(?:(?:\\x[0-9a-fA-F]{2}){20,20000}|[0-9a-fA-F]{48,40000})(?![\w])")
_JOINED = load_names("joined")


def check_characters(text: str, trace: Trace, line: int = 1) -> None:
    """Report characters that are not shown, with what they spell."""
    if text.isascii() or not _INVISIBLE.search(text):
        return
    counter = LineCounter(text, line)
    for match in _TAGS.finditer(text):
        letters = "".join(chr(ord(c) - 0xE0000) for c in match[0] if 0xE0020 <= ord(c) < 0xE007F)
        if match.start() and text[match.start() - 1] == "\U0001f3f4" and len(letters) <= 7:
            continue  # a flag, such as Scotland's
        if sum(map(str.isalpha, letters)) >= 4:
            trace.report(
                "A31", f"characters that are not shown spell: {letters[:80]!r}", counter.at(match.start())
            )
        else:
            trace.report("A30", "tag characters, which are not shown", counter.at(match.start()))
    for match in _SELECTORS.finditer(text):
        data = bytes(ord(c) - 0xFE00 if ord(c) < 0xFE10 else ord(c) - 0xE0100 + 16 for c in match[0][:4000])
        letters = indicators.as_text(data)
        if len(match[0]) >= 8 or letters:
            trace.report("A31", f"variation selectors hold data: {letters[:80]!r}", counter.at(match.start()))
    for match in _BIDI.finditer(text):
        if re.search("[\u202d\u202e]", match[0]) or not _has_rtl(text):
            trace.report(
                "A30",
                f"U+{ord(match[0][0]):04X} changes the order in which text is shown",
                counter.at(match.start()),
            )
    _check_zero_width(text, trace, counter)


def _check_zero_width(text: str, trace: Trace, counter: LineCounter) -> None:
    for match in _ZERO.finditer(text):
        start, end = match.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if start == 0 or (
            match[0] in ("\u200d", "\u200c") and (_needs_joiner(before) or _needs_joiner(after))
        ):
            continue
        line = counter.at(start)
        if len(match[0]) >= 8:
            suffix = _spell_bits(match[0])
            trace.report("A31", f"{len(match[0])} characters in a row that are not shown{suffix}", line)
        elif before.isalnum() and after.isalnum() and before.isascii() and after.isascii():
            trace.report("A30", f"U+{ord(match[0][0]):04X}, which is not shown, is inside of a word", line)
        else:
            trace.report("A30", f"U+{ord(match[0][0]):04X} is not shown", line, level="note")


def _spell_bits(run: str) -> str:
    """Return what two kinds of characters spell as the bits of letters, as the end of a message."""
    kinds = sorted(set(run))
    if len(kinds) != 2 or len(run) < 16:
        return ""
    bits = "".join(str(kinds.index(c)) for c in run[:8000])
    for order in (bits, bits.translate(str.maketrans("01", "10"))):
        data = bytes(int(order[at : at + 8], 2) for at in range(0, len(order) - 7, 8))
        letters = indicators.as_text(data)
        if letters:
            return f" spell: {letters[:80]!r}"
    return ""


def _needs_joiner(letter: str) -> bool:
    if not letter:
        return False
    if unicodedata.category(letter) in ("So", "Sk", "Mn") or letter == "\ufe0f":
        return True
    return unicodedata.name(letter, "").split(" ")[0] in _JOINED


def _has_rtl(text: str) -> bool:
    return bool(re.search("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]", text))


def check_blobs(
    text: str, trace: Trace, check_prose: Callable[[str, Trace, int], None], line: int = 1
) -> None:
    """Report encoded text that speaks to the agent, or is a command."""
    if len(text) < 40:
        return
    for marks, decode in _DISGUISES:
        match = marks.search(text)
        if match:
            inner = trace.branch()
            check_prose(decode(text[: indicators.MAX_DECODED]), inner, 1)
            if any(problem.level != "note" for problem in inner.problems):
                at = line + text.count("\n", 0, match.start())
                trace.report("A34", f"encoded text holds instructions: {decode(match[0])[:60]!r}", at)
    counter = LineCounter(text, line)
    room = 200
    for pattern, decode in ((_BLOB, indicators.decode_base64), (_HEX, indicators.decode_hex)):
        for match in pattern.finditer(text):
            plaintext = decode(match[0])
            if not plaintext or room <= 0:
                continue
            room -= 1
            inner = trace.branch()
            check_prose(plaintext, inner, 1)
            at = counter.at(match.start())
            if any(problem.rule[:2] in ("A4", "A3") for problem in inner.problems):
                worst = "block" if inner.has("A43", "A31") else ""
                trace.report("A34", f"encoded text holds instructions: {plaintext[:60]!r}", at, level=worst)
            elif _COMMAND.search(plaintext):
                trace.report("A34", f"encoded text holds a command: {plaintext[:60]!r}", at)


# Everyday words in ROT13 and backwards, three on one line, and how to read such a text.
_DISGUISES: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = tuple(
    (re.compile(rf"(?:\b(?:{marks})\b[^\n]{{0,200}}?){{3}}"), decode)
    for marks, decode in (
        ("gur|naq|lbh|lbhe|guvf|gung|jvgu|sebz|hfre|gb", indicators.decode_rot13),
        ("eht|dna|uoy|ruoy|siht|taht|htiw|morf|resu|ot", indicators.reverse),
    )
)
_COMMAND = load_pattern("character-command")
