"""The access log: one row for every command on a skill, so that authors learn what agents use.

An SQLite database in the runtime directory that many processes write at once, in WAL mode with a busy
time-out. Connections stay open for the next row: closing the last one would checkpoint and wait for the
disk. The WAL is checkpointed when it has grown (RFC-0007). `usage.schema` has the tables.
"""

from __future__ import annotations

import os
from time import gmtime, sleep, strftime, time

from skillc import errors, paths
from skillc.errors import SkillcError, unexpected
from skillc.startup import BUSY_SECONDS, Idle, json_quote, sqlite
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import TypeVar

    from skillc.errors import Diagnostic
    from skillc.library import Skill

    LogValue = str | int | bool | None
    Fields = dict[str, LogValue]
    Diagnostics = tuple[Diagnostic, ...]
    Row = tuple[str | None, ...]
    Result = TypeVar("Result")

WAL_LIMIT = 1 << 18  # bytes; every process reads the whole WAL first, but a checkpoint waits for the disk
MAX_CONNECTIONS = 8
MAX_SECONDS = 2.0  # for one row, which takes less than a millisecond, without waiting for others
STEPS = 1_000_000  # of SQLite between two looks at the clock
STALE_SECONDS = 3600  # age from which a fallback log is reported (W003)

TERMINAL = "terminal "  # before the command of a row: a person typed it
OFFER = "offer"  # the command of a row: a hook told an agent of the skill
COLUMNS = "timestamp, run_id, command, skill, skill_path, cwd, args, error"
INSERT = f"INSERT INTO access_log({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 -- our own words


def log_file(runtime: str) -> str:
    return os.path.join(paths.meta_directory(runtime), "logs.db")


def fallback_directory(project: str) -> str:
    """Return the directory of a project's fallback logs, one for each skill."""
    return os.path.join(project, paths.DIRECTORY, "logs")


def fallback_file(project: str, skill: str) -> str:
    """Return the log to use while the runtime directory can't be written; `skc sync` moves its rows."""
    return log_file(os.path.join(fallback_directory(project), skill))


def fallback_lock(project: str) -> str:
    """Return the lock that is held while a fallback log is written or moved, so that no row is lost."""
    return os.path.join(fallback_directory(project), ".lock")


def record_access(skill: Skill, command: str, arguments: Fields, error: str | None, cwd: str) -> Diagnostics:
    """Log an access. Never fails: a row that can't be written is a diagnostic."""
    now = time()
    row = _make_row(skill, command, arguments, error, cwd, now)
    diagnostics = _check_fallback(fallback_file(cwd, skill.folder), skill.name, now)
    try:
        append_row(log_file(find_runtime(skill)), row)
    except Exception as problem:  # of any kind: logging never fails a command
        from skillc.databases import RefusedLog

        if isinstance(problem, RefusedLog):
            diagnostics += (errors.warning("W006", problem.path, problem),)
        try:
            _append_to_fallback(cwd, skill.folder, row)
        except Exception:
            return (*diagnostics, errors.warning("W002"))
    return diagnostics


def record_offer(skill: Skill, cwd: str, agent: str) -> None:
    """Log that an agent was told of a skill; raise errors of SQLite and the system."""
    append_row(log_file(find_runtime(skill)), _make_row(skill, OFFER, {"agent": agent}, None, cwd, time()))


def _make_row(skill: Skill, command: str, arguments: Fields, error: str | None, cwd: str, now: float) -> Row:
    return (
        strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(now)),
        utf8_text(os.environ.get("SKC_RUN_ID", ""))
        or strftime("%Y%m%dT%H%M%SZ-", gmtime(now)) + os.urandom(2).hex(),
        command,
        utf8_text(skill.name),
        utf8_text(skill.source),
        utf8_text(os.path.realpath(cwd)),
        encode_arguments(arguments),
        error if error is None else utf8_text(error),
    )


def run_logged(
    skill: Skill,
    command: str,
    arguments: Fields,
    cwd: str,
    operation: Callable[[], Result],
    outcome: Callable[[Result], Fields] = lambda result: {},
) -> tuple[Result, Diagnostics]:
    """Run an operation on a skill and log it, failures too; `outcome` adds arguments from its result."""
    try:
        result = operation()
    except SkillcError as error:
        error.diagnostics += record_access(skill, command, arguments, error.message, cwd)
        raise
    except Exception as error:
        if not isinstance(error, errors.Question):
            record_access(skill, command, arguments, unexpected(error).message, cwd)
        raise
    return result, record_access(skill, command, arguments | outcome(result), None, cwd)


def find_runtime(skill: Skill) -> str:
    """Return the runtime directory that has an index, else the one that a build would use."""
    first, *others = skill.runtimes()
    if not any(map(os.path.isdir, others)):  # the usual case, which saves computing the index's name
        return first
    indexes = (r for r in (first, *others) if os.path.exists(paths.index_file(r, skill.source)))
    return next(indexes, first)


