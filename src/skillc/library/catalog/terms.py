"""Text as the terms that skills are found by: words without endings, or pairs of characters.

English words lose their endings by SQLite's own Porter stemmer, which is reached through a
full-text table in memory: what goes in as words is read back as terms. Words of other
alphabets stay as they are, without accents. Scripts that write no spaces (Chinese, Japanese, Thai,
and Korean, whose words carry their particles) become overlapping pairs of characters.

>>> Stemmer().terms("Running the migrations for PostgreSQL, déjà vu, 查看日志")
['run', 'the', 'migrat', 'for', 'postgresql', 'deja', 'vu', '查看', '看日', '日志']
"""

from __future__ import annotations

from skillc.sqlite import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST = 32  # characters; longer words are keys, hashes and encoded data
REMEMBERED = 250_000  # words whose stems are kept in memory
AT_ONCE = 20_000  # words that go through the table together

# Words that say nothing about a task. In a large library they are common and weigh little by themselves; in
# one of ten skills chance would decide.
_EMPTY = """
a an and any are as at be been but by can could do does for from had has have how i if in into is it its me my
no not of on or our so that the their them then there these they this to us was we were what when which who
will with would you your
"""
EMPTY_WORDS = frozenset(_EMPTY.split())

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


def _is_unspaced(character: str) -> bool:
    code = ord(character)
    return code >= 0x0E00 and any(first <= code <= last for first, last in _UNSPACED)


class _Words(dict[int, str | int]):
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


_words = _Words()


def words(text: str) -> list[str]:
    """The words of a text in lower case, as they stand; what is not alphanumeric parts them."""
    lowered = text.lower()
    if not lowered.isascii() and all(_words[ord(c)] == " " for c in set(lowered) if c > "\x7f"):
        # Dashes, quotes, arrows and emoji in English text: plain ASCII goes through ten times as fast.
        lowered = lowered.encode("ascii", "replace").decode()
    return lowered.translate(_words).split()


class Stemmer:
    """Words to terms, with those met before kept in memory."""

    __slots__ = ("_connection", "_known")

    def __init__(self) -> None:
        self._known: dict[str, str] = {}  # a word's terms, with spaces between
        self._connection = connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5(word, content='', columnsize=0, tokenize='porter ascii')"
        )
        self._connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(words, instance)")

    def __del__(self) -> None:
        self._connection.close()

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order."""
        return self.stemmed(words(text))

    def stemmed(self, found: Sequence[str]) -> list[str]:
        """The terms of words, in order."""
        known = self._known
        try:
            return " ".join(map(known.__getitem__, found)).split()
        except KeyError:
            self.learn(found)
        return " ".join(map(known.__getitem__, found)).split()

    def learn(self, found: Sequence[str]) -> None:
        """Remember the terms of all these words; to learn many at once costs less."""
        known = self._known
        new = set(found).difference(known)
        if len(known) + len(new) > REMEMBERED:
            known.clear()
            new = set(found)
        plain = []
        for word in new:
            if not word.isascii():
                known[word] = " ".join(self._foreign(word))
            elif len(word) > LONGEST:
                known[word] = ""
            else:
                plain.append(word)
        for start in range(0, len(plain), AT_ONCE):
            self._stem(plain[start : start + AT_ONCE])

    def _stem(self, plain: list[str]) -> None:
        """Learn words of ASCII letters and digits, each of which the table takes for one token."""
        execute, known = self._connection.execute, self._known
        execute("INSERT INTO words (rowid, word) VALUES (1, ?)", (" ".join(plain),))
        for term, position in execute("SELECT term, offset FROM terms"):
            known[plain[position]] = term
        execute("INSERT INTO words (words) VALUES ('delete-all')")

    def _foreign(self, word: str) -> list[str]:
        """The terms of a word with letters beyond ASCII."""
        if any(map(_is_unspaced, word)):
            return [term for run in _runs(word) for term in self._of_run(run)]
        simple = words(_without_marks(word))
        return [term for part in simple for term in self._simple(part)]

    def _simple(self, word: str) -> list[str]:
        if len(word) > LONGEST:
            return []
        if not word.isascii():
            return [word]
        if word not in self._known:
            self._stem([word])
        return [self._known[word]]

    def _of_run(self, run: str) -> list[str]:
        if not _is_unspaced(run[0]):
            return self._foreign(run)
        return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


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
