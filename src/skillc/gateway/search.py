"""`search`: sections that hold the words of a query, best first [RFC-0004:C-SEARCH, C-QUERY-SYNTAX]."""

from __future__ import annotations

from skillc import errors
from skillc.index.sections import DatabaseError, open_index, segment, unsegment
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection
    from typing import Any

    from skillc.library import Skill

    Row = tuple[str, str, str, float]

ALL, ANY, PHRASE, RAW = "all", "any", "phrase", "raw"  # how the words of a query are put together

AT_ONCE = 64  # words in one FTS5 expression, each of which takes memory; words of a phrase
MAX_RAW = 10_000  # characters of an expression in FTS5's own language
MAX_COUNTED = 16  # words that are looked up one by one to say which of them occur

# How many sections match, up to one more than are wanted. Finding none is half as dear without an order.
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM sections WHERE sections MATCH ? LIMIT ?)"
_BEST = """
SELECT file, section, snippet(sections, 2, '[MATCH]', '[/MATCH]', '...', 32), {score}
FROM sections WHERE sections MATCH ? ORDER BY {score} LIMIT ?
"""
# By `rank` FTS5 puts rows in order before snippets are made of them, and weighs each word twice for it;
# where all rows are wanted, that is lost.
_OF_MANY, _OF_FEW = _BEST.format(score="rank"), _BEST.format(score="bm25(sections)")


class Result:
    """A section that was found; a higher score is a better one."""

    __slots__ = ("file", "score", "section", "snippet")

    def __init__(self, file: str, section: str, snippet: str, score: float) -> None:
        self.file = file
        self.section = section
        self.snippet = snippet
        self.score = score


class Found:
    """The results of a search. Where there are none, `hint` says which words would find something."""

    __slots__ = ("query", "results")

    def __init__(self, query: str, results: list[Result]) -> None:
        self.query = query
        self.results = results

    def as_json(self) -> dict[str, Any]:
        fields = ("file", "section", "snippet", "score")
        results = [{field: getattr(result, field) for field in fields} for result in self.results]
        return {"query": self.query, "results": results}

    def lines(self) -> Iterator[str]:
        """The results for reading."""
        from skillc.text import one_line

        for result in self.results:
            yield f"{one_line(result.file)}#{one_line(result.section)} (score: {result.score:.2f})"
            yield f"  {one_line(' '.join(result.snippet.split()))}"
        if not self.results:
            yield "No results."


def search_sections(
    skill: Skill, query: str, *, limit: int = 10, mode: str = ALL, tokenizer: str = "ascii"
) -> Found:
    """The sections that match, at most `limit`; raises EmptyQuery for a query without words."""
    words = split(query)
    if not words:
        raise errors.EmptyQuery
    opened = open_index(skill, tokenizer)
    if opened.segmented:
        words = [segment(word) for word in words]
    try:
        if mode == ALL:
            rows = _all(opened.connection, words, limit)
        elif mode == ANY:
            rows = _rows(opened.connection, " OR ".join(map(quoted, _distinct(words)[:AT_ONCE])), limit)
        elif mode == PHRASE:
            rows = _rows(opened.connection, quoted(" ".join(words)), limit)
        else:
            rows = _raw(opened.connection, query, opened.segmented, limit)
        return Found(query, [_result(row, opened.segmented) for row in rows])
    except DatabaseError:
        raise errors.IndexUnusable(skill.name) from None


def hint(skill: Skill, query: str, any_words: str, tokenizer: str = "ascii") -> str:
    """Which words of a query that found nothing do occur, for `any_words` to rank by; empty if none does.

    Apart from `search`, so that a search costs what its SQL costs, also when it finds nothing.
    """
    words = _distinct(split(query))[:MAX_COUNTED]
    counts = _occurring(skill, words, tokenizer) if len(words) > 1 else []
    if not counts:
        return ""
    from skillc.text import one_line

    told = ", ".join(f"{one_line(word)} ({count})" for word, count in counts)
    return f"note: no section holds all words; these occur: {told}; {any_words} ranks by them"


def _occurring(skill: Skill, words: list[str], tokenizer: str) -> list[tuple[str, int]]:
    """The words that some section holds, and how many sections."""
    opened = open_index(skill, tokenizer)
    spell = segment if opened.segmented else str
    sql = "SELECT count(*) FROM sections WHERE sections MATCH ?"
    try:
        counts = [
            (word, opened.connection.execute(sql, (quoted(spell(word)),)).fetchone()[0]) for word in words
        ]
    except DatabaseError:
        raise errors.IndexUnusable(skill.name) from None
    return [(word, count) for word, count in counts if count]


