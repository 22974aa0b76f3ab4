"""The database of the skill index: created when missing, rebuilt when damaged, shared by processes.

SQLite's write-ahead log lets many read while one writes, and each change is one transaction. Where no
file can be used (no home, a full or read-only disk), the same tables live in memory as long as the process.

SQLite notices damage to the structure of a file, not to what is in it. So checksums stand beside the
values, and what is read is compared with them: `seal` is that of a folder's row and its segments, `digest`
that of all its skills and directories, `checksum` that of a row. A term that is missing is missed by the
term before it, which says what comes `next`, a skill in a slot by its segment, which says which slots are of
`removed` ones, a twin by the `members` of its group, and a row of `kin`, by which twins are found, by the
checksum of their sums.

Damage to the order of a page makes SQLite return a sound row that was not asked for. So the keys of a row
are in its checksum, and are compared with those that were asked for.
"""

from __future__ import annotations

import os
from marshal import dumps
from zlib import crc32

from skillc import atomic, paths
from skillc.startup import RLock, sqlite, sqlite_uri

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any, TypeVar

    Result = TypeVar("Result")

VERSION = 11  # of the tables; a file with another one is rebuilt
_DAMAGE = ("no such", "malformed", "Could not decode", "unsupported file format")  # beginnings of messages
_MISREAD = (AttributeError, LookupError, TypeError, ValueError)  # of a value that we did not write
LOCK_TIMEOUT = 30.0  # seconds to wait for another process that writes
SHORT_WAIT = 0.05  # likewise, for one that can do without
MAX_VALUES = 500  # in a statement
IN_MEMORY = ":memory:"

_TABLES = """
CREATE TABLE folders (number INTEGER PRIMARY KEY, root TEXT, strict INTEGER, checked REAL, cost REAL,
    checksum INTEGER, revision INTEGER, digest INTEGER, seal INTEGER);
CREATE UNIQUE INDEX folder_by_root ON folders (root, strict);
CREATE TABLE directories (folder INTEGER, path TEXT, modified INTEGER, changed INTEGER,
    collection TEXT, collection_stamp TEXT, PRIMARY KEY (folder, path)) WITHOUT ROWID;
CREATE TABLE skills (number INTEGER PRIMARY KEY, folder INTEGER, path TEXT, id TEXT, offered TEXT,
    size INTEGER, modified INTEGER, changed INTEGER, description TEXT, capabilities TEXT, metadata TEXT,
    noticed TEXT, tags TEXT, segment INTEGER, slot INTEGER, digest INTEGER, sketch BLOB, twins INTEGER,
    checksum INTEGER);
CREATE UNIQUE INDEX skill_by_path ON skills (folder, path);
CREATE INDEX skill_by_id ON skills (id, folder);
CREATE INDEX skill_by_slot ON skills (segment, slot);
CREATE INDEX skill_to_index ON skills (folder) WHERE segment IS NULL AND description IS NOT NULL;
CREATE TABLE segments (number INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER, size INTEGER,
    skills INTEGER, removed BLOB);
CREATE TABLE postings (segment INTEGER, term TEXT, next TEXT, heads INTEGER, bodies INTEGER, lists INTEGER,
    checksum INTEGER, head BLOB, body BLOB, others BLOB, PRIMARY KEY (segment, term)) WITHOUT ROWID;
CREATE TABLE spellings (segment INTEGER, letter TEXT, terms TEXT, checksum INTEGER,
    PRIMARY KEY (segment, letter)) WITHOUT ROWID;
CREATE TABLE twins (number INTEGER PRIMARY KEY, members TEXT, checksum INTEGER);
CREATE TABLE kin (key INTEGER, skill INTEGER, PRIMARY KEY (key, skill)) WITHOUT ROWID;
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT, checksum INTEGER) WITHOUT ROWID;
"""


def library_file() -> str:
    """Return the path of the skill index; in memory where there is no home."""
    home = paths.home()
    return paths.library_file(home) if home else IN_MEMORY


