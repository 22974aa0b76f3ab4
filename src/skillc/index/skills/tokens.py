"""Text as the terms that skills are found by: words without endings, or pairs of characters.

English words lose their endings by SQLite's own Porter stemmer, which is reached through a
full-text table in memory: what goes in as words is read back as terms. Words of other
alphabets stay as they are, without accents. Scripts that write no spaces (Chinese, Japanese, Thai,
and Korean, whose words carry their particles) become overlapping pairs of characters.

>>> Stemmer().terms("Running the migrations for PostgreSQL, déjà vu, 查看日志")
['run', 'the', 'migrat', 'for', 'postgresql', 'deja', 'vu', '查看', '看日', '日志']
"""

from __future__ import annotations

from skillc.startup.sqlite import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 32  # characters; longer words are keys, hashes and encoded data
UNKNOWN = b"?"  # in place of the terms of a word that is to be learned
REMEMBERED = 250_000  # words whose stems are kept in memory
AT_ONCE = 20_000  # words that go through the table together

# Words that say nothing about a task. In a large library they are common and weigh little by themselves; in
# one of ten skills chance would decide.
_EMPTY = """
a an and any are as at be been but by can could do does for from had has have how i if in into is it its me my
no not of on or our so that the their them then there these they this to us was we were what when which who
will with would you your
"""
EMPTY_WORDS = frozenset(_EMPTY.encode().split())

_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1100, 0x11FF),  # Hangul Jamo
    (0x1780, 0x17FF),  # Khmer
    (0x3005, 0x3007),  # iteration mark, closing mark, zero
    (0x3040, 0x31FF),  # kana, Bopomofo, Hangul letters
    (0x3400, 0x4DBF),  # CJK extension A
    (0x4E00, 0x9FFF),  # CJK
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),  # CJK compatibility
    (0x20000, 0x3FFFF),  # CJK extensions B and on
)


class _Unspaced(dict[str, bool]):
    """Whether a character is of a script that writes no spaces. A cache, like `_Letters`."""

    def __missing__(self, character: str) -> bool:
        code = ord(character)
        self[character] = value = any(first <= code <= last for first, last in _UNSPACED)
        return value


_is_unspaced = _Unspaced().__getitem__


class _Letters(dict[int, str | int]):
    """What `str.translate` puts for a character: itself, or a space between words.

    A cache: at most one entry for each character there is.
    """

    def __missing__(self, code: int) -> str | int:
        character = chr(code)
        kept = character.isalnum() or (code > 127 and _joins(character))
        self[code] = value = code if kept else " "
        return value


def _joins(character: str) -> bool:
    """Whether a character is a mark that belongs to the letter before it, as vowels in many scripts do."""
    from unicodedata import category  # only for text that is not plain English

    return category(character)[0] == "M"


_letters = _Letters()
_ASCII = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() else 32 for byte in range(128))
_BYTES = _ASCII + bytes(range(128, 256))


def words(data: bytes) -> list[bytes]:
    """The words of UTF-8 text in lower case; what is not ASCII is not looked at yet and parts no words."""
    return data.translate(_BYTES).split()


class _Known(dict[bytes, bytes]):
    """The terms of words, with spaces between: those that are `several`.

    Words that are looked up in vain are noted as `new`.
    """

    __slots__ = ("new", "several")

    def __init__(self) -> None:
        self.new: set[bytes] = set()
        self.several: set[bytes] = set()

    def __missing__(self, word: bytes) -> bytes:
        if word.isascii() and not word.isalpha():  # a number, a version, a key: none has an ending
            self[word] = term = word if len(word) <= LONGEST else b""
            return term
        self.new.add(word)
        return UNKNOWN


