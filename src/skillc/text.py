r"""Clean, quote, cut and suggest text: one function of each kind, for every room.

>>> print(one_line("a\nb\x1b[31m"))
a\nb\x1b[31m
>>> shell_quote("my skill"), shell_quote("my skill", '"')
("'my skill'", '"my skill"')
>>> suggest("PDF_forms", ["pdf-forms", "docx"])
('pdf-forms',)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Spaces of every width, and the joiners of letters and emoji: they belong to the words and do no harm.
_SPACES = (
    "\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
    "\u200c\u200d"
)
_PLAIN = dict.fromkeys(map(ord, "-_./"))  # characters besides letters and digits that no shell acts on

MAX_SUGGESTIONS = 3
MAX_NAME = 200  # characters; a longer name gets no suggestion and is none
MAX_COMPARED = 2000  # names compared letter by letter; of more, the first with the same initial
MIN_RATIO = 0.65  # similarity from which two names are alike
PART_RATIO = 0.5  # similarity of a name and a part of it
MIN_PART = 3  # letters of such a part


def one_line(text: str) -> str:
    """Return `text` with everything unprintable written out as an escape, so that it stays one line."""
    return text if text.isprintable() else _escape(text, _SPACES)


def visible(text: str) -> str:
    """Return `text` with every character that can't be seen written out: joiners and odd spaces too."""
    return text if text.isprintable() else _escape(text, "")


def _escape(text: str, safe: str) -> str:
    return "".join(c if c.isprintable() or c in safe else c.encode("unicode_escape").decode() for c in text)


def fold_line(text: str) -> str:
    """Return `text` with its white space folded to single spaces and anything else unprintable removed."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(c for c in line if c.isprintable() or c == "\u200d")


def utf8_text(text: str, errors: str = "backslashreplace") -> str:
    """Return `text` as UTF-8 can hold it: lone surrogates written out, or with "replace" replaced."""
    return text if text.isascii() else text.encode("utf-8", errors).decode()


def cut(text: str, length: int) -> str:
    """Return at most `length` characters; a cut ends in an ellipsis."""
    return text if len(text) <= length else text[: max(0, length - 1)].rstrip() + "…"


def shell_quote(text: str, mark: str = "'") -> str:
    r"""Return `text` as one word for a POSIX shell, on one line.

    With `mark='"'` it is in double quotes where nothing in it has a meaning there.

    >>> print(shell_quote("pdf"), shell_quote("it's"), shell_quote("a\nb"))
    pdf 'it'\''s' $'a\x0ab'
    """
    if text.isascii() and text.translate(_PLAIN).isalnum() and text[0] != "-":
        return text
    if not text.isprintable():
        return "$'" + "".join(map(_shell_character, text)) + "'"
    if mark == '"' and not any(c in '"$`\\!' for c in text):
        return f'"{text}"'
    return "'" + text.replace("'", "'\\''") + "'"


def _shell_character(c: str) -> str:
    if c in "'\\":
        return "\\" + c
    if c.isprintable():
        return c
    return "".join(f"\\x{byte:02x}" for byte in c.encode("utf-8", "surrogateescape"))


def yaml_quote(text: str) -> str:
    r"""Return `text` as a YAML double-quoted scalar on one line, which every YAML reader reads back equal.

    >>> print(yaml_quote('He said: "é\n"'))
    "He said: \"é\n\""
    """
    return '"' + "".join(map(_yaml_character, text)) + '"'


def _yaml_character(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c.isprintable():
        return c
    if c in "\n\t":
        return "\\n" if c == "\n" else "\\t"
    code = ord(c)
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"  # half a character, which no file can hold
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def suggest(
    name: str, names: Iterable[str], limit: int = MAX_SUGGESTIONS, ratio: float = MIN_RATIO
) -> tuple[str, ...]:
    """Return the names that a mistyped `name` may mean, best first, equals by name.

    Names are compared without case, by their last segment; `_` and spaces count as hyphens. `ratio` is
    the similarity from which two names are alike.

    >>> suggest("refund", ["billing/refunds", "billing/invoices"])
    ('billing/refunds',)
    >>> suggest("weather", ["pdf-forms", "docx"])
    ()
    """
    key = _comparable(name)
    if not key or len(name) > MAX_NAME:
        return ()
    others = [(other, _comparable(other)) for other in {*names} if len(other) <= MAX_NAME and other != name]
    same = [other for other, theirs in others if theirs == key]  # in another spelling or collection
    if same:
        return tuple(sorted(same)[:limit])
    if len(others) > MAX_COMPARED:
        others = [(other, theirs) for other, theirs in others if theirs[:1] == key[:1]]
    scores = [(-_similarity(key, theirs, ratio), other) for other, theirs in sorted(others)[:MAX_COMPARED]]
    return tuple(other for score, other in sorted(scores)[:limit] if score)


def _comparable(name: str) -> str:
    last = name.rstrip("/").rpartition("/")[2]
    return last.casefold().replace("_", "-").replace(" ", "-")


def _similarity(one: str, two: str, ratio: float) -> float:
    """Return how alike two names are: from 0, not at all, to 1, equal."""
    from difflib import SequenceMatcher  # costs a millisecond; only errors need it

    matcher = SequenceMatcher(None, one, two, autojunk=False)
    bounds = matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio  # the cheapest first
    if all(bound() >= ratio for bound in bounds):
        return matcher.ratio()
    shorter, longer = sorted((one, two), key=len)
    return PART_RATIO if len(shorter) >= MIN_PART and shorter in longer else 0.0