class Database:
    """A connection to the index. Every access goes through `read` or `write`, which handle damage.

    Threads take turns, one query or change at a time. A file is `mapped` into memory unless that would count
    against a limit. `segments` is a cache for readers of this file, dropped when it is closed. `on_progress`
    is called while many files are read, with the folder, how many are done, and of how many.
    """

    def __init__(self, path: str, mapped: bool = True) -> None:
        self.path = path
        self._mapped = mapped
        self._connection: Any | None = None
        self._lock = RLock()
        self.segments: dict[int, Any] = {}
        self.on_progress: Callable[[str, int, int], None] = lambda folder, done, total: None

    @property
    def persistent(self) -> bool:
        return self.path != IN_MEMORY

    def exists(self) -> bool:
        """Return whether the index may hold anything."""
        return self._connection is not None or (self.persistent and os.path.exists(self.path))

    def read(self, query: Callable[[Any], Result]) -> Result:
        """Return what `query` does with the connection's `execute`, in one transaction."""
        with self._lock:
            try:
                return self._read(query)
            except (sqlite.Error, *_MISREAD) as error:
                self._recover(error)
            return self._read(query)

    def write(self, change: Callable[[Any], Result], timeout: float = LOCK_TIMEOUT) -> Result | None:
        """Apply a change in one transaction; None where another process writes or nothing can be written."""
        with self._lock:
            execute = self._open()
            try:
                execute(f"PRAGMA busy_timeout={int(timeout * 1000)}")
                execute("BEGIN IMMEDIATE")
            except sqlite.Error as error:
                if not self._is_damage(error):  # otherwise another process that writes, say
                    return None
                self._rebuild()
                return self.write(change, timeout) if self.persistent else None
            try:
                result = change(execute)
                execute("COMMIT")
            except BaseException as error:
                self._roll_back()
                if self._is_damage(error):
                    self._rebuild()
                elif not isinstance(error, sqlite.Error):  # such as a full disk
                    raise
                return None
            return result

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file and empty it; for after large changes."""
        with self._lock:
            if self.persistent and self._connection is not None:
                try:
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                except sqlite.Error:
                    pass

    def lock(self, until: float | None = None) -> atomic.Lock | None:
        """Return a lock for reading many files into the index, so that two processes don't both do it.

        It waits for another process until the time `until`.
        """
        if not self.persistent or not self._make_private():
            return None
        path = f"{self.path}.lock"
        writable = os.access(path if os.path.exists(path) else os.path.dirname(path), os.W_OK)
        return atomic.Lock(path, until) if writable else None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self.segments.clear()

    def __del__(self) -> None:
        self.close()

    def _read(self, query: Callable[[Any], Result]) -> Result:
        execute = self._open()
        execute("BEGIN")
        try:
            return query(execute)
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        try:
            connection = self._connection
            if connection is not None and connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite.Error:
            self.close()

    def _open(self) -> Any:
        """Return the connection's `execute`."""
        if self._connection is None:
            try:
                self._connection = self._connect()
            except sqlite.Error as error:
                self._recover(error)
        assert self._connection is not None
        return self._connection.execute

    def _connect(self) -> Any:
        if self.persistent and not self._make_private():
            raise sqlite.OperationalError("no directory for the index")
        connection = sqlite.connect(
            self.path,
            timeout=LOCK_TIMEOUT,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=64,
        )
        try:
            _prepare(connection, self.persistent, self._mapped)
        except BaseException:
            connection.close()
            raise
        return connection

    def _make_private(self) -> bool:
        """Let others see nothing of the file: it has texts of folders that may be private."""
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
        except OSError:
            return False
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            pass  # it is there, or SQLite says what is wrong
        paths.keep_private_database(self.path)
        return True

    def _recover(self, error: Exception) -> None:
        """Rebuild a damaged file; go on in memory after any other failure of it, such as a lock."""
        if self._is_damage(error):
            self._rebuild()
        elif isinstance(error, sqlite.Error):
            self.move_to_memory()
        else:
            raise error

    def _is_damage(self, error: BaseException) -> bool:
        """Return whether an error means that the file is not as it was written."""
        text = str(error)
        if not self.persistent or not isinstance(error, (sqlite.Error, *_MISREAD)):
            return False
        if text.startswith("attempt to write a readonly"):  # its header says so, if the system does not
            return all(os.access(path, os.W_OK) for path in (self.path, os.path.dirname(self.path)))
        return not isinstance(error, sqlite.OperationalError) or text.startswith(_DAMAGE)

    def move_to_memory(self) -> None:
        with self._lock:
            self.close()
            self.path = IN_MEMORY
            self._connection = self._connect()

    def _rebuild(self) -> None:
        """Delete a damaged file; everything in it can be read again from the folders."""
        self.close()
        for ending in ("", "-wal", "-shm"):
            atomic.discard(self.path + ending)
        try:
            self._connection = self._connect()
        except sqlite.Error:
            self.move_to_memory()


