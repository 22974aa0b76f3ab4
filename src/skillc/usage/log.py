"""The access log: one row for every command that met a skill, so that authors learn what agents use.

SQLite in the runtime directory, written by many processes at once. WAL and a busy time-out let them
pass each other; the connection is never closed, because closing it would checkpoint and wait for
the disk. What that leaves in the WAL is folded back once it has grown (RFC-0007).

Beside the log stands a count for each day (`access_daily`), kept by a trigger, so that `stats` does
not read years of rows.
"""

from __future__ import annotations

import _sqlite3
import os
from time import gmtime, sleep, strftime, time

from skillc import places
from skillc.errors import SkillcError, notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import TypeVar

    from skillc.errors import Diagnostic
    from skillc.library import Skill

    Value = str | int | bool | None
    Result = TypeVar("Result")

Error = _sqlite3.Error

BUSY_SECONDS = 20.0
WAL_LIMIT = 1 << 20  # bytes; the next process would read all of it before it can write
KEPT_OPEN = 8
STALE_SECONDS = 3600  # a fallback log this old has been forgotten (W003)

SCHEMA = """
CREATE TABLE IF NOT EXISTS access_log (
    id INTEGER PRIMARY KEY,
    timestamp TEXT NOT NULL,
    run_id TEXT NOT NULL,
    command TEXT NOT NULL,
    skill TEXT NOT NULL,
    skill_path TEXT NOT NULL,
    cwd TEXT NOT NULL,
    args TEXT NOT NULL,
    error TEXT
);
CREATE INDEX IF NOT EXISTS access_log_time ON access_log(timestamp);
CREATE TABLE IF NOT EXISTS access_daily (
    day TEXT NOT NULL,
    command TEXT NOT NULL,
    cwd TEXT NOT NULL,
    section TEXT NOT NULL,
    file TEXT NOT NULL,
    query TEXT NOT NULL,
    error TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (day, command, cwd, section, file, query, error)
) WITHOUT ROWID;
"""

# What a row is about, from its arguments; empty where it is about nothing of the kind.
_SUBJECT = "coalesce(CASE WHEN json_valid({args}) THEN {value} END, '')"
_VALUES = {
    "section": "json_extract({args}, '$.section')",
    "file": "coalesce(json_extract({args}, '$.file'), json_extract({args}, '$.path'))",
    "query": "json_extract({args}, '$.query')",
}
_INSERT = """
INSERT INTO access_log(timestamp, run_id, command, skill, skill_path, cwd, args, error)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def subjects(args: str) -> list[str]:
    """SQL for the section, the file and the query that a row's arguments name."""
    return [_SUBJECT.format(args=args, value=value.format(args=args)) for value in _VALUES.values()]


def _counting() -> str:
    """The trigger that keeps the daily counts."""
    return f"""
    CREATE TRIGGER IF NOT EXISTS access_counted AFTER INSERT ON access_log BEGIN
        INSERT INTO access_daily VALUES (
            substr(new.timestamp, 1, 10), new.command, new.cwd, {", ".join(subjects("new.args"))},
            coalesce(new.error, ''), 1
        ) ON CONFLICT DO UPDATE SET count = count + 1;
    END
    """  # noqa: S608 -- our own words


def log_file(runtime: str) -> str:
    return os.path.join(places.meta_directory(runtime), "logs.db")


def fallback_file(cwd: str, skill: str) -> str:
    """Where accesses go while the runtime directory can't be written; `skc sync` moves them."""
    return log_file(os.path.join(cwd, places.DIRECTORY, "logs", skill))


def record(
    skill: Skill, command: str, arguments: dict[str, Value], error: str | None, cwd: str
) -> tuple[Diagnostic, ...]:
    """Note an access. Never fails: what can't be logged is a diagnostic."""
    now = time()
    row = (
        strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(now)),
        os.environ.get("SKC_RUN_ID") or strftime("%Y%m%dT%H%M%SZ", gmtime(now)) + "-" + os.urandom(2).hex(),
        command,
        _text(skill.name),
        _text(skill.source),
        _text(os.path.realpath(cwd)),
        as_json(arguments),
        error,
    )
    try:
        _append(log_file(runtime_in_use(skill)), row)
        return _stale(cwd, skill.name, now)
    except (Error, OSError):
        pass
    try:
        _append(fallback_file(cwd, skill.name), row)
        return ()
    except (Error, OSError):
        return (notice("W002"),)


def logged(
    skill: Skill,
    command: str,
    arguments: dict[str, Value],
    cwd: str,
    run: Callable[[], Result],
    learned: Callable[[Result], dict[str, Value]] = lambda result: {},
) -> tuple[Result, tuple[Diagnostic, ...]]:
    """Run an operation on a skill and note it, failures too; `learned` adds what its result tells."""
    try:
        result = run()
    except SkillcError as error:
        record(skill, command, arguments, error.message, cwd)
        raise
    return result, record(skill, command, arguments | learned(result), None, cwd)


