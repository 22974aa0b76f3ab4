"""Define what a store is: a database with reading and writing transactions.

    with store.write() as connection:
        connection.execute("UPDATE tags SET version = ? WHERE skill = ? AND tag = ?", version, skill, tag)

The SQL is written once, in what both databases understand, with `?` for values. Writers run one after the
other, so that a decision and what is written after it belong together, and changes get their numbers in the
order in which readers see them. A transaction appears whole or, where its process is killed, not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

Row = tuple[Any, ...]


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
        """End a `wait`, from another thread."""
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

    def read(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees the store as it is at its first statement."""
        ...

    def write(self) -> AbstractContextManager[Connection]:
        """Open a transaction that no other writer runs beside; it is undone where the block raises."""
        ...

    def watch(self) -> Watch: ...

    def close(self) -> None: ...
