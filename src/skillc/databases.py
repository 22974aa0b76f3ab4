"""Check databases that a project may have brought before SQLite opens them or runs what is in them."""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

MAX_WAL = 1 << 28  # bytes of a log's WAL; a larger one is not ours, and would take long to read
MAX_VALUE = 1 << 26  # bytes of a text in a log
LOG_TABLES = (  # of an access log, with the trigger of older ones, and tables that SQLite adds
    "access_log access_kind access_place access_day access_week access_mark access_counted"
    " sqlite_sequence sqlite_stat1"
)


class RefusedLog(Exception):
    """A log that this program did not write, such as a project that was cloned can bring."""

    def __init__(self, path: str, reason: str | None) -> None:
        self.path = path
        super().__init__(reason)


def check_database(path: str, depth: int = 4) -> None:
    """Raise OSError for a database that SQLite must not open; one that does not exist yet is fine.

    A project that was cloned may bring one: as a link, also of one of the `depth` last directories, that
    leads to another file; or with a journal, which SQLite plays back, and which can name any file to delete.
    """
    place = path
    for _ in range(depth):
        if os.path.islink(place):
            raise OSError(errno.ELOOP, "a link leads there", place)
        place = os.path.dirname(place)
    for name in (path, f"{path}-wal", f"{path}-shm"):
        try:
            if not stat.S_ISREG(os.lstat(name).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", name)
        except (FileNotFoundError, NotADirectoryError):
            pass
    if os.path.lexists(f"{path}-journal"):
        raise OSError(errno.EEXIST, "a journal that is not ours", f"{path}-journal")


def check_schema(connection: Connection, names: str) -> None:
    """Raise OSError for a database with anything but ordinary tables and triggers of these names.

    Tables of the full-text index `sections` are fine, too. Views, triggers and columns with an expression
    run whatever the author of the database wrote.
    """
    connection.execute("PRAGMA trusted_schema=OFF")
    try:
        row = connection.execute(_FOREIGN_OBJECTS, (f" {names} ",)).fetchone()
    except UnicodeDecodeError:
        raise OSError(errno.EINVAL, "it is damaged") from None
    if row is not None:
        raise OSError(errno.EINVAL, f"it holds '{row[0]}', which is not ours")


_FOREIGN_OBJECTS = """SELECT name FROM sqlite_master WHERE type = 'view'
OR type <> 'index' AND instr(?, ' ' || name || ' ') = 0
OR sql LIKE 'CREATE VIRTUAL %' AND name <> 'sections'
OR type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_xinfo(sqlite_master.name) WHERE hidden > 1)
LIMIT 1"""


def check_log_file(path: str) -> None:
    """Raise OSError for a log that SQLite must not open; remove a journal, which is not ours."""
    try:
        check_database(path)
    except FileExistsError:
        _remove_journal(path)
    try:
        size = os.stat(f"{path}-wal").st_size
    except OSError:
        return  # there is none
    if size > MAX_WAL:
        raise OSError(errno.EFBIG, f"its WAL is over {MAX_WAL >> 20} MiB")


def check_log(connection: Connection) -> None:
    """Close a log with tables, views or triggers that are not ours, before any of them runs: OSError."""
    try:
        connection.setlimit(0, MAX_VALUE)  # SQLITE_LIMIT_LENGTH
        check_schema(connection, LOG_TABLES)
    except BaseException:
        connection.close()
        raise


def _remove_journal(path: str) -> None:
    """Remove a journal without playing it back, and the log, too, unless WAL mode makes it complete."""
    os.unlink(f"{path}-journal")
    try:
        with open(path, "rb", buffering=0) as file:
            is_complete = file.read(20)[18:] == b"\2\2"
        if not is_complete:
            os.unlink(path)
    except FileNotFoundError:
        pass
