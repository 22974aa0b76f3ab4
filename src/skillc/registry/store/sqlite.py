"""Keep a registry in one SQLite file: for one machine, and any number of its processes."""

from __future__ import annotations

import os
import sqlite3
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event
from time import monotonic
from weakref import WeakSet

from skillc import atomic
from skillc.errors import RegistryUnavailable
from skillc.paths import keep_private_database
from skillc.registry.store.database import Listener, Row
from skillc.registry.store.migrations import migrate
from skillc.startup import BUSY_SECONDS

POLL_SECONDS = 0.1  # between two looks at whether another process wrote


class SqliteConnection:
    def __init__(self, path: str) -> None:
        self.news: set[str] = set()
        # Transactions are opened by `begin` alone. A connection is used by one thread at a time.
        self._connection = sqlite3.connect(
            path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            self.execute("PRAGMA synchronous=FULL")  # what was published stays so when the power fails
            self.execute("PRAGMA foreign_keys=ON")
        except BaseException:
            self.close()
            raise

    def execute(self, sql: str, *values: object) -> list[Row]:
        return self._connection.execute(sql, values).fetchall()

    def execute_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        self._connection.executemany(sql, rows)

    def notify(self, skill_id: str) -> None:
        self.news.add(skill_id)

    @contextmanager
    def begin(self, mode: str) -> Iterator[None]:
        self.execute(f"BEGIN {mode}")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self.execute("ROLLBACK")
            raise

    def close(self) -> None:
        self._connection.close()


class SqliteWatch:
    """Asks SQLite again and again whether another connection wrote, which costs microseconds."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._event = Event()
        with _translate_errors(path):
            self._connection = SqliteConnection(path)
            self._version = self._read_version()

    def wait(self, seconds: float) -> None:
        end = monotonic() + seconds
        with _translate_errors(self._path):
            while (rest := end - monotonic()) > 0:
                is_woken = self._event.wait(min(POLL_SECONDS, rest))
                version = self._read_version()
                if is_woken or version != self._version:
                    self._event.clear()
                    self._version = version
                    return

    def wake(self) -> None:
        self._event.set()

    def close(self) -> None:
        self._connection.close()

    def _read_version(self) -> int:
        ((version,),) = self._connection.execute("PRAGMA data_version")
        return int(version)


class SqliteStore:
    """A store in the file at `path`, which is made where there is none."""

    text_type = "TEXT"
    catalog = "SELECT name FROM sqlite_master WHERE type = 'table'"

    def __init__(self, path: str, *, prepare: bool = True) -> None:
        self._path = os.path.abspath(path)
        self._idle: deque[SqliteConnection] = deque()  # as many as were in use at once
        self._watches: WeakSet[SqliteWatch] = WeakSet()
        self.listeners: list[Listener] = []
        if prepare:
            self._prepare()

    def _prepare(self) -> None:
        """Make the file where there is none, and bring its tables up to date."""
        with _translate_errors(self._path):
            os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))  # others see no hashes of tokens
            keep_private_database(self._path)
            with atomic.Lock(f"{self._path}.lock"), self._borrow() as connection:
                connection.execute("PRAGMA journal_mode=WAL")  # does not wait for others by itself
        try:
            migrate(self)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read(self) -> Iterator[SqliteConnection]:
        with _translate_errors(self._path), self._borrow() as connection, connection.begin("DEFERRED"):
            yield connection

    @contextmanager
    def write(self) -> Iterator[SqliteConnection]:
        with _translate_errors(self._path), self._borrow() as connection:
            connection.news.clear()
            try:
                with connection.begin("IMMEDIATE"):
                    yield connection
            finally:
                self._tell(connection.news)

    def watch(self) -> SqliteWatch:
        watch = SqliteWatch(self._path)
        self._watches.add(watch)
        return watch

    def _tell(self, news: Collection[str]) -> None:
        if news:
            for listener in self.listeners:
                listener(news)
            for watch in (*self._watches,):
                watch.wake()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _borrow(self) -> Iterator[SqliteConnection]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = SqliteConnection(self._path)
        is_sound = True
        try:
            yield connection
        except sqlite3.Error:
            is_sound = False
            raise
        finally:
            if is_sound:
                self._idle.append(connection)
            else:
                connection.close()


@contextmanager
def _translate_errors(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise RegistryUnavailable(path, str(error)) from None
    except OSError as error:
        raise RegistryUnavailable(path, error.strerror or str(error)) from None
