"""`search`: sections that hold the words of a query, best first [RFC-0004:C-SEARCH, C-QUERY-SYNTAX]."""

from __future__ import annotations

from skillc.compiler import index
from skillc.errors import EmptyQuery, IndexUnusable, InvalidOption
from skillc.skills.files import display_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection

    from skillc.library import Skill

ALL, ANY, PHRASE, RAW = "all", "any", "phrase", "raw"  # how the words of a query are put together

AT_ONCE = 64  # words in one FTS5 expression, whose depth is limited
MAX_COUNTED = 16  # words that are looked up one by one to say which of them occur

_SQL = """
SELECT file, section, snippet(sections, 2, '[MATCH]', '[/MATCH]', '...', 32), rank
FROM sections WHERE sections MATCH ? ORDER BY rank LIMIT ?
"""


class Result:
    """A section that was found; a higher score is a better one."""

    __slots__ = ("file", "score", "section", "snippet")

    def __init__(self, file: str, section: str, snippet: str, score: float) -> None:
        self.file = file
        self.section = section
        self.snippet = snippet
        self.score = score


class Found:
    """The results of a search. Where there are none, `occurring` says which words occur, and how often."""

    __slots__ = ("occurring", "query", "results")

    def __init__(self, query: str, results: list[Result], occurring: list[tuple[str, int]]) -> None:
        self.query = query
        self.results = results
        self.occurring = occurring


def search(skill: Skill, query: str, *, limit: int = 10, mode: str = ALL, tokenizer: str = "ascii") -> Found:
    """The sections that match, at most `limit`; raises EmptyQuery for a query without words."""
    query = display_name(query)
    words = list(dict.fromkeys(split(query)))
    if not words:
        raise EmptyQuery
    opened = index.open_for(skill, tokenizer)
    cjk = opened.tokenizer == "cjk"
    spell = index.segment if cjk else str
    try:
        if mode == RAW:
            rows = _raw(opened.connection, query, limit)
        elif mode == PHRASE:
            rows = opened.connection.execute(_SQL, (quoted(spell(query)), limit)).fetchall()
        else:
            rows = _by_words(opened.connection, [quoted(spell(word)) for word in words], mode, limit)
        occurring = _occurring(opened.connection, words, spell) if not rows and mode == ALL else []
    except index.Error:
        raise IndexUnusable(skill.name) from None
    plain = index.unsegment if cjk else str
    results = [Result(plain(file), plain(section), plain(text), -rank) for file, section, text, rank in rows]
    return Found(query, results, occurring)


def split(query: str) -> list[str]:
    """The words of a query: split at ASCII white space only."""
    for space in "\t\n\r":
        query = query.replace(space, " ")
    return [word for word in query.split(" ") if word]


def quoted(word: str) -> str:
    """A word, or several as a phrase, as FTS5 takes it literally.

    >>> print(quoted('"special"'))
    \"\"\"special\"\"\"
    """
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'


def _by_words(
    connection: Connection, words: list[str], mode: str, limit: int
) -> list[tuple[str, str, str, float]]:
    """Rows that hold all words, or any of them."""
    if mode == ANY:
        return connection.execute(_SQL, (" OR ".join(words[:AT_ONCE]), limit)).fetchall()
    if len(words) <= AT_ONCE:
        return connection.execute(_SQL, (" ".join(words), limit)).fetchall()
    return _all_of_many(connection, words, limit)


def _all_of_many(connection: Connection, words: list[str], limit: int) -> list[tuple[str, str, str, float]]:
    """More words than one expression takes: their rows are met part by part, ranked by the first part."""
    parts = [" ".join(words[start : start + AT_ONCE]) for start in range(0, len(words), AT_ONCE)]
    holding: set[int] | None = None
    for part in parts:
        rows = {
            row[0] for row in connection.execute("SELECT rowid FROM sections WHERE sections MATCH ?", (part,))
        }
        holding = rows if holding is None else holding & rows
        if not holding:
            return []
    ranked = connection.execute(_SQL.replace("SELECT ", "SELECT rowid, ", 1), (parts[0], -1))
    return [row[1:] for row in ranked if row[0] in (holding or ())][:limit]


def _raw(connection: Connection, query: str, limit: int) -> list[tuple[str, str, str, float]]:
    """A query in FTS5's own language."""
    try:
        return connection.execute(_SQL, (query.replace("\0", " "), limit)).fetchall()
    except index.Error as error:
        raise InvalidOption(f"--raw query is not FTS5 syntax: {error}") from None


def _occurring(
    connection: Connection, words: list[str], spell: Callable[[str], str]
) -> list[tuple[str, int]]:
    """The words that some section holds, and how many sections hold each."""
    counts = []
    for word in words[:MAX_COUNTED]:
        sql = "SELECT count(*) FROM sections WHERE sections MATCH ?"
        counts.append((word, connection.execute(sql, (quoted(spell(word)),)).fetchone()[0]))
    return [(word, count) for word, count in counts if count]
