"""Find what a reader does not see: characters that are not shown, and encoded text.

Joiners in emoji and in scripts that need them, and marks at the start of a file are ordinary.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

from skillc.audit import indicators
from skillc.audit.findings import LineCounter, Trace
from skillc.audit.patterns import load_names, load_pattern

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_ZERO = re.compile("[\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e\u00ad\u115f\u1160\u3164\uffa0]+")
_RUN = re.compile("|".join(marks.pattern for marks in (_TAGS, _SELECTORS, _BIDI, _ZERO)))
_RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_INVISIBLE = load_pattern("invisible")
_BLOB = load_pattern("character-blob")
_HEX = re.compile(r"(?<![\w])(?:(?:\\x[0-9a-fA-F]{2}){20,20000}|[0-9a-fA-F]{48,40000})(?![\w])")
_JOINED = load_names("joined")


def find_hidden(text: str) -> Iterator[re.Match[str]]:
    """Yield the runs of characters that are not shown, without those that a script or an emoji needs."""
    if text.isascii() or not _INVISIBLE.search(text):
        return
    has_rtl = bool(_RTL.search(text))
    for match in _RUN.finditer(text):
        if not _is_ordinary(match, has_rtl):
            yield match


def spell_hidden(run: str) -> str:
    """Return what a run of characters that are not shown spells, or nothing."""
    if _TAGS.match(run):
        letters = "".join(chr(ord(c) - 0xE0000) for c in run if 0xE0020 <= ord(c) < 0xE007F)
        return letters if sum(map(str.isalpha, letters)) >= 4 else ""
    if _SELECTORS.match(run):
        numbers = (ord(c) - 0xFE00 if ord(c) < 0xFE10 else ord(c) - 0xE0100 + 16 for c in run[:4000])
        return indicators.as_text(bytes(numbers))
    return _spell_bits(run)


def check_characters(text: str, trace: Trace, line: int = 1) -> None:
    """Report characters that are not shown, with what they spell."""
    counter = LineCounter(text, line)
    for match in find_hidden(text):
        check = next(check for marks, check in _CHECKS if marks.match(match[0]))
        check(match, trace, counter.at(match.start()))


def _check_tags(match: re.Match[str], trace: Trace, line: int) -> None:
    letters = spell_hidden(match[0])
    if letters:
        trace.report("A31", f"characters that are not shown spell: {letters[:80]!r}", line)
    else:
        trace.report("A30", "tag characters, which are not shown", line)


def _check_selectors(match: re.Match[str], trace: Trace, line: int) -> None:
    letters = spell_hidden(match[0])
    if len(match[0]) >= 8 or letters:
        trace.report("A31", f"variation selectors hold data: {letters[:80]!r}", line)


def _check_bidi(match: re.Match[str], trace: Trace, line: int) -> None:
    trace.report("A30", f"U+{ord(match[0][0]):04X} changes the order in which text is shown", line)


def _check_zero_width(match: re.Match[str], trace: Trace, line: int) -> None:
    start, end = match.span()
    before, after = match.string[start - 1 : start], match.string[end : end + 1]
    if len(match[0]) >= 8:
        letters = spell_hidden(match[0])
        suffix = f" spell: {letters[:80]!r}" if letters else ""
        trace.report("A31", f"{len(match[0])} characters in a row that are not shown{suffix}", line)
    elif before.isalnum() and after.isalnum() and before.isascii() and after.isascii():
        trace.report("A30", f"U+{ord(match[0][0]):04X}, which is not shown, is inside of a word", line)
    else:
        trace.report("A30", f"U+{ord(match[0][0]):04X} is not shown", line, level="note")


_CHECKS = (
    (_TAGS, _check_tags),
    (_SELECTORS, _check_selectors),
    (_BIDI, _check_bidi),
    (_ZERO, _check_zero_width),
)


def _is_ordinary(match: re.Match[str], has_rtl: bool) -> bool:
    """Return whether a run is what a script, an emoji or a file's start needs."""
    run, text, (start, end) = match[0], match.string, match.span()
    if _TAGS.match(run):  # a flag, such as Scotland's
        return text[max(start - 1, 0) : start] == "\U0001f3f4" and len(run) <= 8
    if _BIDI.match(run):
        return has_rtl and not re.search("[\u202d\u202e]", run)
    if not start:
        return run == "\ufeff"
    if run not in ("\u200d", "\u200c"):
        return False
    return _needs_joiner(text[start - 1]) or _needs_joiner(text[end : end + 1])


def _spell_bits(run: str) -> str:
    """Return what two kinds of characters spell as the bits of letters, or nothing."""
    kinds = sorted(set(run))
    if len(kinds) != 2 or len(run) < 16:
        return ""
    bits = "".join(str(kinds.index(c)) for c in run[:8000])
    for order in (bits, bits.translate(str.maketrans("01", "10"))):
        data = bytes(int(order[at : at + 8], 2) for at in range(0, len(order) - 7, 8))
        letters = indicators.as_text(data)
        if letters:
            return letters
    return ""


def _needs_joiner(letter: str) -> bool:
    if not letter:
        return False
    if unicodedata.category(letter) in ("So", "Sk", "Mn") or letter == "\ufe0f":
        return True
    return unicodedata.name(letter, "").split(" ")[0] in _JOINED


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