def split(query: str) -> list[str]:
    """The words of a query: split at ASCII white space only."""
    if query.isprintable():  # then it has no other space than U+0020
        return query.split()
    query = utf8_text(query)
    for space in "\t\n\r":
        query = query.replace(space, " ")
    return [word for word in query.split(" ") if word]


def quoted(word: str) -> str:
    """A word, or several as a phrase, as FTS5 takes it literally.

    >>> print(quoted('"special"'))
    \"\"\"special\"\"\"
    """
    if len(word) >= 2 * AT_ONCE:
        word = _beginning(word)
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'


def _beginning(phrase: str) -> str:
    """What a phrase is found by: its first words, because FTS5 takes time for each that grows with them."""
    from unicodedata import category  # only for phrases of such length

    count, inside = 0, False
    for position, character in enumerate(phrase):
        kind = category(character)  # FTS5 takes letters, numbers, private use and accents for words
        word = kind[0] in "LN" or kind == "Co" or "\u0300" <= character <= "\u036f"
        if word and not inside:
            count += 1
            if count > AT_ONCE:
                return phrase[:position]
        inside = word
    return phrase


def _result(row: Row, segmented: bool) -> Result:
    """A row as it is told; its rank is the lower the better."""
    file, section, snippet, rank = row
    if not (isinstance(file, str) and isinstance(section, str) and isinstance(snippet, str)):
        raise DatabaseError("not text")  # in an index that is damaged
    if segmented:
        file, section, snippet = map(unsegment, (file, section, snippet))
    return Result(file, section, snippet, -rank)


def _rows(connection: Connection, expression: str, limit: int) -> list[Row]:
    """The best rows that match, in their order."""
    count = connection.execute(_COUNT, (expression, limit + 1)).fetchone()[0]
    if not count:
        return []
    best = _OF_FEW if count <= limit else _OF_MANY
    return connection.execute(best, (expression, limit)).fetchall()


def _all(connection: Connection, words: list[str], limit: int) -> list[Row]:
    """Rows that hold all words."""
    if len(words) <= AT_ONCE:
        return _rows(connection, " ".join(map(quoted, words)), limit)
    terms = [quoted(word) for word in _distinct(words)]
    parts = [" ".join(terms[start : start + AT_ONCE]) for start in range(0, len(terms), AT_ONCE)]
    if len(parts) == 1:
        return _rows(connection, parts[0], limit)
    return _all_of_many(connection, parts, limit)


def _distinct(words: list[str]) -> list[str]:
    """The words that are more than punctuation, each once, whatever its case and punctuation."""
    alike: dict[str, str] = {}
    for word in words:
        letters = "".join([c if c.isalnum() else " " for c in word]).split()
        alike.setdefault(" ".join(letters).casefold(), word)
    punctuation = alike.pop("", "")
    return list(alike.values()) or [punctuation]


def _all_of_many(connection: Connection, parts: list[str], limit: int) -> list[Row]:
    """More words than one expression takes: their rows are met part by part, ranked by the first part."""
    holding: set[int] | None = None
    for part in parts:
        rows = {
            row[0] for row in connection.execute("SELECT rowid FROM sections WHERE sections MATCH ?", (part,))
        }
        holding = rows if holding is None else holding & rows
        if not holding:
            return []
    ranked = connection.execute(_OF_MANY.replace("SELECT ", "SELECT rowid, ", 1), (parts[0], -1))
    return [row[1:] for row in ranked if row[0] in (holding or ())][:limit]


def _raw(connection: Connection, query: str, segmented: bool, limit: int) -> list[Row]:
    """A query in FTS5's own language."""
    query = utf8_text(query)
    if segmented:
        query = segment(query)
    if len(query) > MAX_RAW:
        raise errors.InvalidOption(f"--raw query is longer than {MAX_RAW} characters")
    query = " " + query.replace("\0", " ")  # a space, because FTS5 has commands that start with an asterisk
    try:
        if "*" in query:  # the words that begin so are looked up each time, which is most of the work
            return connection.execute(_OF_MANY, (query, limit)).fetchall()
        return _rows(connection, query, limit)
    except DatabaseError:
        _check(query)
        raise  # the index is damaged


def _check(query: str) -> None:
    """Raise InvalidOption for what is not FTS5's language: it fails in an empty table, too."""
    from skillc.startup.sqlite import connect

    empty = connect(":memory:")
    empty.execute("CREATE VIRTUAL TABLE sections USING fts5(file, section, content)")
    try:
        _rows(empty, query, 1)
    except DatabaseError as error:
        raise errors.InvalidOption(f"--raw query is not FTS5 syntax: {error}") from None
    finally:
        empty.close()
