"""Keep a registry in PostgreSQL: for several machines. Needs the extra `postgres`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import Any

from skillc.errors import RegistryUnavailable, require_extra
from skillc.registry.store.database import Listener, Row
from skillc.registry.store.migrations import migrate

with require_extra("postgres"):
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg_pool import ConnectionPool, PoolTimeout

WRITER_LOCK = 0x736B696C6C63  # "skillc": an advisory lock is a number
MAX_CONNECTIONS = 10  # of one process
WAIT_SECONDS = 2.0  # for a connection: then the store is unavailable
WRITER_SECONDS = 10.0  # for the writers of this process that were there before

_NO_CONNECTION = "there is no connection to the database"

# A server that hangs, or a machine that freezes while it writes, must not stop the others for long.
_LIMITS = """SET lock_timeout = '20s'; SET statement_timeout = '60s';
SET idle_in_transaction_session_timeout = '120s'; SET client_encoding = 'UTF8'"""


_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    "connect_timeout": 2,
    "tcp_user_timeout": 5000,  # milliseconds; a server that is gone without a word else holds a request
    "application_name": "skillc",
}


class PostgresConnection:
    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection
        self.news: set[str] = set()

    def execute(self, sql: str, *values: object) -> list[Row]:
        cursor = self._connection.execute(_translate(sql), values)
        return cursor.fetchall() if cursor.description else []

    def execute_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(_translate(sql), rows)

    def notify(self, skill_id: str) -> None:
        self.news.add(skill_id)
        self._connection.execute("NOTIFY skillc")  # which comes with the commit, once


class PostgresWatch:
    """Listens on a connection of its own."""

    def __init__(self, url: str, name: str) -> None:
        self._name = name
        with _translate_errors(name):
            self._connection = psycopg.connect(url, **_OPTIONS)
            self._connection.execute("LISTEN skillc")

    def wait(self, seconds: float) -> None:
        with _translate_errors(self._name):
            for _ in self._connection.notifies(timeout=seconds, stop_after=1):
                pass

    def wake(self) -> None:
        """Do nothing: this process hears of its own changes by the database, too."""

    def close(self) -> None:
        self._connection.close()


class PostgresStore:
    """A store in the database at `url`. Connections are made when they are needed, and made again."""

    text_type = 'TEXT COLLATE "C"'
    catalog = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"

    def __init__(self, url: str, *, prepare: bool = True) -> None:
        self._url, self._name = url, _describe(url)
        self.listeners: list[Listener] = []
        self._failed_at = 0.0  # when there was no connection to be had
        self._writer = Lock()  # waiting writers of this process leave the connections to readers
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            url,
            kwargs=_OPTIONS,
            min_size=0,
            max_size=MAX_CONNECTIONS,
            timeout=WAIT_SECONDS,
            reconnect_timeout=WAIT_SECONDS,
            configure=_limit,
            check=ConnectionPool.check_connection,  # one from before the server was started again
            open=True,
        )
        try:
            if prepare:
                self.watch().close()  # whose error says why there is no database, and once
                migrate(self)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read(self) -> Iterator[PostgresConnection]:
        with self._begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY") as connection:
            yield PostgresConnection(connection)

    @contextmanager
    def write(self) -> Iterator[PostgresConnection]:
        start = monotonic()
        if not self._writer.acquire(timeout=WRITER_SECONDS):
            raise RegistryUnavailable(self._name, "too many writers wait")
        news: set[str] = set()
        try:
            if self._failed_at > start:  # the one before had no connection: don't wait for another in turn
                raise RegistryUnavailable(self._name, _NO_CONNECTION)
            with self._begin("BEGIN ISOLATION LEVEL READ COMMITTED") as connection:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (WRITER_LOCK,))
                transaction = PostgresConnection(connection)
                news = transaction.news
                yield transaction
        finally:
            self._writer.release()
            for listener in self.listeners if news else ():
                listener(news)

    def watch(self) -> PostgresWatch:
        return PostgresWatch(self._url, self._name)

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def _begin(self, statement: Any) -> Iterator[psycopg.Connection[Row]]:
        try:
            with _translate_errors(self._name), self._pool.connection() as connection:
                connection.execute(statement)  # the pool commits, or rolls back where the block raises
                yield connection
        except PoolTimeout:
            self._failed_at = monotonic()
            raise RegistryUnavailable(self._name, _NO_CONNECTION) from None


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    try:
        yield
    except PoolTimeout:
        raise
    except psycopg.Error as error:
        raise RegistryUnavailable(name, str(error).partition("\n")[0]) from None


def _limit(connection: psycopg.Connection[Row]) -> None:
    connection.execute(_LIMITS)


def _translate(sql: str) -> Any:
    """Return our SQL with psycopg's placeholders; it has no other question marks, and no percent signs."""
    return sql.replace("?", "%s")


def _describe(url: str) -> str:
    """Return the address of a database without user and password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        raise RegistryUnavailable("postgresql", "the address of the store can't be read") from None
    return f"postgresql://{parts.get('host', '')}/{parts.get('dbname', '')}"