class RecalledDatabase(Database):
    """The index of other processes, which is read as it is: any fault is raised."""

    def _connect(self) -> Any:
        uri = sqlite_uri(self.path, "mode=ro")
        connection = sqlite.connect(uri, uri=True, timeout=SHORT_WAIT, isolation_level=None)
        try:
            connection.execute("PRAGMA mmap_size=1073741824")
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                raise damage()
        except BaseException:
            connection.close()
            raise
        return connection

    def _recover(self, error: Exception) -> None:
        raise error


def checksum(*values: Any) -> int:
    """Return a number that changes with any byte of some values."""
    return crc32(dumps(values, 2))  # a version that writes equal values alike


def verify(check: object, *values: Any) -> None:
    """Raise the error of damage unless values have their checksum."""
    if check != checksum(*values):
        raise damage()


def damage() -> sqlite.DatabaseError:
    """Return the error for which `Database` makes the file anew."""
    return sqlite.DatabaseError("a value is not as it was written")


def read_note(execute: Any, key: str) -> str | None:
    """Return what was noted under a key."""
    row = execute("SELECT value, checksum FROM notes WHERE key = ?", (key,)).fetchone()
    if row is None:
        return None
    verify(row[1], key, row[0])
    return str(row[0])


def write_note(execute: Any, key: str, value: str, limit: int) -> None:
    """Note a value under a key; where there are as many notes as the limit, drop them all first."""
    if execute("SELECT count(*) FROM notes").fetchone()[0] >= limit:
        execute("DELETE FROM notes")
    execute("INSERT OR REPLACE INTO notes VALUES (?, ?, ?)", (key, value, checksum(key, value)))


def select_in(execute: Any, sql: str, key: Any, values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a statement with one parameter, `key`, that is continued by `IN (values)`."""
    for start in range(0, len(values), MAX_VALUES):
        group = values[start : start + MAX_VALUES]
        marks = ", ".join("?" * len(group))
        yield from execute(f"{sql} IN ({marks})", (key, *group)).fetchall()


def _prepare(connection: Any, persistent: bool, mapped: bool) -> None:
    """Create the tables where there are none; raises Error for a file that is no database."""
    execute = connection.execute
    if persistent:
        if mapped:
            execute("PRAGMA mmap_size=1073741824")
        execute("PRAGMA synchronous=NORMAL")
    if execute("PRAGMA user_version").fetchone()[0] == VERSION:
        return
    if persistent:
        execute("PRAGMA journal_mode=WAL").fetchone()
    execute("BEGIN IMMEDIATE")
    if execute("PRAGMA user_version").fetchone()[0] != VERSION:  # else another process was quicker
        names = execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        for (name,) in names.fetchall():
            execute(f'DROP TABLE "{name}"')
        for statement in _TABLES.split(";"):
            execute(statement)
        execute(f"PRAGMA user_version={VERSION}")
    execute("COMMIT")
