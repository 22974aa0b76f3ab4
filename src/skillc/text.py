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
# Letters and symbols that are drawn as nothing, or as a space; and marks that choose how others are drawn.
_BLANKS = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U00013441\U00013442"
    "\U00016fe4\U0001d159"
)
MAX_MARKS = 2  # combining marks on one letter; more are written out, since they can cover what is near
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
    r"""Return `text` with every character written out that can't be seen, or looks like a plain space.

    That is everything unprintable, joiners and other spaces, blank letters, variation selectors, and
    combining marks that are not on a letter.

    >>> print(visible("a\u200bb\u3164 \u0301x\ufe0f"), visible("cafe\u0301") == "cafe\u0301")
    a\u200bb\u3164 \u0301x\ufe0f True
    """
    if text.isascii():
        return text if text.isprintable() else _escape(text, "")
    from unicodedata import category  # only for text that is not ASCII

    characters: list[str] = []
    marks = MAX_MARKS  # on the letter before; as if there were too many where there is none
    for c in text:
        kind = category(c)[0]
        is_hidden = not c.isprintable() or c in _BLANKS or "\ufe00" <= c <= "\ufe0f" or c >= "\U000e0000"
        marks = MAX_MARKS if is_hidden or kind not in "LM" else marks + 1 if kind == "M" else 0
        is_hidden = is_hidden or marks > MAX_MARKS
        characters.append(_escape_character(c) if is_hidden else c)
    return "".join(characters)


def terminal_text(text: str) -> str:
    r"""Return text of several lines with everything that a terminal acts on written out.

    >>> print(terminal_text("a b\r\n\x1b[2Jc\rd"))
    a b
    \x1b[2Jc\rd
    """
    if text.isprintable():
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join([line if line.isprintable() else _escape(line, _SPACES + "\t") for line in lines])


def _escape(text: str, safe: str) -> str:
    return "".join(c if c.isprintable() or c in safe else _escape_character(c) for c in text)


def _escape_character(c: str) -> str:
    return c.encode("unicode_escape").decode()


def fold(text: str, width: int, indent: str = "") -> str:
    """Return `text` in lines of at most `width` columns, the second and later ones with an indent.

    Nothing is left out, and no line starts in the first column but the first: what a terminal would wrap
    could pose as a line of its own.

    >>> print(fold("Command: abcdefgh", 12, "         "))
    Command: abc
             def
             gh
    """
    if text.isascii() and len(text) <= width:
        return text
    from unicodedata import east_asian_width  # only for long lines

    lines, columns = [""], 0
    for c in text:
        size = 2 if east_asian_width(c) in "WF" else 1
        if columns + size > width:
            lines.append(indent)
            columns = len(indent)
        lines[-1] += c
        columns += size
    return "\n".join(lines)


def fold_line(text: str) -> str:
    r"""Return `text` with its white space folded to single spaces and anything else unprintable removed.

    >>> fold_line("zero \u200b width\u200b ")
    'zero width'
    """
    line = " ".join(text.split())
    if line.isprintable():
        return line
    return " ".join("".join(c for c in line if c.isprintable() or c == "\u200d").split())


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
