"""The access log: one row for every command that met a skill, so that authors learn what agents use.

SQLite in the runtime directory, written by many processes at once. WAL and a busy time-out let them
pass each other; the connection is never closed, because closing it would checkpoint and wait for
the disk. What that leaves in the WAL is folded back once it has grown (RFC-0007).

Its tables, and the counts that a trigger keeps beside the rows, are those of `usage.tables`.
"""

from __future__ import annotations

import os
from time import gmtime, sleep, strftime, time

from skillc import paths
from skillc.errors import SkillcError, unexpected, warning
from skillc.startup import sqlite
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import TypeVar

    from skillc.errors import Diagnostic
    from skillc.library import Skill

    Value = str | int | bool | None
    Row = tuple[str | None, ...]
    Result = TypeVar("Result")

BUSY_SECONDS = 20.0
WAL_LIMIT = 1 << 18  # bytes; the next process reads all of it before it can write, folding waits for the disk
KEPT_OPEN = 8
STALE_SECONDS = 3600  # a fallback log this old has been forgotten (W003)

COLUMNS = "timestamp, run_id, command, skill, skill_path, cwd, args, error"
INSERT = f"INSERT INTO access_log({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 -- our own words


def log_file(runtime: str) -> str:
    return os.path.join(paths.meta_directory(runtime), "logs.db")


def fallback_directory(project: str) -> str:
    """Where a project keeps accesses that could not be logged where they belong, by skill."""
    return os.path.join(project, paths.DIRECTORY, "logs")


def fallback_file(project: str, skill: str) -> str:
    """Where accesses go while the runtime directory can't be written; `skc sync` moves them."""
    return log_file(os.path.join(fallback_directory(project), skill))


def fallback_lock(project: str) -> str:
    """Held by who writes a fallback log and by who moves one, so that no row falls between them."""
    return os.path.join(fallback_directory(project), ".lock")


def record(
    skill: Skill, command: str, arguments: dict[str, Value], error: str | None, cwd: str
) -> tuple[Diagnostic, ...]:
    """Note an access. Never fails: what can't be logged is a diagnostic."""
    now = time()
    row = (
        strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(now)),
        utf8_text(os.environ.get("SKC_RUN_ID", "")) or _run_id(now),
        command,
        utf8_text(skill.name),
        utf8_text(skill.source),
        utf8_text(os.path.realpath(cwd)),
        as_json(arguments),
        error if error is None else utf8_text(error),
    )
    stale = _stale(fallback_file(cwd, skill.folder), skill.name, now)
    try:
        append(log_file(runtime_in_use(skill)), row)
    except Exception:  # whatever it was: logging never fails a command
        try:
            _append_to_fallback(cwd, skill.folder, row)
        except Exception:
            return (*stale, warning("W002"))
    return stale


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
        error.diagnostics = (*error.diagnostics, *record(skill, command, arguments, error.message, cwd))
        raise
    except Exception as error:
        record(skill, command, arguments, unexpected(error).message, cwd)
        raise
    return result, record(skill, command, arguments | learned(result), None, cwd)


def runtime_in_use(skill: Skill) -> str:
    """The runtime directory that is in use: the one that was built, else the one that would be."""
    first, *others = skill.runtimes()
    if not any(map(os.path.isdir, others)):  # most often; the name of the index need not be computed
        return first
    built = (r for r in (first, *others) if os.path.exists(paths.index_file(r, skill.source)))
    return next(built, first)


def append(path: str, row: Row) -> None:
    """Add a row to a log, which is made if need be; raises what sqlite or the system does."""
    connection = _connection(path)
    deadline = time() + BUSY_SECONDS
    made = False
    while True:
        try:
            connection.execute(INSERT, row)
            break
        except sqlite.OperationalError as error:
            problem = error
        if "no such table" in str(problem) and not made:
            from skillc.usage.schema import create  # once in the life of a log

            try:
                create(connection)
                made = True
                continue
            except sqlite.OperationalError as error:
                problem = error
        if "lock" not in str(problem) or time() > deadline:
            raise problem
        sleep(0.005)
    fold(connection, path)


def _append_to_fallback(cwd: str, skill: str, row: Row) -> None:
    from skillc.atomic import Lock  # only where the log is not where it belongs

    path = fallback_file(cwd, skill)
    os.makedirs(fallback_directory(cwd), exist_ok=True)
    with Lock(fallback_lock(cwd)):
        append(path, row)
        os.utime(path)  # its age counts from the last access; what is in the WAL does not touch it


# A cache of the connections last used, by path: closing one would wait for the disk.
_kept: dict[str, tuple[Connection, tuple[int, int] | None]] = {}


def _connection(path: str) -> Connection:
    """The connection that is open for a log, as long as it is still that file."""
    kept = _kept.pop(path, None)
    if kept is None or kept[1] is None or kept[1] != _identity(path):
        connection = connect(path)
        kept = (connection, _identity(path))
    if len(_kept) >= KEPT_OPEN:
        _kept.pop(next(iter(_kept)))
    _kept[path] = kept
    return kept[0]


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def connect(path: str) -> Connection:
    """A connection for writing; the directory is made if need be."""
    try:
        connection = _open(path)
    except sqlite.OperationalError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        connection = _open(path)
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    return connection


def _open(path: str) -> Connection:
    return sqlite.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def fold(connection: Connection, path: str) -> None:
    """Fold the WAL back into the log when it has grown, unless others are at it."""
    try:
        if os.stat(f"{path}-wal").st_size > WAL_LIMIT:
            connection.execute("PRAGMA busy_timeout=0")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")
    except (OSError, sqlite.Error):
        pass


def _stale(fallback: str, skill: str, now: float) -> tuple[Diagnostic, ...]:
    try:
        age = now - os.stat(fallback).st_mtime
    except OSError:
        return ()
    return (warning("W003", skill),) if age > STALE_SECONDS else ()


def _run_id(now: float) -> str:
    return strftime("%Y%m%dT%H%M%SZ-", gmtime(now)) + os.urandom(2).hex()


def as_json(arguments: dict[str, Value]) -> str:
    """Arguments as a JSON object, without loading `json`, which costs more than the row."""
    return "{" + ", ".join(f"{_quoted(key)}: {_json(item)}" for key, item in arguments.items()) + "}"


def _json(item: Value) -> str:
    if isinstance(item, str):
        return _quoted(utf8_text(item))
    return "null" if item is None else "true" if item is True else "false" if item is False else str(item)


def _quoted(text: str) -> str:
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    from _json import encode_basestring_ascii  # for what has to be escaped

    return encode_basestring_ascii(text)