class Stemmer:
    """Words to terms, with those met before kept in memory. For one thread at a time."""

    __slots__ = ("_connection", "_known")

    def __init__(self) -> None:
        self._known = _Known()
        self._connection = connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5(word, content='', columnsize=0, tokenize='porter ascii')"
        )
        self._connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(words, instance)")

    def __del__(self) -> None:
        self._connection.close()

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order."""
        return b" ".join(self.each(words(text.encode("utf-8", "replace")))).decode().split()

    def counted(self, texts: Sequence[list[bytes]]) -> list[dict[bytes, int]]:
        """How often each term occurs in texts that are given as words.

        New words are learned for all texts at once, which takes less time than one text after another.
        """
        from collections import _count_elements as count  # type: ignore[attr-defined]  # what Counter is made of

        known = self._with_room()
        every: list[dict[bytes, int]] = [{} for _ in texts]
        for counts, found in zip(every, texts, strict=True):
            count(counts, map(known.__getitem__, found))
        new = self._caught_up()
        for counts, found in zip(every, texts, strict=True):
            if counts.pop(UNKNOWN, 0):
                count(counts, map(known.__getitem__, filter(new.__contains__, found)))
            for several in known.several.intersection(counts):
                times = counts.pop(several)
                for term in several.split():
                    counts[term] = counts.get(term, 0) + times
            counts.pop(b"", None)
        return every

    def each(self, found: Sequence[bytes]) -> list[bytes]:
        """The terms of each word, with spaces between; a word may have none or several."""
        known = self._with_room()
        terms = list(map(known.__getitem__, found))
        return list(map(known.__getitem__, found)) if self._caught_up() else terms

    def _with_room(self) -> _Known:
        if len(self._known) > REMEMBERED:
            self._known.clear()
            self._known.several.clear()
        return self._known

    def _caught_up(self) -> set[bytes]:
        """Learn what was looked up in vain; returns it."""
        new, self._known.new = self._known.new, set()
        if new:
            self._learn(new)
        return new

    def _learn(self, new: set[bytes]) -> None:
        """Remember the terms of these words."""
        plain = {word for word in new if word.isascii()}
        foreign = {word: _parts(word.decode("utf-8", "replace")) for word in new - plain}
        plain.update(part for parts in foreign.values() for part in parts if part.isalpha())
        self._known.update(dict.fromkeys(plain, b""))
        stems = [word for word in plain if len(word) <= LONGEST]
        for start in range(0, len(stems), AT_ONCE):
            self._stem(stems[start : start + AT_ONCE])
        for word, parts in foreign.items():
            terms = [self._known[part] if part.isascii() else part for part in parts]
            self._known[word] = b" ".join(terms)
            if len(terms) > 1:
                self._known.several.add(self._known[word])

    def _stem(self, plain: list[bytes]) -> None:
        """Learn words of ASCII letters, each of which the table takes for one token."""
        execute, known = self._connection.execute, self._known
        execute("INSERT INTO words (rowid, word) VALUES (1, ?)", (b" ".join(plain).decode(),))
        for term, position in execute("SELECT term, offset FROM terms"):
            word, stem = plain[position], term.encode()
            known[word] = word if word == stem else stem
        execute("INSERT INTO words (words) VALUES ('delete-all')")


def _parts(text: str) -> list[bytes]:
    """What stands between two spaces and holds letters, or other signs, beyond ASCII.

    Words of ASCII letters, which may have endings, and terms of all others.
    """
    parts: list[str] = []
    for word in text.lower().translate(_letters).split():
        for run in _runs(word) if any(map(_is_unspaced, word)) else [word]:
            if _is_unspaced(run[0]):
                parts += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
            else:
                simple = run if run.isascii() else _without_marks(run).translate(_letters)
                parts += [part for part in simple.split() if len(part) <= LONGEST]
    return [part.encode() for part in parts]


def _runs(word: str) -> list[str]:
    """A word cut where it changes between scripts with and without spaces."""
    runs, start = [], 0
    for at in range(1, len(word) + 1):
        if at == len(word) or _is_unspaced(word[at]) != _is_unspaced(word[start]):
            runs.append(word[start:at])
            start = at
    return runs


def _without_marks(word: str) -> str:
    """`word` in its simplest letters: without accents, full-width forms as ASCII."""
    from unicodedata import combining, normalize

    return "".join(c for c in normalize("NFKD", word) if not combining(c)).lower()
