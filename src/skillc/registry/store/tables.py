"""Read and write skills: versions, files, tags, reviews, audits, deletions, blobs, and the log of changes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from skillc.registry.model.access import Caller
from skillc.registry.model.model import Change, Review, Skill, StoredFile, Version
from skillc.registry.store.database import (
    Connection,
    Store,
    Table,
    marks,
    select_in,
    split,
    to_number,
    to_time,
)
from skillc.skills import SkillId

MAX_PREFIXES = 300  # that a query is limited to; with more, all is read
VERSIONS = Table("versions", Version)
CHANGES = Table("changes", Change)

THERE = "SELECT id FROM skills WHERE deleted_at IS NULL"


# Skills


def read_skill(connection: Connection, skill_id: str) -> Skill | None:
    """Return a skill, also one that was deleted."""
    return next(iter(select_skills(connection, "skill = ?", [skill_id])), None)


def read_deletion(connection: Connection, skill_id: str) -> datetime | None:
    """Return when a skill was deleted."""
    rows = connection.execute("SELECT deleted_at FROM skills WHERE id = ?", skill_id)
    return to_time(rows[0][0]) if rows and rows[0][0] is not None else None


def limit_to(column: str, prefixes: Sequence[str]) -> tuple[str, list[str]]:
    """Return a condition for IDs below some prefixes, and its values; of many prefixes, one that all meet."""
    if "" in prefixes or len(prefixes) > MAX_PREFIXES:
        return "1 = 1", []
    each = f"{column} = ? OR {column} >= ? AND {column} < ?"
    values = [text for prefix in prefixes for text in (prefix, f"{prefix}/", f"{prefix}0")]  # "0" follows "/"
    return f"({' OR '.join([each] * len(prefixes)) or '1 = 0'})", values


def find_skills(connection: Connection, ids: Collection[str]) -> list[Skill]:
    """Return the skills with these IDs that are not deleted, by ID."""
    skills: list[Skill] = []
    for batch in split(ids):
        skills += select_skills(connection, f"skill IN ({THERE} AND id IN ({marks(len(batch))}))", batch)
    return skills


def select_skills(connection: Connection, condition: str, values: Sequence[str]) -> list[Skill]:
    """Return the skills for which a condition holds, by ID."""
    versions: dict[SkillId, list[Version]] = defaultdict(list)
    tags: dict[str, dict[str, str]] = defaultdict(dict)
    clause = f"WHERE {condition} ORDER BY skill, sequence DESC"
    for version in VERSIONS.select(connection, clause, *values):
        versions[version.skill].append(version)
    query = f"SELECT skill, tag, version FROM tags WHERE {condition}"  # noqa: S608
    for skill_id, tag, number in connection.execute(query, *values):
        tags[skill_id][tag] = number
    return [Skill(key, (*value,), tags[key]) for key, value in versions.items()]


def insert_version(
    connection: Connection, version: Version, files: Iterable[StoredFile], sequence: int
) -> None:
    connection.execute("INSERT INTO skills (id) VALUES (?) ON CONFLICT (id) DO NOTHING", version.skill)
    VERSIONS.insert(connection, version, sequence=sequence)
    key = version.skill, version.version
    connection.execute_many(
        "INSERT INTO files (skill, version, path, size, digest, executable) VALUES (?, ?, ?, ?, ?, ?)",
        [(*key, file.path, file.size, file.digest, int(file.is_executable)) for file in files],
    )


def set_column(connection: Connection, version: Version, column: str, value: str | None) -> None:
    """Change what can change of a version: whether it is `yanked`, its `status`, its `audit`."""
    query = f"UPDATE versions SET {column} = ? WHERE skill = ? AND version = ?"  # noqa: S608
    connection.execute(query, value, version.skill, version.version)


def set_tag(connection: Connection, version: Version, tag: str) -> None:
    connection.execute(
        "INSERT INTO tags (skill, tag, version) VALUES (?, ?, ?) "
        "ON CONFLICT (skill, tag) DO UPDATE SET version = excluded.version",
        *(version.skill, tag, version.version),
    )


# Reviews and audits


def read_review(connection: Connection, version: Version) -> Review | None:
    query = "SELECT tag, reviewer, reviewed_at, reason FROM reviews WHERE skill = ? AND version = ?"
    for tag, reviewer, reviewed_at, reason in connection.execute(query, version.skill, version.version):
        time = None if reviewed_at is None else to_time(reviewed_at)
        return Review(version, tag, reviewer, time, reason)
    return None


def save_audit(connection: Connection, version: Version, level: str, report: Mapping[str, Any]) -> None:
    connection.execute(
        "INSERT INTO audits (skill, version, report) VALUES (?, ?, ?) "
        "ON CONFLICT (skill, version) DO UPDATE SET report = excluded.report",
        *(version.skill, version.version, json.dumps(report)),
    )
    set_column(connection, version, "audit", level)


def save_attestation(connection: Connection, version: Version, statement: str) -> None:
    query = "INSERT INTO attestations (skill, version, statement) VALUES (?, ?, ?)"
    connection.execute(query, version.skill, version.version, statement)


def find_digests(connection: Connection, digests: Collection[str], *tables: str) -> set[str]:
    """Return those of some digests that a row of any of these tables has."""
    matches: set[str] = set()
    for table in tables:
        column = "archive" if table == "versions" else "digest"
        query = f"SELECT DISTINCT {column} FROM {table} WHERE {column}"  # noqa: S608
        matches.update(digest for (digest,) in select_in(connection, query, digests))
    return matches


# Changes


class Transaction:
    """What a caller writes at one time: statements, as with a connection, and entries of the log."""

    def __init__(self, connection: Connection, caller: Caller, now: datetime) -> None:
        self.caller, self.now = caller, now
        self.execute, self.execute_many = connection.execute, connection.execute_many
        self.notify = connection.notify

    def record(self, action: str, skill: str = "", version: str = "", **detail: object) -> int:
        """Add an entry to the log, and return its number."""
        sequence = read_last_sequence(self) + 1
        who = self.caller.subject, self.caller.token
        CHANGES.insert(self, Change(sequence, self.now, *who, action, skill, version, detail))
        self.notify(skill)
        return sequence


class Ledger:
    """A part of a registry: tables of its store, whose changes are in the log."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    @contextmanager
    def _write(self, caller: Caller) -> Iterator[Transaction]:
        with self._store.write() as connection:
            # The time is read while no other writes, so that times are in the order of changes.
            yield Transaction(connection, caller, self._clock())


def read_last_sequence(connection: Connection, time: datetime | None = None) -> int:
    """Return the number of the last change, or of the last one up to a time; 0 where there is none."""
    condition = "" if time is None else " WHERE time <= ?"
    query = f"SELECT coalesce(max(sequence), 0) FROM changes{condition}"  # noqa: S608
    ((sequence,),) = connection.execute(query, *([] if time is None else [to_number(time)]))
    return int(sequence)


def read_changes(connection: Connection, since: int, limit: int) -> list[Change]:
    return CHANGES.select(connection, f"WHERE sequence > ? ORDER BY sequence LIMIT {int(limit)}", since)
