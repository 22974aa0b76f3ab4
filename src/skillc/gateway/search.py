"""`search`: the sections that match a query, best first [RFC-0004:C-SEARCH, C-QUERY-SYNTAX]."""

from __future__ import annotations

from skillc import errors
from skillc.index.sections import DatabaseError, open_index, segment, unsegment
from skillc.startup import value
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from skillc.index.sections import SectionIndex
    from skillc.library import Skill

    Row = tuple[str, str, str | None, float, int]

ALL, ANY, PHRASE = "all", "any", "phrase"  # besides "raw": how the words of a query are combined

MAX_TERMS = 64  # words in one FTS5 expression, where each takes memory, and in one phrase
MAX_RAW = 10_000  # characters of a query in FTS5's own syntax
SHORT = 8192  # characters; the snippets of longer sections are made one by one

# Counts matches up to one more than the limit. Finding none costs half as much without an order.
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM sections WHERE sections MATCH ? LIMIT ?)"
_BEST = """
SELECT file, section, CASE WHEN length(section) + length(content) <= {short}
    THEN snippet(sections, 2, '[MATCH]', '[/MATCH]', '...', 32) END, {score}, rowid
FROM sections WHERE sections MATCH ? ORDER BY {score} LIMIT ?
"""
# With `rank` FTS5 sorts before it makes snippets, at the price of weighing each word twice. That pays only
# when some matches are over the limit.
_BEST_OF_MANY = _BEST.format(short=SHORT, score="rank")
_BEST_OF_FEW = _BEST.format(short=SHORT, score="bm25(sections)")


class SearchResult:
    """A section that matches; a higher score is better."""

    __slots__ = ("file", "score", "section", "snippet")

    def __init__(self, file: str, section: str, snippet: str, score: float) -> None:
        self.file = file
        self.section = section
        self.snippet = snippet
        self.score = score


@value
class SearchResults:
    """The sections that match a query, best first."""

    query: str
    results: list[SearchResult]

    def as_json(self) -> dict[str, Any]:
        fields = ("file", "section", "snippet", "score")
        results = [{field: getattr(result, field) for field in fields} for result in self.results]
        return {"query": self.query, "results": results}

    def lines(self) -> Iterator[str]:
        from skillc.text import one_line

        for result in self.results:
            yield f"{one_line(result.file)}#{one_line(result.section)} (score: {result.score:.2f})"
            yield f"  {one_line(' '.join(result.snippet.split()))}"
        if not self.results:
            yield "No results."


def search_sections(
    skill: Skill, query: str, *, limit: int = 10, mode: str = ALL, tokenizer: str = "ascii"
) -> SearchResults:
    """Return at most `limit` sections that match; raise EmptyQuery for a query without words."""
    words = split_query(query)
    if not words:
        raise errors.EmptyQuery
    with open_index(skill, tokenizer) as index:
        if index.is_cjk:
            words = [segment(word) for word in words]
        if mode == ALL:
            rows = _match_all(index, words, limit)
        elif mode == ANY:
            rows = _match(index, " OR ".join(map(quote, distinct(words)[:MAX_TERMS])), limit)
        elif mode == PHRASE:
            rows = _match(index, quote(" ".join(words)), limit)
        else:
            rows = _match_raw(index, query, limit)
        return SearchResults(query, [_read_result(index, row) for row in rows])


def split_query(query: str) -> list[str]:
    """Return the words of a query, split at ASCII white space only."""
    if query.isprintable():  # then it has no other space than U+0020
        return query.split()
    query = utf8_text(query)
    for space in "\t\n\r":
        query = query.replace(space, " ")
    return [word for word in query.split(" ") if word]


def quote(word: str) -> str:
    """Return a word or a phrase quoted, so that FTS5 takes it literally.

    >>> print(quote('"special"'))
    \"\"\"special\"\"\"
    """
    if len(word) >= 2 * MAX_TERMS:
        word = _cut_phrase(word)
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'


def _cut_phrase(phrase: str) -> str:
    """Return the first words of a phrase: the time that FTS5 takes for one grows faster than its length."""
    from unicodedata import category  # only for long phrases

    count, inside = 0, False
    for position, character in enumerate(phrase):
        kind = category(character)  # to FTS5 letters, numbers, private use and accents are words
        is_word = kind[0] in "LN" or kind == "Co" or "\u0300" <= character <= "\u036f"
        if is_word and not inside:
            count += 1
            if count > MAX_TERMS:
                return phrase[:position]
        inside = is_word
    return phrase


