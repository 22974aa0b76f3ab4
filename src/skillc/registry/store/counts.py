"""Read and write counts of use, which machines send: for each day, skill, file, section and command."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from skillc.registry.store.database import Connection, Row
from skillc.registry.store.tables import MAX_PREFIXES, limit_to

TOGETHER = ""  # in place of a machine: the sum of what machines sent long ago
_USAGE = "machine, day, skill, file, section, command"
_MISS = "machine, day, skill, query"
_HIGHER = "CASE WHEN excluded.count > {0}.count THEN excluded.count ELSE {0}.count END"


def save_counts(connection: Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Save rows of machine, day, skill, file, section, command and count; the higher count stays."""
    connection.execute_many(
        f"INSERT INTO usage ({_USAGE}, count) VALUES (?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
        f"ON CONFLICT ({_USAGE}) DO UPDATE SET count = {_HIGHER.format('usage')}",
        rows,
    )


def save_misses(connection: Connection, rows: Iterable[Sequence[Any]]) -> None:
    """Save rows of machine, day, skill, query and count; the higher count stays."""
    connection.execute_many(
        f"INSERT INTO misses ({_MISS}, count) VALUES (?, ?, ?, ?, ?) "  # noqa: S608
        f"ON CONFLICT ({_MISS}) DO UPDATE SET count = {_HIGHER.format('misses')}",
        rows,
    )


def count_rows(connection: Connection, machine: str) -> int:
    """Return how many rows a machine has for the day that it has most for."""
    most = 0
    for table in ("usage", "misses"):
        query = f"SELECT count(*) FROM {table} WHERE machine = ? GROUP BY day ORDER BY 1 DESC LIMIT 1"  # noqa: S608
        most += sum(number for (number,) in connection.execute(query, machine))
    return most


def join_machines(connection: Connection, before: int) -> None:
    """Add up what machines sent for days before one, and forget which machine it was."""
    for table, columns in (("usage", "day, skill, file, section, command"), ("misses", "day, skill, query")):
        connection.execute(
            f"INSERT INTO {table} (machine, {columns}, count) "  # noqa: S608
            f"SELECT ?, {columns}, sum(count) FROM {table} WHERE day < ? AND machine <> ? GROUP BY {columns} "
            f"ON CONFLICT (machine, {columns}) DO UPDATE SET count = {table}.count + excluded.count",
            *(TOGETHER, before, TOGETHER),
        )
        query = f"DELETE FROM {table} WHERE day < ? AND machine <> ?"  # noqa: S608
        connection.execute(query, before, TOGETHER)


def drop_misses(connection: Connection, before: int) -> None:
    connection.execute("DELETE FROM misses WHERE day < ?", before)


class CountReader:
    """Sums of counts below some prefixes, from a day on."""

    def __init__(self, connection: Connection, prefixes: Sequence[str], since: int) -> None:
        self._connection = connection
        condition, values = limit_to("skill", prefixes[:MAX_PREFIXES])  # of more, the sums lack the last
        there = "(skill = '' OR skill IN (SELECT id FROM skills WHERE deleted_at IS NULL))"
        self._condition = f"{condition} AND {there} AND day >= ?"
        self._values = [*values, since]

    def sum_by(self, columns: str, limit: int, table: str = "usage", condition: str = "1 = 1") -> list[Row]:
        """Return the sums for each value of one column or more, the highest first; days backwards."""
        order = "day DESC" if columns == "day" else f"total DESC, {columns}"
        query = f"""SELECT {columns}, CAST(sum(count) AS BIGINT) AS total FROM {table}
            WHERE {self._condition} AND {condition} GROUP BY {columns} ORDER BY {order} LIMIT {int(limit)}"""  # noqa: S608
        return self._connection.execute(query, *self._values)

    def total(self) -> tuple[int, int]:
        """Return the sum of all counts, and the number of machines that are still told apart."""
        query = f"""SELECT CAST(coalesce(sum(count), 0) AS BIGINT),
            count(DISTINCT CASE WHEN machine <> '' THEN machine END) FROM usage WHERE {self._condition}"""  # noqa: S608
        ((count, machines),) = self._connection.execute(query, *self._values)
        return count, machines
