"""The tables of an access log: the rows, and counts of them, so that years of rows need not be read.

A row is an access of a kind (command, arguments, error) at a place (working directory, skill folder) and
a time. `access_kind` and `access_place` list those once; `access_day` counts accesses by place, day and
command, `access_week` by place, week and kind. Place 0 is the total of all places.

A command only adds its row, which is quick. Rows are counted later: before a query, and when the WAL is
checkpointed. `access_mark` has the last row that is counted, so only newer ones are read.

Days are numbered from 1970-01-01; a week is seven of them. `topic` is the command, or empty for a failure:
it separates searches, of which there are many kinds, and failures from reads.
"""

from __future__ import annotations

from skillc import databases, paths
from skillc.startup import BUSY_SECONDS, sqlite, sqlite_uri

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

EVER = 1 << 62  # more rows than a log can have
NO_DAY, NO_WEEK = -719_163, -102_737  # of a time that can't be parsed: before the first date
PAGE_SIZE = 1024  # an access changes a few bytes on each of several pages, and the WAL holds whole pages
BATCH = 300_000  # rows counted at a time
CACHE = 131_072  # KiB of memory for that, at most

_ROWS = """
CREATE TABLE IF NOT EXISTS access_log (
    id INTEGER PRIMARY KEY, timestamp TEXT NOT NULL, run_id TEXT NOT NULL, command TEXT NOT NULL,
    skill TEXT NOT NULL, skill_path TEXT NOT NULL, cwd TEXT NOT NULL, args TEXT NOT NULL, error TEXT
)"""
_COUNTS = {
    "access_kind": """(
    id INTEGER PRIMARY KEY, command TEXT NOT NULL, args TEXT NOT NULL, error TEXT NOT NULL,
    UNIQUE (args, command, error)
)""",
    "access_place": """(
    id INTEGER PRIMARY KEY, cwd TEXT NOT NULL, skill_path TEXT NOT NULL, UNIQUE (cwd, skill_path)
)""",
    "access_day": """(
    place INTEGER NOT NULL, day INTEGER NOT NULL, command TEXT NOT NULL,
    count INTEGER NOT NULL, failed INTEGER NOT NULL, PRIMARY KEY (place, day, command)
) WITHOUT ROWID""",
    "access_week": """(
    place INTEGER NOT NULL, topic TEXT NOT NULL, week INTEGER NOT NULL, kind INTEGER NOT NULL,
    count INTEGER NOT NULL, PRIMARY KEY (place, topic, week, kind)
) WITHOUT ROWID""",
    "access_mark": "(last INTEGER NOT NULL)",
}
_OLD_TRIGGER = "access_counted"  # which counted every row at once


_PROBE = "SELECT timestamp, run_id, command, skill, skill_path, cwd, args, error FROM access_log LIMIT 1"

# The day of a row r, whether it is a failure, and its topic.
ROW_DAY = f"coalesce(CAST(strftime('%s', r.timestamp) AS INTEGER) / 86400, {NO_DAY})"
ROW_FAILURE = "coalesce(r.error, '') <> ''"
ROW_TOPIC = f"iif({ROW_FAILURE}, '', r.command)"


def create_tables(connection: Connection) -> None:
    """Create what a log lacks and count its new rows, in one transaction.

    Safe to repeat, also by several processes at once.
    """
    connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        # A process that is killed leaves no journal then, and any that is there is not ours.
        connection.execute("PRAGMA journal_mode=MEMORY").fetchall()
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back after an exception
        connection.execute(_ROWS)
        connection.execute("CREATE INDEX IF NOT EXISTS access_log_time ON access_log(timestamp)")
        _update_counts(connection)


def has_counts(connection: Connection) -> bool:
    """Return whether a log has the counts, and every row is counted."""
    return _has_tables(connection) and _mark(connection) == _last_row(connection)


def begin_query(connection: Connection) -> bool:
    """Begin a transaction for queries, and return whether it can use the counts.

    New rows are counted first if the log can be written. Else the rows are read instead.
    """
    for _ in range(3):  # others may write in between
        connection.execute("BEGIN")
        if has_counts(connection):
            return True
        connection.execute("COMMIT")
        try:
            create_tables(connection)
        except sqlite.Error:
            break
    connection.execute("BEGIN")
    return False


def _has_tables(connection: Connection) -> bool:
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return names >= _COUNTS.keys() and _OLD_TRIGGER not in names


def _mark(connection: Connection) -> int:
    row = connection.execute("SELECT last FROM access_mark").fetchone()
    return row[0] if row and type(row[0]) is int else EVER


def _last_row(connection: Connection) -> int:
    return int(connection.execute("SELECT coalesce(max(rowid), 0) FROM access_log").fetchone()[0])