def _read_result(index: SectionIndex, row: Row) -> SearchResult:
    file, section, snippet, rank, _ = row  # a lower rank is better
    if not (isinstance(file, str) and isinstance(section, str) and isinstance(snippet, str)):
        raise DatabaseError("not text")  # the index is damaged
    if index.is_cjk:
        file, section, snippet = map(unsegment, (file, section, snippet))
    return SearchResult(file, section, snippet, -rank)


def _match(index: SectionIndex, expression: str, limit: int) -> list[Row]:
    execute = index.connection.execute
    count = execute(_COUNT, (expression, limit + 1)).fetchone()[0]
    if not count:
        return []
    best = _BEST_OF_FEW if count <= limit else _BEST_OF_MANY
    return _complete(index, expression, execute(best, (expression, limit)).fetchall())


def _complete(index: SectionIndex, expression: str, rows: list[Row]) -> list[Row]:
    """Return the rows with a snippet for every section."""
    for number, (file, section, snippet, rank, row_id) in enumerate(rows):
        if snippet is None:
            from skillc.gateway.snippets import make_snippet  # only for long sections

            snippet = make_snippet(index.connection, expression, row_id, index.meta["tokenizer"])
            rows[number] = file, section, snippet, rank, row_id
    return rows


def _match_all(index: SectionIndex, words: list[str], limit: int) -> list[Row]:
    """Return the best rows that contain all words.

    Words beyond what one expression takes are matched in batches; the first batch ranks the rows.
    """
    terms = [quote(word) for word in (words if len(words) <= MAX_TERMS else distinct(words))]
    batches = [" ".join(terms[start : start + MAX_TERMS]) for start in range(0, len(terms), MAX_TERMS)]
    if len(batches) == 1:
        return _match(index, batches[0], limit)
    execute = index.connection.execute
    sql = "SELECT rowid FROM sections WHERE sections MATCH ?"
    matches = {row[0] for row in execute(sql, (batches[0],))}
    for batch in batches[1:]:
        if matches:
            matches.intersection_update(row[0] for row in execute(sql, (batch,)))
    if not matches:
        return []
    rows = [row for row in execute(_BEST_OF_MANY, (batches[0], -1)) if row[-1] in matches][:limit]
    return _complete(index, batches[0], rows)


def distinct(words: list[str]) -> list[str]:
    """Return each word once, ignoring case and punctuation, without words that are only punctuation."""
    distinct: dict[str, str] = {}
    for word in words:
        letters = "".join([c if c.isalnum() else " " for c in word]).split()
        distinct.setdefault(" ".join(letters).casefold(), word)
    punctuation = distinct.pop("", "")
    return list(distinct.values()) or [punctuation]


def _match_raw(index: SectionIndex, query: str, limit: int) -> list[Row]:
    """Return the rows that match a query in FTS5's own syntax."""
    query = utf8_text(query)
    if index.is_cjk:
        query = segment(query)
    if len(query) > MAX_RAW:
        raise errors.InvalidOption(f"--raw query is longer than {MAX_RAW} characters")
    query = " " + query.replace("\0", " ")  # a leading space, because a leading asterisk is a command to FTS5
    try:
        if "*" in query:  # expanding prefixes is most of the work, so do it once
            rows = index.connection.execute(_BEST_OF_MANY, (query, limit)).fetchall()
            return _complete(index, query, rows)
        return _match(index, query, limit)
    except DatabaseError:
        _check_syntax(query)
        raise  # the index is damaged


def _check_syntax(query: str) -> None:
    """Raise InvalidOption for a query that fails in an empty table, too."""
    from skillc.startup import sqlite

    empty = sqlite.connect(":memory:")
    empty.execute("CREATE VIRTUAL TABLE sections USING fts5(file, section, content)")
    try:
        empty.execute(_COUNT, (query, 1))
    except DatabaseError as error:
        raise errors.InvalidOption(f"--raw query is not FTS5 syntax: {error}") from None
    finally:
        empty.close()
