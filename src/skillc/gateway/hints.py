"""Say which words of a search without results occur."""

from __future__ import annotations

from skillc.gateway.search import distinct, quote, split_query
from skillc.index.sections import open_index, segment
from skillc.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library import Skill

MAX_HINTS = 16  # words that are looked up one by one to tell which of them occur


def explain_no_results(skill: Skill, query: str, any_words: str, tokenizer: str = "ascii") -> str:
    """Return a note that names the words of a failed query that do occur, or nothing if none does.

    `any_words` is how to search for any of them. This is not part of a search, so that one without
    results costs no more than its SQL.
    """
    words = distinct(split_query(query))[:MAX_HINTS]
    if len(words) == 1:
        return ""
    with open_index(skill, tokenizer) as index:
        spell = segment if index.is_cjk else str
        execute, sql = index.connection.execute, "SELECT count(*) FROM sections WHERE sections MATCH ?"
        counts = [(word, execute(sql, (quote(spell(word)),)).fetchone()[0]) for word in words]
    hints = ", ".join(f"{one_line(word)} ({count})" for word, count in counts if count)
    note = f"note: no section holds all words; these occur: {hints}; {any_words} ranks by them"
    return note if hints else ""
