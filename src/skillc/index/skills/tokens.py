"""Tokens: turn text into the terms of the skill index, stemmed words or pairs of characters.

English words are stemmed by SQLite's own Porter stemmer, which is reached through a full-text table in
memory: words go in, terms are read back. Words of other alphabets only lose their accents. Scripts
without spaces (Chinese, Japanese, Thai, and Korean, whose words carry their particles) become
overlapping pairs of characters.

>>> terms = Stemmer().stem(split_words("Running the migrations for PostgreSQL, déjà vu, 查看日志"))
>>> b" ".join(terms).decode()
'run the migrat for postgresql deja vu 查看 看日 日志'
"""

from __future__ import annotations

from itertools import chain
from operator import add

from skillc.index.skills.near_duplicates import hash_term
from skillc.startup import sqlite
from skillc.text import remove_accents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_WORD = 32  # characters; longer words are keys, hashes and encoded data
NONE, UNKNOWN = 0, -1  # in place of a number: of a word without terms, of one that is not in the cache
MAX_CACHE = 250_000  # words whose terms are kept in memory
BATCH = 20_000  # words that go through the table together

# Words that say nothing about a task. In a large library they are common and weigh little by themselves;
# in one of ten skills chance would decide.
_STOP_WORDS = """
a an and any are as at be been but by can could do does for from had has have how i if in into is it its me my
no not of on or our so that the their them then there these they this to us was we were what when which who
will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.encode().split())

_ASCII = bytes(ord(chr(byte).lower()) if chr(byte).isalnum() else 32 for byte in range(128))
_BYTES = _ASCII + bytes(range(128, 256))


def split_words(text: bytes | str) -> list[bytes]:
    """Return the words of a text in lower case, as UTF-8; characters beyond ASCII are not split yet."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    return data.translate(_BYTES).split()


def split_typed(text: bytes | str) -> list[bytes]:
    """Return the words of a text as a person sees them: without quotes beyond ASCII, one for each script.

    >>> [word.decode() for word in split_typed("L\N{RIGHT SINGLE QUOTATION MARK}IMPÔT, MRI检查")]
    ['l', 'impôt', 'mri', '检查']
    """
    words = split_words(text)
    if text.isascii():
        return words
    from skillc.index import cjk  # only for text that is not plain English

    texts = [word.decode("utf-8", "replace").lower() for word in words]
    return [run.encode() for text in texts for run in ([text] if text.isascii() else cjk.split_runs(text))]


class _Numbers(dict[bytes, int]):
    """The numbers of terms, a new one for each that is looked up. `terms` and `hashes` are by number."""

    def __init__(self) -> None:
        self.terms = [b""]
        self.hashes = [0]

    def __missing__(self, term: bytes) -> int:
        self[term] = number = len(self.terms)
        self.terms.append(term)
        self.hashes.append(hash_term(term))
        return number


class _Pairs(dict[str, int]):
    """A cache of the numbers of pairs of characters, as text."""

    def __init__(self, numbers: _Numbers) -> None:
        self._numbers = numbers

    def __missing__(self, pair: str) -> int:
        self[pair] = number = self._numbers[pair.encode()]
        return number


class _WordCache(dict[bytes, int]):
    """The numbers of words of one term or none; `missing` are those that were looked up and not found."""

    def __init__(self) -> None:
        self.numbers = _Numbers()
        self.pairs = _Pairs(self.numbers)
        self.missing: list[bytes] = []

    def __missing__(self, word: bytes) -> int:
        if word.isascii() and not word.isalpha():  # a number, a version, a key: nothing to stem
            self[word] = number = self.numbers[word] if len(word) <= MAX_WORD else NONE
            return number
        self.missing.append(word)
        return UNKNOWN