def append_row(path: str, row: Row) -> None:
    """Add a row to a log, and create the log if necessary; raise errors of SQLite and the system."""
    identity = _identity(path)
    connection = _idle.take((path, identity)) if identity else None
    if connection is None:
        connection = connect(path)
        identity = _identity(path)
    try:
        _insert(connection, row, paths.is_own_runtime(path))
        checkpoint(connection, path)
    except BaseException:
        connection.close()
        raise
    _idle.give_back((path, identity), connection)


def _insert(connection: Connection, row: Row, is_own: bool) -> None:
    deadline = time() + BUSY_SECONDS
    is_new = False
    while True:
        try:
            if is_new:
                from skillc.usage.schema import create_tables  # once in the life of a log

                connection.set_progress_handler(None, 0)
                create_tables(connection)
            if not is_own:
                end = time() + MAX_SECONDS  # a trigger that is not ours may never end
                connection.set_progress_handler(lambda end=end: time() > end, STEPS)  # type: ignore[misc]
            connection.execute(INSERT, row)
            return
        except sqlite.OperationalError as error:
            problem = str(error)
            if "no such table" in problem and not is_new:
                is_new = True
            elif "lock" not in problem or time() > deadline:
                raise
            else:
                sleep(0.005)


def _append_to_fallback(cwd: str, skill: str, row: Row) -> None:
    from skillc.atomic import Lock  # only for fallback logs

    path = fallback_file(cwd, skill)
    if not paths.is_own(os.path.join(cwd, paths.DIRECTORY)):
        from skillc.databases import RefusedLog

        raise RefusedLog(path, "it belongs to another user")
    paths.make_private(fallback_directory(cwd))
    with Lock(fallback_lock(cwd)):
        append_row(path, row)
        os.utime(path)  # its age counts from the last access, and a row in the WAL does not touch the file


_idle = Idle(MAX_CONNECTIONS)  # the connections that were used last, by path and identity of the file


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def connect(path: str) -> Connection:
    """Open a log for writing; create its directory if necessary. Raise RefusedLog for a foreign one."""
    connection = _open(path) if paths.is_own_runtime(path) else _open_foreign(path)
    try:
        connection.execute("PRAGMA synchronous=NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _open_foreign(path: str) -> Connection:
    """Open a log that a clone may have brought, after checks that raise RefusedLog."""
    from skillc import databases

    try:
        databases.check_log_file(path)
    except OSError as error:
        raise databases.RefusedLog(path, error.strerror) from None
    connection = _open(path)
    try:
        databases.check_log(connection)
    except OSError as error:
        raise databases.RefusedLog(path, error.strerror) from None
    return connection


def _open(path: str) -> Connection:
    _make_private(path)
    return sqlite.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)


def _make_private(path: str) -> None:
    """Create a log for its owner alone, before SQLite creates it for all; close one that others can read.

    It has what people searched for. SQLite gives its other files the rights of the log.
    """
    try:
        if not os.stat(path).st_mode & 0o077:
            return  # as a rule, and all that a reading command pays for
        paths.keep_private_database(path)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:  # another process was faster
            pass
    if paths.is_own_runtime(path):  # in a project, others may read the index beside it
        paths.keep_private(os.path.dirname(path))


def checkpoint(connection: Connection, path: str) -> None:
    """Count the new rows and checkpoint the WAL if it has grown, unless the log is busy."""
    try:
        if os.stat(f"{path}-wal").st_size <= WAL_LIMIT:
            return
    except OSError:
        return
    from skillc.usage.schema import create_tables  # for one row in a hundred

    try:
        connection.execute("PRAGMA busy_timeout=0")
        create_tables(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except sqlite.Error:
        pass
    finally:
        connection.execute(f"PRAGMA busy_timeout={BUSY_SECONDS * 1000:.0f}")


def _check_fallback(fallback: str, skill: str, now: float) -> Diagnostics:
    """Return a warning for a fallback log that has waited for `skc sync` for long."""
    try:
        age = now - os.stat(fallback).st_mtime
    except OSError:
        return ()
    return (errors.warning("W003", skill),) if age > STALE_SECONDS else ()


def encode_arguments(arguments: Fields) -> str:
    """Return arguments as a JSON object, without loading `json`, which costs more than the row."""
    return "{" + ", ".join(f"{json_quote(key)}: {_encode(value)}" for key, value in arguments.items()) + "}"


def _encode(value: LogValue) -> str:
    if isinstance(value, str):
        return json_quote(utf8_text(value))
    return "null" if value is None else "true" if value is True else "false" if value is False else str(value)
