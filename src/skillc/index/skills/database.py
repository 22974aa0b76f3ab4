"""The file of the library's index: made when missing, made anew when it can't be read, shared by processes.

SQLite's write-ahead log lets many read while one writes; what is written is one transaction, whole or
not at all. Where no file can be had (no home, a full or read-only disk), the same tables live in memory
for as long as the process does.
"""

from __future__ import annotations

import os
from _thread import RLock

from skillc import atomic, paths
from skillc.startup.sqlite import Error, OperationalError, connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Answer = TypeVar("Answer")

VERSION = 3  # of the tables; a file with another one is made anew
PATIENCE = 30.0  # seconds to wait for another process that writes
IN_MEMORY = ":memory:"

_TABLES = """
CREATE TABLE folders (number INTEGER PRIMARY KEY, root TEXT, strict INTEGER, checked REAL, cost REAL,
    revision INTEGER);
CREATE UNIQUE INDEX folder_by_root ON folders (root, strict);
CREATE TABLE directories (folder INTEGER, path TEXT, modified INTEGER, changed INTEGER,
    collection TEXT, collection_stamp TEXT, PRIMARY KEY (folder, path)) WITHOUT ROWID;
CREATE TABLE skills (number INTEGER PRIMARY KEY, folder INTEGER, path TEXT, id TEXT, offered INTEGER,
    size INTEGER, modified INTEGER, changed INTEGER, description TEXT, capabilities TEXT, metadata TEXT,
    noticed TEXT, segment INTEGER, slot INTEGER, digest INTEGER);
CREATE UNIQUE INDEX skill_by_path ON skills (folder, path);
CREATE INDEX skill_by_id ON skills (id, folder);
CREATE INDEX skill_by_slot ON skills (segment, slot);
CREATE INDEX skill_to_index ON skills (folder) WHERE segment IS NULL AND description IS NOT NULL;
CREATE TABLE segments (number INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER, size INTEGER,
    skills INTEGER);
CREATE TABLE postings (segment INTEGER, term TEXT, heads INTEGER, bodies INTEGER, head BLOB, body BLOB,
    PRIMARY KEY (segment, term)) WITHOUT ROWID;
CREATE TABLE notes (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""


def library_file() -> str:
    """Where the index of all folders is kept; in memory where there is no home."""
    home = paths.home()
    return paths.library_file(home) if home else IN_MEMORY


class Database:
    """A connection to the index. Every access goes through `read` or `write`, which see to damage.

    Threads take turns for as long as a question or a change takes. `remembered` is for what readers of this
    very file want to keep in memory. `watch` is told how far it is when many files are read for it: the
    folder, how many are done, and of how many.
    """

    __slots__ = ("_connection", "_turn", "path", "remembered", "watch")

    def __init__(self, path: str) -> None:
        self.path = path
        self._connection: Any | None = None
        self._turn = RLock()
        self.remembered: dict[int, Any] = {}
        self.watch: Callable[[str, int, int], None] | None = None

    @property
    def lasting(self) -> bool:
        """Whether what is written outlives the process."""
        return self.path != IN_MEMORY

    def exists(self) -> bool:
        """Whether anything can be known already."""
        return self._connection is not None or (self.lasting and os.path.exists(self.path))

    def read(self, question: Callable[[Any], Answer]) -> Answer:
        """The answer to a question put to the connection's `execute`, from one state of the file."""
        with self._turn:
            try:
                return self._consistently(question)
            except Error as error:
                self._recover(error)
            except (AttributeError, TypeError, ValueError):  # of a value that is none of ours
                if not self.lasting:
                    raise
                self._rebuild()
            return self._consistently(question)

    def write(self, change: Callable[[Any], Answer], patience: float = PATIENCE) -> Answer | None:
        """Make a change, whole or not at all; None where another process is writing or nothing can be."""
        with self._turn:
            return self._written(change, patience)

    def _written(self, change: Callable[[Any], Answer], patience: float) -> Answer | None:
        execute = self._open()
        try:
            execute(f"PRAGMA busy_timeout={int(patience * 1000)}")
            execute("BEGIN IMMEDIATE")
        except OperationalError:
            return None
        except Error:
            self._rebuild()
            return self._written(change, patience) if self.lasting else None
        try:
            answer = change(execute)
            execute("COMMIT")
        except BaseException as error:
            self._roll_back()
            if not isinstance(error, Error):
                raise
            if _is_damage(error):  # otherwise a full disk, say
                self._rebuild()
            return None
        return answer

    def tidy(self) -> None:
        """After much was written: put it into the file and give back the room of the log."""
        with self._turn:
            if self.lasting and self._connection is not None:
                try:
                    self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                except Error:
                    pass

    def lock(self) -> atomic.Lock | None:
        """To be held while much is read in order to be written, so that two don't do the same work."""
        if not self.lasting or not self._made_directory():
            return None
        path = f"{self.path}.lock"
        writable = os.access(path if os.path.exists(path) else os.path.dirname(path), os.W_OK)
        return atomic.Lock(path) if writable else None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self.remembered.clear()

    def __del__(self) -> None:
        self.close()

    def _consistently(self, question: Callable[[Any], Answer]) -> Answer:
        execute = self._open()
        execute("BEGIN")
        try:
            return question(execute)
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        try:
            connection = self._connection
            if connection is not None and connection.in_transaction:
                connection.execute("ROLLBACK")
        except Error:
            self.close()

    def _open(self) -> Any:
        """The connection's `execute`."""
        if self._connection is None:
            try:
                self._connection = self._connected()
            except Error as error:
                self._recover(error)
        assert self._connection is not None
        return self._connection.execute

    def _connected(self) -> Any:
        if self.lasting and not self._made_directory():
            raise OperationalError("no directory for the index")
        connection = connect(
            self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False, cached_statements=64
        )
        try:
            _prepare(connection, self.lasting)
        except BaseException:
            connection.close()
            raise
        return connection

    def _made_directory(self) -> bool:
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
        except OSError:
            return False
        return True

    def _recover(self, error: Error) -> None:
        """After a failure: with a new file where the old one is damaged, else (it is locked) without any."""
        if _is_damage(error) and self.lasting:
            self._rebuild()
        else:
            self.leave()

    def leave(self) -> None:
        """Go on in memory."""
        with self._turn:
            self.close()
            self.path = IN_MEMORY
            self._connection = self._connected()

    def _rebuild(self) -> None:
        """Throw a damaged file away; everything in it can be read again from the folders."""
        self.close()
        for ending in ("", "-wal", "-shm"):
            atomic.discard(self.path + ending)
        try:
            self._connection = self._connected()
        except Error:
            self.leave()


def _is_damage(error: Error) -> bool:
    known = ("no such", "malformed", "Could not decode")
    return not isinstance(error, OperationalError) or str(error).startswith(known)


def _prepare(connection: Any, lasting: bool) -> None:
    """Make the tables where there are none; raises Error for a file that is not ours."""
    execute = connection.execute
    if lasting:
        execute("PRAGMA mmap_size=1073741824")
        execute("PRAGMA synchronous=NORMAL")
    version = execute("PRAGMA user_version").fetchone()[0]
    if version == VERSION:
        return
    if lasting:
        execute("PRAGMA journal_mode=WAL").fetchone()
    execute("BEGIN IMMEDIATE")
    version = execute("PRAGMA user_version").fetchone()[0]  # another process may have been quicker
    if version != VERSION:
        _drop_everything(execute)
        for statement in _TABLES.split(";"):
            execute(statement)
        execute(f"PRAGMA user_version={VERSION}")
    execute("COMMIT")


def _drop_everything(execute: Any) -> None:
    names = execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    for (name,) in names.fetchall():
        execute(f'DROP TABLE "{name}"')
