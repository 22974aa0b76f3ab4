"""Count what agents on many machines use: sums, never texts, unless a machine sends them deliberately.

A machine sends what it counted on each day, under a random name. What is sent again counts once: of two
counts for one day and thing, the higher one stays. After 30 days the machines are not told apart any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, timedelta
from itertools import starmap
from typing import Any

from skillc.contract import optional
from skillc.errors import InvalidParameter, InvalidSkillId
from skillc.registry.model.access import Caller
from skillc.registry.model.model import Role, parse_prefix, parse_text
from skillc.registry.store import Connection, Row, marks, select_in, tables
from skillc.skills import SkillId

MAX_ROWS = 5000  # of one batch, and of one machine and day
MAX_COUNT = 1_000_000_000
MAX_DAYS = 20  # that are accepted after a day; and one before it, for clocks that differ
APART = timedelta(days=30)  # after which machines are not told apart; more than MAX_DAYS
QUERIES_LAST = timedelta(days=90)  # after which searches without results are forgotten
LISTED = 100  # entries of each list of the statistics, by default
MAX_LISTED = 1000
MAX_PERIOD = 366  # days that are listed one by one

_MACHINE = re.compile(r"[0-9a-f]{32}")
_COMMAND = re.compile(r"[a-z][a-z_-]{0,31}")
_LIMITS = {"file": 1024, "section": 300, "query": 500}  # characters
_TOGETHER = ""  # in place of a machine: the sum of what machines sent long ago


@dataclass(frozen=True, slots=True)
class Count:
    """How often a command read a section or a file of a skill on one day; empty for the skill as a whole."""

    day: date
    skill: str
    command: str
    count: int
    file: str = optional("")
    section: str = optional("")


@dataclass(frozen=True, slots=True)
class Miss:
    """How often a search found nothing on one day: in one skill, or in all; `query` may be left out."""

    day: date
    count: int
    skill: str = optional("")
    query: str = optional("")


@dataclass(frozen=True, slots=True)
class Batch:
    """What a machine counted on some days: all of each day up to now."""

    machine: str
    counts: tuple[Count, ...] = ()
    misses: tuple[Miss, ...] = ()

    @classmethod
    def parse(cls, value: object) -> Batch:
        """Read a batch from JSON; raises InvalidParameter that says what is wrong where.

        >>> count = {"day": "2026-11-16", "skill": "payments/refunds", "command": "show", "count": 2}
        >>> Batch.parse({"machine": "0" * 32, "counts": [count]}).counts[0].skill
        'payments/refunds'
        """
        if not isinstance(value, dict):
            raise InvalidParameter("usage", "it is an object with 'machine', 'counts' and 'misses'")
        machine = value.get("machine")
        if not isinstance(machine, str) or _MACHINE.fullmatch(machine) is None:
            raise InvalidParameter("machine", "it is 32 random hexadecimal digits in lower case")
        rows = [value.get(name, []) for name in ("counts", "misses")]
        if not all(isinstance(row, list) for row in rows):
            raise InvalidParameter("usage", "'counts' and 'misses' are lists")
        if sum(map(len, rows)) > MAX_ROWS:
            raise InvalidParameter("usage", f"it has more than {MAX_ROWS} rows; send it in parts")
        counts = tuple(Count(**_parse_row(row, Count, "counts", n)) for n, row in enumerate(rows[0]))
        misses = tuple(Miss(**_parse_row(row, Miss, "misses", n)) for n, row in enumerate(rows[1]))
        return cls(machine, counts, misses)


@dataclass(frozen=True, slots=True)
class Receipt:
    """How many rows of a batch were taken; the others are of skills that are not there for the caller."""

    rows: int
    ignored: int


@dataclass(frozen=True, slots=True)
class DayUse:
    day: date
    count: int


@dataclass(frozen=True, slots=True)
class SkillUse:
    skill: str
    count: int


@dataclass(frozen=True, slots=True)
class SectionUse:
    skill: str
    file: str
    section: str
    count: int


@dataclass(frozen=True, slots=True)
class CommandUse:
    command: str
    count: int


@dataclass(frozen=True, slots=True)
class MissSum:
    """How often a search found nothing; the words are empty where a machine keeps them to itself."""

    skill: str
    query: str
    count: int


@dataclass(frozen=True, slots=True)
class Statistics:
    """Sums of use from a day on: in all, by day, skill, section and command, and searches without results."""

    since: date
    count: int
    machines: int
    days: tuple[DayUse, ...] = ()
    skills: tuple[SkillUse, ...] = ()
    sections: tuple[SectionUse, ...] = ()
    commands: tuple[CommandUse, ...] = ()
    misses: tuple[MissSum, ...] = ()


class Usage(tables.Ledger):
    """The counts of a registry."""

    def record(self, caller: Caller, batch: Batch) -> Receipt:
        """Take a batch: the rows of skills that are there and that the caller may read.

        Raises InvalidParameter for days that are too long ago or to come, and for too many rows a day.
        """
        if not caller.narrow_prefix(Role.READER, ""):
            caller.require(Role.READER, "")
        rows: list[Count | Miss] = [*batch.counts, *batch.misses]
        days = sorted({row.day for row in rows})
        today = self._clock().date()
        if days and not today - timedelta(days=MAX_DAYS) <= days[0] <= days[-1] <= today + timedelta(days=1):
            raise InvalidParameter("day", f"counts are taken for {MAX_DAYS} days, and not for days to come")
        ids = {row.skill for row in rows if row.skill and caller.allows(Role.READER, row.skill)}
        with self._store.write() as connection:
            there = {"", *(row[0] for row in select_in(connection, f"{tables.THERE} AND id", ids))}
            taken = [row for row in rows if row.skill in there]
            _save(connection, batch.machine, taken)
            if _count_rows(connection, batch.machine) > MAX_ROWS:  # which undoes it
                raise InvalidParameter("usage", f"a machine has at most {MAX_ROWS} rows a day")
        return Receipt(len(taken), len(rows) - len(taken))

    def stats(
        self, caller: Caller, skill: str = "", since: date | None = None, limit: int = LISTED
    ) -> Statistics:
        """Return the sums for a skill, or for all below a prefix, that the caller may read.

        Searches in all skills are told to those who may read all. Lists have the highest `limit` entries.
        """
        prefix = parse_prefix(skill)
        prefixes = caller.narrow_prefix(Role.READER, prefix)
        if not prefixes:
            caller.require(Role.READER, prefix)
        since = since or self._clock().date() - timedelta(days=MAX_PERIOD - 1)
        limit = min(max(limit, 0), MAX_LISTED)
        with self._store.read() as connection:
            reader = _Sums(connection, prefixes, since.toordinal())
            total, machines = reader.total()
            days = reader.sum_by("day", MAX_PERIOD)
            with_place = "(file <> '' OR section <> '')"
            sections = reader.sum_by("skill, file, section", limit, condition=with_place)
            return Statistics(
                since,
                total,
                machines,
                tuple(DayUse(date.fromordinal(day), count) for day, count in reversed(days)),
                tuple(starmap(SkillUse, reader.sum_by("skill", limit))),
                tuple(starmap(SectionUse, sections)),
                tuple(starmap(CommandUse, reader.sum_by("command", limit))),
                tuple(starmap(MissSum, reader.sum_by("skill, query", limit, "misses"))),
            )

    def collect(self, caller: Caller) -> None:
        """Forget which machine sent what is old, and old searches. Run it daily."""
        caller.require(Role.ADMIN, "")
        today = self._clock().date()
        with self._store.write() as connection:
            _join_machines(connection, (today - APART).toordinal())
            before = (today - QUERIES_LAST).toordinal()
            connection.execute("DELETE FROM misses WHERE day < ?", before)


# Reading JSON


def _parse_row(row: object, kind: type[Count | Miss], name: str, number: int) -> dict[str, Any]:
    try:
        if not isinstance(row, dict):
            raise InvalidParameter(name, "it is no object")
        return _parse_fields(row, {field.name for field in fields(kind)})
    except (InvalidParameter, InvalidSkillId) as error:
        raise InvalidParameter(f"{name}[{number}]", error.message) from None


def _parse_fields(row: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    if unknown := sorted(map(str, row.keys() - names)):
        raise InvalidParameter("usage", f"there is no field '{unknown[0][:40]}'")
    count = row.get("count")
    if isinstance(count, bool) or not isinstance(count, int) or not 0 < count <= MAX_COUNT:
        raise InvalidParameter("count", f"it is a number from 1 to {MAX_COUNT}")
    texts = {name: value for name, value in row.items() if name not in ("count", "day")}
    if not all(isinstance(value, str) for value in texts.values()):
        raise InvalidParameter("usage", "all but the count are texts")
    for name, limit in _LIMITS.items():
        parse_text(texts.get(name, ""), name, limit)
    if "command" in names and _COMMAND.fullmatch(texts.get("command", "")) is None:
        raise InvalidParameter("command", "it is the name of a command")
    if texts.get("skill") or "command" in names:
        texts["skill"] = str(SkillId(texts.get("skill", "")))
    try:
        return {**texts, "count": count, "day": date.fromisoformat(row["day"])}
    except (KeyError, TypeError, ValueError):
        raise InvalidParameter("day", "it is a date such as 2026-11-16") from None


# The tables: their columns between the day and the count

_TABLES: dict[type[Count | Miss], tuple[str, tuple[str, ...]]] = {
    Count: ("usage", ("skill", "file", "section", "command")),
    Miss: ("misses", ("skill", "query")),
}


def _save(connection: Connection, machine: str, rows: Iterable[Count | Miss]) -> None:
    """Save what a machine counted; of two counts for one day and thing, the higher one stays."""
    for kind, (table, names) in _TABLES.items():
        columns = ", ".join(("machine", "day", *names))
        higher = f"CASE WHEN excluded.count > {table}.count THEN excluded.count ELSE {table}.count END"
        connection.execute_many(
            f"INSERT INTO {table} ({columns}, count) VALUES ({marks(len(names) + 3)}) "  # noqa: S608
            f"ON CONFLICT ({columns}) DO UPDATE SET count = {higher}",
            [
                (machine, row.day.toordinal(), *(getattr(row, name) for name in names), row.count)
                for row in rows
                if isinstance(row, kind)
            ],
        )


def _count_rows(connection: Connection, machine: str) -> int:
    """Return how many rows a machine has for the day that it has most for."""
    most = 0
    for table, _ in _TABLES.values():
        query = f"SELECT count(*) FROM {table} WHERE machine = ? GROUP BY day ORDER BY 1 DESC LIMIT 1"  # noqa: S608
        most += sum(number for (number,) in connection.execute(query, machine))
    return most


def _join_machines(connection: Connection, before: int) -> None:
    """Add up what machines sent for days before one, and forget which machine it was."""
    for table, names in _TABLES.values():
        columns = ", ".join(("day", *names))
        connection.execute(
            f"INSERT INTO {table} (machine, {columns}, count) "  # noqa: S608
            f"SELECT ?, {columns}, sum(count) FROM {table} WHERE day < ? AND machine <> ? GROUP BY {columns} "
            f"ON CONFLICT (machine, {columns}) DO UPDATE SET count = {table}.count + excluded.count",
            *(_TOGETHER, before, _TOGETHER),
        )
        query = f"DELETE FROM {table} WHERE day < ? AND machine <> ?"  # noqa: S608
        connection.execute(query, before, _TOGETHER)


class _Sums:
    """Sums of counts below some prefixes, from a day on."""

    def __init__(self, connection: Connection, prefixes: Sequence[str], since: int) -> None:
        self._connection = connection
        # Of more prefixes than a query can have, the sums lack the last.
        condition, values = tables.limit_to("skill", prefixes[: tables.MAX_PREFIXES])
        there = f"(skill = '' OR skill IN ({tables.THERE}))"
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