class Stemmer:
    """Turns words into terms, with a cache of about MAX_CACHE words and terms. For one thread at a time.

    Texts are counted by the numbers of their terms, which are valid until `forget` is called: numbers are
    looked up and compared in half the time. `vocabulary` has the terms by number, `hashes` those of terms.
    """

    def __init__(self) -> None:
        self._cache = _WordCache()
        self._connection = sqlite.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE words USING fts5(word, content='', columnsize=0, tokenize='porter ascii')"
        )
        self._connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(words, instance)")

    def __del__(self) -> None:
        self._connection.close()

    @property
    def vocabulary(self) -> list[bytes]:
        return self._cache.numbers.terms

    @property
    def hashes(self) -> list[int]:
        return self._cache.numbers.hashes

    def count_terms(self, texts: Iterable[list[bytes]]) -> list[dict[int, int]]:
        """Return how often each term, by its number, occurs in each text, which is a list of words.

        The new words of all texts are stemmed together, which is faster than text by text.
        """
        from collections import _count_elements as count  # type: ignore[attr-defined]  # Counter's own loop, in C

        cache = self._cache
        results: list[dict[int, int]] = []
        rest: list[tuple[dict[int, int], list[bytes]]] = []
        for words in texts:
            counts: dict[int, int] = {}
            count(counts, map(cache.__getitem__, words))
            results.append(counts)
            if counts.pop(UNKNOWN, 0):
                rest.append((counts, cache.missing))
                cache.missing = []
        several = self._stem_new({word for _, words in rest for word in words})
        for counts, words in rest:
            count(counts, chain.from_iterable([several.get(word) or (cache[word],) for word in words]))
        for counts in results:
            counts.pop(NONE, None)
        return results

    def stem(self, words: Sequence[bytes]) -> list[bytes]:
        """Return the terms of each word, joined by spaces; a word may have none or several."""
        self.forget()
        cache, terms = self._cache, self.vocabulary
        numbers = list(map(cache.__getitem__, words))
        if not cache.missing:
            return list(map(terms.__getitem__, numbers))
        several = self._stem_new(set(cache.missing))
        return [b" ".join([terms[n] for n in several.get(word) or (cache[word],)]) for word in words]

    def forget(self) -> None:
        """Drop the words that were missing and, if it is full, the cache with all numbers."""
        self._cache.missing = []
        if max(len(self._cache), len(self.vocabulary)) > MAX_CACHE:
            self._cache = _WordCache()

    def _stem_new(self, new: set[bytes]) -> dict[bytes, list[int]]:
        """Add words to the cache; return the numbers of those with several terms, which it does not keep.

        Most of them are whole sentences of a script without spaces, and do not come again.
        """
        cache = self._cache
        plain = {word for word in new if word.isascii()}
        foreign = {word: _split_foreign(word.decode("utf-8", "replace")) for word in new - plain}
        plain.update(part for parts, _ in foreign.values() for part in parts if part.isalpha())
        cache.update(dict.fromkeys(plain, NONE))
        words = [word for word in plain if len(word) <= MAX_WORD]
        for start in range(0, len(words), BATCH):
            self._stem_batch(words[start : start + BATCH])
        several: dict[bytes, list[int]] = {}
        for word, (parts, pairs) in foreign.items():
            numbers = [cache[part] if part.isascii() else cache.numbers[part] for part in parts]
            numbers += map(cache.pairs.__getitem__, pairs)
            if len(numbers) > 1:
                several[word] = numbers
            else:
                cache[word] = numbers[0] if numbers else NONE
        return several

    def _stem_batch(self, words: list[bytes]) -> None:
        """Add words of ASCII letters to the cache; the table takes each for one token."""
        execute, cache = self._connection.execute, self._cache
        execute("INSERT INTO words (rowid, word) VALUES (1, ?)", (b" ".join(words).decode(),))
        for term, position in execute("SELECT term, offset FROM terms"):
            cache[words[position]] = cache.numbers[term.encode()]
        execute("INSERT INTO words (words) VALUES ('delete-all')")


def _split_foreign(text: str) -> tuple[list[bytes], list[str]]:
    """Split a word beyond ASCII into words, those of ASCII letters to be stemmed, and pairs of characters."""
    from skillc.index import cjk  # only for text that is not plain English

    spaced, runs = cjk.split_scripts(text.lower())
    pairs: list[str] = []
    for run in runs:
        pairs += map(add, run, run[1:]) if len(run) > 1 else [run]
    words = [part for word in spaced for part in cjk.split_letters(remove_accents(word))]
    return [word.encode() for word in words if len(word) <= MAX_WORD], pairs


def is_unspaced(run: str) -> bool:
    """Return whether a word, which is of one script, is of one without spaces."""
    from skillc.index import cjk  # only for text that is not plain English

    return cjk.is_unspaced(run[0])
