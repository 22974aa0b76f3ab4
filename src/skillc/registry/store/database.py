"""Define what a store is, a database with reading and writing transactions, and how values become rows.

    with store.write() as connection:
        connection.execute("UPDATE tags SET version = ? WHERE skill = ? AND tag = ?", version, skill, tag)

The SQL is written once, in what both databases understand, with `?` for values. Writers run one after the
other, so that a decision and what is written after it belong together, and changes get their numbers in the
order in which readers see them. A transaction appears whole or, where its process is killed, not at all.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar, get_type_hints

from skillc.registry.model.model import Role
from skillc.skills import SkillId

BATCH = 500  # values in one statement; SQLite may have a limit of 999

Row = tuple[Any, ...]
T = TypeVar("T")


class Connection(Protocol):
    """One transaction."""

    def execute(self, sql: str, *values: object) -> list[Row]:
        """Run one statement and return its rows."""
        ...

    def execute_many(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Run one statement for each row of values."""
        ...

    def notify(self, skill_id: str) -> None:
        """Tell of a change to a skill, or to the accounts ("") once this transaction is done."""
        ...


class Watch(Protocol):
    """Waits for changes that any process makes. It may wake up without one, and miss one: look at the log."""

    def wait(self, seconds: float) -> None:
        """Return after a change, or when time is up; raises RegistryUnavailable."""
        ...

    def wake(self) -> None:
        """End a `wait`, from another thread, where that is quicker than its time."""
        ...

    def close(self) -> None: ...


Listener = Callable[[Collection[str]], None]  # called with the IDs of skills that changed, "" for accounts


class Store(Protocol):
    """A database. Everything it can't do raises RegistryUnavailable (E092)."""

    @property
    def listeners(self) -> list[Listener]:
        """What is called at the end of each transaction of this process that changed something."""
        ...

    @property
    def text_type(self) -> str:
        """The type of columns with text, which is to be sorted bytewise."""
        ...

    @property
    def catalog(self) -> str:
        """A query for the names of its tables."""
        ...

    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees the store as it is at its first statement."""
        ...

    def write(self) -> AbstractContextManager[Connection]:
        """Open a transaction that no other writer runs beside; it is undone where the block raises."""
        ...

    def watch(self) -> Watch: ...

    def close(self) -> None: ...


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_number(time: datetime) -> int:
    return (time - _EPOCH) // _MICROSECOND


def to_time(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND


# How a field is written to its column and read from it, by its type; all others are as they are. JSON is in
# ASCII, so that it can have what no database holds, such as a NUL character.
_CONVERSIONS: dict[Any, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    bool: (int, bool),
    datetime: (to_number, to_time),
    datetime | None: (
        lambda time: None if time is None else to_number(time),
        lambda number: None if number is None else to_time(number),
    ),
    Role: (lambda role: role.rank, Role.of_rank),
    SkillId: (str, SkillId),
    Mapping[str, Any]: (json.dumps, json.loads),
    tuple[str, ...]: (json.dumps, lambda text: tuple(json.loads(text))),
}


class Table(Generic[T]):
    """A table that holds values of a dataclass: its columns have the names and the order of the fields.

    It may have further columns, which `insert` is given by name.
    """

    def __init__(self, name: str, kind: type[T], order: str = "", key: str = "id") -> None:
        self.name = name
        self._kind, self._order, self._key = kind, order, key
        self._names = [field.name for field in fields(kind) if field.init]  # type: ignore[arg-type]
        self.columns = ", ".join(self._names)
        hints = get_type_hints(kind)
        # By position: most columns are as they are, and lists of skills have many rows.
        self._conversions = [
            (position, *_CONVERSIONS[hints[name]])
            for position, name in enumerate(self._names)
            if hints[name] in _CONVERSIONS
        ]

    def parse(self, row: Row) -> T:
        values = list(row)
        for position, _, read in self._conversions:
            values[position] = read(values[position])
        return self._kind(*values)

    def select(self, connection: Connection, clause: str, *values: object) -> list[T]:
        """Return the values that a clause chooses, which follows the name of the table."""
        rows = connection.execute(f"SELECT {self.columns} FROM {self.name} {clause}", *values)  # noqa: S608
        return [self.parse(row) for row in rows]

    def filter(self, connection: Connection, **columns: str) -> list[T]:
        """Return the values with these texts in columns, in order; an empty text is not compared."""
        wanted = {name: text for name, text in columns.items() if text}
        condition = " AND ".join(f"{name} = ?" for name in wanted) or "1 = 1"
        return self.select(connection, f"WHERE {condition} ORDER BY {self._order}", *wanted.values())

    def find(self, connection: Connection, key: str) -> T | None:
        """Return the value with a key; None where there is none."""
        return next(iter(self.select(connection, f"WHERE {self._key} = ?", key)), None)

    def find_with_hash(self, connection: Connection, key: str, hash: str) -> T | None:
        """Return the value with a key whose secret has this hash; both are compared in constant time."""
        query = f"SELECT {self.columns}, hash FROM {self.name} WHERE {self._key} = ?"  # noqa: S608
        rows = connection.execute(query, key)
        *row, own_hash = rows[0] if rows else ("",)
        is_right = hmac.compare_digest(own_hash.encode(), hash.encode())
        return self.parse((*row,)) if rows and is_right else None

    def insert(self, connection: Connection, value: T, conflict: str = "", **others: object) -> None:
        """Insert a value; `conflict` is what follows ON CONFLICT."""
        row = [getattr(value, name) for name in self._names]
        for position, write, _ in self._conversions:
            row[position] = write(row[position])
        columns = ", ".join((*self._names, *others))
        query = f"INSERT INTO {self.name} ({columns}) VALUES ({marks(len(row) + len(others))})"  # noqa: S608
        connection.execute(f"{query} ON CONFLICT {conflict}" if conflict else query, *row, *others.values())


def marks(count: int) -> str:
    return ", ".join("?" * count)


def split(values: Collection[str]) -> Iterator[list[str]]:
    """Yield values in order, as many at once as a statement can have."""
    ordered = sorted(values)
    return (ordered[start : start + BATCH] for start in range(0, len(ordered), BATCH))


def select_in(connection: Connection, sql: str, values: Collection[str], *first: object) -> Iterator[Row]:
    """Yield the rows of a query that ends with a column which has one of many values."""
    for batch in split(values):
        yield from connection.execute(f"{sql} IN ({marks(len(batch))})", *first, *batch)