def runtime_in_use(skill: Skill) -> str:
    """The runtime directory that is in use: the one that was built, else the one that would be."""
    runtimes = skill.runtimes()
    return next((r for r in runtimes if os.path.exists(places.index_file(r, skill.source))), runtimes[0])


def _append(path: str, row: tuple[str | None, ...]) -> None:
    connection = _connection(path)
    deadline = time() + BUSY_SECONDS
    while True:
        try:
            connection.execute(_INSERT, row)
            break
        except _sqlite3.OperationalError as error:
            _make_way(connection, str(error), deadline)
    _fold(connection, path)


def _connection(path: str) -> Connection:
    """The connection that is open for a log, as long as it is still that file."""
    kept = _kept.pop(path, None)
    if kept is not None and kept[1] != _identity(path):
        kept = None
    connection = kept[0] if kept else connect(path)
    if len(_kept) >= KEPT_OPEN:
        _kept.pop(next(iter(_kept)))
    _kept[path] = (connection, _identity(path))
    return connection


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _make_way(connection: Connection, problem: str, deadline: float) -> None:
    """Create a log that is not there yet, or wait for whoever is about to; raise what won't pass."""
    try:
        if "no such table" in problem:
            create(connection)
            return
    except _sqlite3.OperationalError as error:
        problem = str(error)
    if "locked" not in problem or time() > deadline:
        raise _sqlite3.OperationalError(problem)
    sleep(0.005)


# A cache of the connections last used, by path: closing one would wait for the disk.
_kept: dict[str, tuple[Connection, tuple[int, int] | None]] = {}


def connect(path: str) -> Connection:
    """A connection for writing; its directory is made."""
    try:
        connection = _sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous=NORMAL")
    except _sqlite3.OperationalError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        connection = _sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    return connection


def create(connection: Connection) -> None:
    """Make the tables of a new log; harmless where they are there, or are being made by another."""
    connection.execute("PRAGMA journal_mode=WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in (*SCHEMA.split(";"), _counting()):
            if statement.strip():
                connection.execute(statement)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def reading(path: str) -> Connection | None:
    """A connection for reading; None for a log that can't be read.

    A log from before there were daily counts gets them, where it can be written.
    """
    try:
        connection = connect(path)
        if not has_daily_counts(connection):
            _count_days(connection)
        connection.execute("SELECT 1 FROM access_log LIMIT 1").fetchone()
        return connection
    except Error:
        pass
    try:  # a directory that can't be written: SQLite must not want its own files there
        quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        connection = _sqlite3.connect(
            f"file:{quoted}?mode=ro&immutable=1", uri=True, isolation_level=None, check_same_thread=False
        )
        connection.execute("SELECT 1 FROM access_log LIMIT 1").fetchone()
        return connection
    except Error:
        return None


def has_daily_counts(connection: Connection) -> bool:
    """Whether the daily counts are there and kept."""
    query = "SELECT count(*) FROM sqlite_master WHERE name IN ('access_daily', 'access_counted')"
    return bool(connection.execute(query).fetchone()[0] == 2)


def _count_days(connection: Connection) -> None:
    """Make the daily counts of a log that has none."""
    create(connection)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("DELETE FROM access_daily")
    connection.execute(
        f"""
        INSERT INTO access_daily
        SELECT substr(timestamp, 1, 10), command, cwd, {", ".join(subjects("args"))}, coalesce(error, ''),
            count(*)
        FROM access_log GROUP BY 1, 2, 3, 4, 5, 6, 7
        """  # noqa: S608 -- our own words
    )
    connection.execute("COMMIT")


def _fold(connection: Connection, path: str) -> None:
    """Fold the WAL back into the log when it has grown, unless others are at it."""
    try:
        if os.stat(f"{path}-wal").st_size > WAL_LIMIT:
            connection.execute("PRAGMA busy_timeout=0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except (OSError, Error):
        pass


def _stale(cwd: str, skill: str, now: float) -> tuple[Diagnostic, ...]:
    try:
        age = now - os.stat(fallback_file(cwd, skill)).st_mtime
    except OSError:
        return ()
    return (notice("W003", skill),) if age > STALE_SECONDS else ()


def as_json(arguments: dict[str, Value]) -> str:
    """Arguments as a JSON object, without loading `json`, whose decoder costs more than the row."""
    from _json import encode_basestring_ascii as quoted

    def value(item: Value) -> str:
        if isinstance(item, str):
            return quoted(item)
        return "null" if item is None else "true" if item is True else "false" if item is False else str(item)

    return "{" + ", ".join(f"{quoted(key)}: {value(item)}" for key, item in arguments.items()) + "}"


def _text(value: str) -> str:
    """Text that SQLite can hold, whatever bytes a path has."""
    return value.encode("utf-8", "backslashreplace").decode()
