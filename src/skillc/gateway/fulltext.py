"""`search`: sections that hold all words of a query, best first [RFC-0004:C-SEARCH, C-QUERY-SYNTAX]."""

from __future__ import annotations

from skillc.compiler import index
from skillc.errors import EmptyQuery, IndexUnusable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from skillc.library import Skill

_SPACE = " \t\n\r"
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


def search(skill: Skill, query: str, *, limit: int = 10, tokenizer: str = "ascii") -> list[Result]:
    """The sections that match, at most `limit`; raises EmptyQuery for a query without words."""
    words = split(query)
    if not words:
        raise EmptyQuery
    opened = index.open_for(skill, tokenizer)
    try:
        if opened.tokenizer == "cjk":
            rows = opened.connection.execute(_SQL, (match(map(index.segment, words)), limit)).fetchall()
            return [
                Result(index.unsegment(f), index.unsegment(s), index.unsegment(t), -rank)
                for f, s, t, rank in rows
            ]
        rows = opened.connection.execute(_SQL, (match(words), limit)).fetchall()
        return [Result(file, section, snippet, -rank) for file, section, snippet, rank in rows]
    except index.Error:
        raise IndexUnusable(skill.name) from None
    finally:
        opened.connection.close()


def split(query: str) -> list[str]:
    """The words of a query: split at ASCII white space only."""
    for space in _SPACE[1:]:
        query = query.replace(space, " ")
    return [word for word in query.split(" ") if word]


def match(words: Iterable[str]) -> str:
    """The FTS5 expression for sections that hold all words.

    >>> print(match(["my", '"special"', "app"]))
    "my" \"\"\"special\"\"\" "app"
    """
    quoted = (word.replace('"', '""').replace("\0", " ") for word in dict.fromkeys(words))
    return " ".join(f'"{word}"' for word in quoted)
