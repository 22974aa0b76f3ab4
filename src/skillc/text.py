r"""Clean, fold, cut and compare text: one function of each kind, for every room.

>>> print(one_line("a\nb\x1b[31m"))
a\nb\x1b[31m
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # reading commands do without it
    from collections.abc import Iterable, Sequence

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


def one_line(text: str) -> str:
    """Return `text` with everything unprintable written out as an escape, so that it stays one line."""
    return text if text.isprintable() else _escape(text, _SPACES)


def join_words(words: Sequence[str]) -> str:
    """Return words as one says them.

    >>> join_words(["add", "list", "remove"])
    'add, list or remove'
    """
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def count_of(number: int, what: str, plural: str = "") -> str:
    """Return a number of things.

    >>> count_of(1, "skill"), count_of(1200, "entry", "entries")
    ('1 skill', '1,200 entries')
    """
    return f"{number:,} {what if number == 1 else plural or f'{what}s'}"


def first_of(names: Sequence[str], limit: int) -> str:
    """Return the first of some names, and how many more there are.

    >>> first_of(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{', '.join(names[:limit])}{more}"


def size_of(number: int) -> str:
    """Return a number of bytes for people.

    >>> size_of(900), size_of(20_480), size_of(3 << 20), size_of(5 << 30)
    ('900 B', '20 KB', '3 MB', '5 GB')
    """
    if number < 1000:
        return f"{number} B"
    if number < 1_000_000:
        return f"{number / 1024:.0f} KB"
    size, unit = (number / (1 << 20), "MB") if number < 1_000_000_000 else (number / (1 << 30), "GB")
    return f"{size:.1f} {unit}".replace(".0 ", " ")


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


def bare_line(text: str) -> str:
    r"""Return `text` on one line, without anything that can't be seen; visible letters stay as they are.

    >>> bare_line("Fill\u200b in\x1b[2J \n forms\U000e0041 \u3164.")
    'Fill in[2J forms .'
    """
    line = fold_line(text)
    if line.isascii():
        return line
    return " ".join("".join(c for c in line if c.isascii() or visible(f"x{c}") == f"x{c}").split())


def utf8_text(text: str, errors: str = "backslashreplace") -> str:
    """Return `text` as UTF-8 can hold it: lone surrogates written out, or with "replace" replaced."""
    return text if text.isascii() else text.encode("utf-8", errors).decode()


def cut(text: str, length: int) -> str:
    """Return at most `length` characters; a cut ends in an ellipsis."""
    return text if len(text) <= length else text[: max(0, length - 1)].rstrip() + "…"


def remove_accents(text: str) -> str:
    from unicodedata import combining, normalize  # only for text that is not plain English

    return "".join(c for c in normalize("NFKD", text) if not combining(c)).lower()


def count_edits(first: str, second: str, limit: int) -> int:
    """Return how many edits lead from one text to another, a swap being one; over `limit`, just that.

    >>> count_edits("kubernt", "kubernet", 2), count_edits("fomrs", "forms", 2), count_edits("a", "xyz", 2)
    (1, 1, 3)
    """
    if abs(len(first) - len(second)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(second, 1):
            edits = min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and b == first[i - 2]:
                edits = min(edits, last[j - 2] + 1)
            row.append(edits)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def describe_roles(permissions: Iterable[tuple[str, str]], shown: int = 5) -> str:
    """Return roles and the prefixes that they hold below as words, and that there are no others.

    >>> describe_roles([("publisher", "payments")])
    'publisher below payments, no role elsewhere'
    """
    own = sorted(permissions, key=lambda each: each[1])
    if not own:
        return "no role"
    words = [f"{role} {f'below {prefix}' if prefix else 'of all'}" for role, prefix in own[:shown]]
    more = [f"{len(own) - shown} more"] if len(own) > shown else []
    is_everywhere = any(not prefix for _, prefix in own)
    return ", ".join([*words, *more, *([] if is_everywhere else ["no role elsewhere"])])
