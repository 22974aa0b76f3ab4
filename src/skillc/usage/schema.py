"""The tables of an access log: the rows, and counts of them, so that years of rows need not be read.

A row is an access of a kind (command, arguments, error) at a place (working directory, skill folder) and
a time. `access_kind` and `access_place` list those once; `access_day` counts accesses by place, day and
command, `access_week` by place, week and kind. Place 0 is the total of all places. A trigger updates the
counts, so that they match the rows of every writer.

Days are numbered from 1970-01-01; a week is seven of them. `topic` is the command, or empty for a failure:
it separates searches, of which there are many kinds, and failures from reads.
"""

from __future__ import annotations

from skillc import databases
from skillc.startup import BUSY_SECONDS, sqlite, sqlite_uri

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

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
}


_PROBE = "SELECT timestamp, run_id, command, skill, skill_path, cwd, args, error FROM access_log LIMIT 1"

# The day of a row r, whether it is a failure, and its topic.
ROW_DAY = f"coalesce(CAST(strftime('%s', r.timestamp) AS INTEGER) / 86400, {NO_DAY})"
ROW_FAILURE = "coalesce(r.error, '') <> ''"
ROW_TOPIC = f"iif({ROW_FAILURE}, '', r.command)"

_PLACE = "(SELECT id FROM access_place WHERE cwd = new.cwd AND skill_path = new.skill_path)"
_KIND = """(
    SELECT id FROM access_kind
    WHERE args = new.args AND command = new.command AND error = coalesce(new.error, '')
)"""
_TRIGGER = f"""CREATE TRIGGER access_counted AFTER INSERT ON access_log BEGIN
    INSERT INTO access_place(cwd, skill_path) VALUES (new.cwd, new.skill_path) ON CONFLICT DO NOTHING;
    INSERT INTO access_kind(command, args, error)
    VALUES (new.command, new.args, coalesce(new.error, '')) ON CONFLICT DO NOTHING;
    INSERT INTO access_day VALUES
        (0, {ROW_DAY}, new.command, 1, {ROW_FAILURE}),
        ({_PLACE}, {ROW_DAY}, new.command, 1, {ROW_FAILURE})
    ON CONFLICT DO UPDATE SET count = count + 1, failed = failed + excluded.failed;
    INSERT INTO access_week VALUES
        (0, {ROW_TOPIC}, {ROW_DAY} / 7, {_KIND}, 1),
        ({_PLACE}, {ROW_TOPIC}, {ROW_DAY} / 7, {_KIND}, 1)
    ON CONFLICT DO UPDATE SET count = count + 1;
END""".replace("r.", "new.")  # noqa: S608 -- our own words


def create_tables(connection: Connection) -> None:
    """Create what a log lacks, in one transaction; safe to repeat, also by several processes at once."""
    connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        # A process that is killed leaves no journal then, and any that is there is not ours.
        connection.execute("PRAGMA journal_mode=MEMORY").fetchall()
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    with connection:  # commits, or rolls back after an exception
        connection.execute(_ROWS)
        connection.execute("CREATE INDEX IF NOT EXISTS access_log_time ON access_log(timestamp)")
        if not has_counts(connection):
            _count_all(connection)


def has_counts(connection: Connection) -> bool:
    """Return whether a log has the counts and this version's trigger."""
    objects = dict(connection.execute("SELECT name, sql FROM sqlite_master").fetchall())
    return objects.keys() >= _COUNTS.keys() and objects.get("access_counted") == _TRIGGER


def _count_all(connection: Connection) -> None:
    """Rebuild the counts from all rows; a minute or two for ten million."""
    connection.execute(f"PRAGMA cache_size=-{CACHE}")
    connection.execute("DROP TRIGGER IF EXISTS access_counted")
    for table, columns in _COUNTS.items():
        connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute(f"CREATE TABLE {table} {columns}")
    first, last = connection.execute("SELECT min(rowid), max(rowid) FROM access_log").fetchone()
    for start in range(first or 0, (last or -1) + 1, BATCH):
        for statement in (_LIST_PLACES, _LIST_KINDS, _COUNT_DAYS, _COUNT_WEEKS):
            connection.execute(statement.format(rows="r.rowid >= ? AND r.rowid < ?"), (start, start + BATCH))
    days = "SELECT 0, day, command, sum(count), sum(failed) FROM access_day GROUP BY 2, 3"
    connection.execute(f"INSERT INTO access_day {days}")
    connection.execute(_COUNT_EVERYWHERE.format(weeks="1"))
    connection.execute(_TRIGGER)


def count_week(connection: Connection, week: int, since: str, before: str) -> None:
    """Count the rows of a week without counts, from one time to before another."""
    connection.execute(_COUNT_WEEKS.format(rows="r.timestamp >= ? AND r.timestamp < ?"), (since, before))
    connection.execute(_COUNT_EVERYWHERE.format(weeks="week = ?"), (week,))


_LIST_PLACES = """INSERT INTO access_place(cwd, skill_path)
SELECT DISTINCT r.cwd, r.skill_path FROM access_log r WHERE {rows} ON CONFLICT DO NOTHING"""
_LIST_KINDS = """INSERT INTO access_kind(command, args, error)
SELECT DISTINCT r.command, r.args, coalesce(r.error, '') FROM access_log r WHERE {rows}
ON CONFLICT DO NOTHING"""
_COUNT_DAYS = f"""
INSERT INTO access_day
SELECT p.id, {ROW_DAY}, r.command, count(*), sum({ROW_FAILURE})
FROM access_log r, access_place p
WHERE {{rows}} AND p.cwd = r.cwd AND p.skill_path = r.skill_path
GROUP BY 1, 2, 3
ON CONFLICT DO UPDATE SET count = count + excluded.count, failed = failed + excluded.failed
"""  # noqa: S608 -- our own words
_COUNT_WEEKS = f"""
INSERT INTO access_week
SELECT p.id, {ROW_TOPIC}, {ROW_DAY} / 7, k.id, count(*)
FROM access_log r, access_place p, access_kind k
WHERE {{rows}} AND p.cwd = r.cwd AND p.skill_path = r.skill_path
    AND k.args = r.args AND k.command = r.command AND k.error = coalesce(r.error, '')
GROUP BY 1, 2, 3, 4
ON CONFLICT DO UPDATE SET count = count + excluded.count
"""  # noqa: S608 -- our own words
_COUNT_EVERYWHERE = """INSERT INTO access_week
SELECT 0, topic, week, kind, sum(count) FROM access_week WHERE {weeks} GROUP BY 2, 3, 4"""


def open_log(path: str) -> Connection | None:
    """Open a log for reading; return None for a file that is none.

    A log without counts gets them if it can be written.
    """
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
    """Open a log without changing it; return None for a file that is none, or that is not ours."""
    try:
        databases.check_database(path)
    except OSError:
        return None
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
