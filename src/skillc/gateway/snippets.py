"""Make the snippets of long sections in a time that grows with their length.

FTS5's own `snippet()` compares every match of a section with every other: seconds for 100 KB of one word.
Up to MAX_MATCHES matches it is used all the same. A section with more is cut into pieces, which are
indexed in memory, and the snippet is that of the best piece.
"""

from __future__ import annotations

from skillc.startup import sqlite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

MAX_MATCHES = 4000
PIECE = 4000  # characters
MAX_START = 200  # characters of a section whose matches are in no piece

_OPERATORS = ("AND", "OR", "NOT", "NEAR")
_TABLES = """
CREATE VIRTUAL TABLE pieces USING fts5(text, tokenize='{tokenizer}');
CREATE VIRTUAL TABLE words USING fts5(text, tokenize='{tokenizer}');
CREATE VIRTUAL TABLE piece_terms USING fts5vocab(pieces, row);
CREATE VIRTUAL TABLE word_terms USING fts5vocab(words, row)
"""
_SNIPPET = """
SELECT snippet(sections, 2, '[MATCH]', '[/MATCH]', '...', 32)
FROM sections WHERE sections MATCH ? AND rowid = ?
"""
_BEST = """
SELECT snippet(pieces, 0, '[MATCH]', '[/MATCH]', '...', 32)
FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT 1
"""
_COUNT = "SELECT sum(word_terms.cnt * piece_terms.cnt) FROM word_terms JOIN piece_terms USING (term)"


def make_snippet(connection: Connection, expression: str, row_id: int, tokenizer: str) -> str:
    """Return the snippet of one section that matches an FTS5 expression."""
    sql = "SELECT section, content FROM sections WHERE rowid = ?"
    section, content = connection.execute(sql, (row_id,)).fetchone()
    phrases = _read_phrases(expression)
    if _bound_matches(f"{section} {content}", phrases) > MAX_MATCHES:
        pieces = _index_pieces(section, content, phrases, tokenizer)
        try:
            if "*" in expression or (pieces.execute(_COUNT).fetchone()[0] or 0) > MAX_MATCHES:
                return _best_piece(pieces, phrases) or f"{content[:MAX_START]}..."
        finally:
            pieces.close()
    return str(connection.execute(_SNIPPET, (expression, row_id)).fetchone()[0])


def _read_phrases(expression: str) -> list[str]:
    """Return the phrases of an expression; the single words of one in FTS5's own syntax."""
    parts = expression.split('"')
    if not set(" ".join(parts[::2]).split()) - {"OR"}:
        return parts[1::2]
    words = "".join(c if c.isalnum() else " " for c in expression).split()
    return [word for word in words if word not in _OPERATORS]


def _bound_matches(text: str, phrases: list[str]) -> int:
    """Return a number that the matches can't exceed: the words with the same first letter.

    A stemmer does not change that letter. Each character beyond ASCII may separate words, or be a letter
    with an accent.
    """
    letters = bytes(byte if chr(byte).isalnum() and byte < 128 else 32 for byte in range(256))
    text = text.lower()
    starts = b" " + text.encode("utf-8", "replace").translate(letters)
    words = " ".join(phrases).lower().encode("utf-8", "replace").translate(letters).split()
    others = len(starts) - 1 - len(text)
    foreign = sum(not phrase.isascii() for phrase in phrases)
    return others * (len(words) + foreign) + sum(starts.count(b" " + word[:1]) for word in words)


def _index_pieces(section: str, content: str, phrases: list[str], tokenizer: str) -> Connection:
    memory = sqlite.connect(":memory:", isolation_level=None)
    spelling = "unicode61" if tokenizer == "unicode61" else "porter unicode61"
    for statement in _TABLES.format(tokenizer=spelling).split(";"):
        memory.execute(statement)
    memory.execute("BEGIN")
    starts = range(0, len(content), PIECE)
    memory.executemany("INSERT INTO pieces VALUES (?)", ((content[at : at + PIECE],) for at in starts))
    memory.execute("INSERT INTO words VALUES (?)", (" ".join(phrases),))
    return memory


def _best_piece(pieces: Connection, phrases: list[str]) -> str:
    row = pieces.execute(_BEST, (" OR ".join(f'"{phrase}"' for phrase in phrases if phrase),)).fetchone()
    return str(row[0]) if row else ""