def _update_counts(connection: Connection) -> None:
    """Count the rows after the mark; all of them, a minute or two for ten million, if counts are missing."""
    last = _last_row(connection)
    if not _has_tables(connection) or _mark(connection) > last:
        first = connection.execute("SELECT min(rowid) FROM access_log").fetchone()[0] or 1
        _create_counts(connection, first - 1)
    start = _mark(connection)
    if last - start > BATCH:
        connection.execute(f"PRAGMA cache_size=-{CACHE}")
    before, batch = start, "SELECT rowid FROM access_log WHERE rowid > ? ORDER BY rowid LIMIT ?"
    while before < last:  # by rows, not by their numbers: a log from elsewhere may have huge gaps
        (end,) = connection.execute(f"SELECT max(rowid) FROM ({batch})", (before, BATCH)).fetchone()  # noqa: S608
        for statement in (_LIST_PLACES, _LIST_KINDS, _COUNT_DAYS, _COUNT_WEEKS):
            connection.execute(statement.format(rows="r.rowid > ? AND r.rowid <= ?"), (before, end))
        before = end
    if last > start:
        connection.execute("UPDATE access_mark SET last = ?", (last,))


def _create_counts(connection: Connection, mark: int) -> None:
    connection.execute(f"DROP TRIGGER IF EXISTS {_OLD_TRIGGER}")
    for table, columns in _COUNTS.items():
        connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute(f"CREATE TABLE {table} {columns}")
    connection.execute("INSERT INTO access_mark VALUES (?)", (mark,))


def count_week(connection: Connection, since: str, before: str) -> None:
    """Count the rows of a week without counts again, from one time to before another."""
    rows = "r.timestamp >= ? AND r.timestamp < ? AND r.rowid <= (SELECT last FROM access_mark)"
    connection.execute(_COUNT_WEEKS.format(rows=rows), (since, before))


def lower_mark(connection: Connection) -> None:
    """Follow a removal of rows, in its transaction: the numbers of the last rows are used again."""
    last = _last_row(connection)
    connection.execute("UPDATE access_mark SET last = ? WHERE last > ?", (last, last))


_LIST_PLACES = """INSERT INTO access_place(cwd, skill_path)
SELECT DISTINCT r.cwd, r.skill_path FROM access_log r WHERE {rows} ON CONFLICT DO NOTHING"""
_LIST_KINDS = """INSERT INTO access_kind(command, args, error)
SELECT DISTINCT r.command, r.args, coalesce(r.error, '') FROM access_log r WHERE {rows}
ON CONFLICT DO NOTHING"""
_COUNT_DAYS = f"""
WITH places AS (
    SELECT p.id AS place, {ROW_DAY} AS day, r.command, count(*) AS n, sum({ROW_FAILURE}) AS failures
    FROM access_log r, access_place p
    WHERE {{rows}} AND p.cwd = r.cwd AND p.skill_path = r.skill_path
    GROUP BY 1, 2, 3
), total AS (
    SELECT 0, day, command, sum(n), sum(failures) FROM places GROUP BY 2, 3
)
INSERT INTO access_day SELECT * FROM (SELECT * FROM places UNION ALL SELECT * FROM total) WHERE true
ON CONFLICT DO UPDATE SET count = count + excluded.count, failed = failed + excluded.failed
"""  # noqa: S608 -- our own words
_COUNT_WEEKS = f"""
WITH places AS (
    SELECT p.id AS place, {ROW_TOPIC} AS topic, {ROW_DAY} / 7 AS week, k.id AS kind, count(*) AS n
    FROM access_log r, access_place p, access_kind k
    WHERE {{rows}} AND p.cwd = r.cwd AND p.skill_path = r.skill_path
        AND k.args = r.args AND k.command = r.command AND k.error = coalesce(r.error, '')
    GROUP BY 1, 2, 3, 4
), total AS (
    SELECT 0, topic, week, kind, sum(n) FROM places GROUP BY 2, 3, 4
)
INSERT INTO access_week SELECT * FROM (SELECT * FROM places UNION ALL SELECT * FROM total) WHERE true
ON CONFLICT DO UPDATE SET count = count + excluded.count
"""  # noqa: S608 -- our own words


def open_log(path: str) -> Connection | None:
    """Open a log for reading, and count its new rows if it can be written; return None for no log."""
    connection = open_database(path)
    if connection is None:
        return None
    try:
        if not has_counts(connection):
            create_tables(connection)
    except sqlite.Error:
        pass  # its rows are read instead
    try:
        connection.execute(_PROBE).fetchone()
    except sqlite.Error:
        connection.close()
        return None
    return connection


def open_database(path: str) -> Connection | None:
    """Open a log without changing what it holds; return None for a file that is none, or that is not ours."""
    try:
        databases.check_database(path)
    except OSError:
        return None
    paths.keep_private_database(path)
    # The last mode is for a directory that can't be written, where SQLite can't create its own files.
    for mode in ("mode=rw", "mode=ro", "mode=ro&immutable=1"):
        connection = None
        try:
            uri = sqlite_uri(path, mode)
            connection = sqlite.connect(
                uri, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True
            )
            databases.check_schema(connection, databases.LOG_TABLES)
        except (sqlite.Error, OSError) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, OSError):
                return None
            continue
        connection.text_factory = lambda data: data.decode("utf-8", "replace")  # of other programs
        connection.execute("PRAGMA synchronous=NORMAL")
        return connection
    return None
