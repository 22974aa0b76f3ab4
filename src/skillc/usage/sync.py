"""Move the rows of a project's fallback logs into the logs they belong to (RFC-0007)."""

from __future__ import annotations

import os
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skillc import atomic, paths
from skillc.contract import HIDDEN, Failure
from skillc.databases import RefusedLog
from skillc.errors import NoLocalLogs, SkillcError, SyncNotReadable, SyncNotWritable
from skillc.library import at_path, locate_skill, resolve
from skillc.startup import sqlite
from skillc.text import count_of, utf8_text
from skillc.usage import log, schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from sqlite3 import Connection

    from skillc.library import Skill
    from skillc.usage.log import Row


@dataclass(frozen=True, slots=True)
class SyncedLog:
    """How many rows of a skill were moved, or would be."""

    id: str
    skill: str  # the ID once more; goes with the next release
    entries: int


@dataclass(frozen=True, slots=True)
class SyncedLogs:
    """What became of a project's fallback logs."""

    synced: tuple[SyncedLog, ...]
    failures: tuple[SkillcError, ...] = field(metadata=HIDDEN)
    failed: tuple[Failure, ...] = field(init=False)
    dry_run: bool

    def __post_init__(self) -> None:
        failed = tuple(Failure(each.code, each.message) for each in self.failures)
        object.__setattr__(self, "failed", failed)


def sync_logs(project: str, skill: str | None = None, *, dry_run: bool = False) -> SyncedLogs:
    """Move a project's fallback logs, all or one skill's; one that fails does not stop the others."""
    project = os.path.realpath(project)
    directory = log.fallback_directory(project)
    names = paths.list_names(directory) if paths.is_own(os.path.dirname(directory)) else []
    names = [name for name in names if os.path.exists(log.fallback_file(project, name))]
    if skill is not None:
        if skill not in names:
            raise NoLocalLogs
        names = [skill]
    synced: list[SyncedLog] = []
    failures: list[SkillcError] = []
    for name in names:
        try:
            count = _transfer(project, name, _count_new) if dry_run else _move(project, name)
            synced.append(SyncedLog(name, name, count))
        except SkillcError as error:
            failures.append(error)
    return SyncedLogs(tuple(synced), tuple(failures), dry_run)


def _transfer(project: str, name: str, transfer: Callable[[str, list[Row]], int]) -> int:
    """Transfer the rows of a skill to each log they belong to, and return their number."""
    count = 0
    for target, rows in _group_by_target(project, name).items():
        try:
            count += transfer(target, rows)
        except (OSError, sqlite.Error, RefusedLog):
            raise SyncNotWritable(target) from None
    return count


def _move(project: str, name: str) -> int:
    """Move the rows of a skill; writers to its fallback log wait meanwhile."""
    root = log.fallback_directory(project)
    # Where the directory can't be written, there are no writers and no lock can be made.
    lock = atomic.Lock(log.fallback_lock(project)) if os.access(root, os.W_OK) else nullcontext()
    with lock:
        count = _transfer(project, name, _insert)
        directory = os.path.join(root, name)
        atomic.discard(directory)
        if os.path.exists(directory):
            entries = count_of(count, "entry", "entries")
            raise SkillcError(f"synced {entries} for '{name}', but '{directory}' can't be removed")
        return count


def _group_by_target(project: str, name: str) -> dict[str, list[Row]]:
    """Return the rows of a fallback log, by the log that they belong to."""
    targets: dict[tuple[str, str], str] = {}
    groups: dict[str, list[Row]] = {}
    for row in _read_rows(log.fallback_file(project, name)):
        folder, cwd = str(row[4]), str(row[5])
        if (folder, cwd) not in targets:
            targets[folder, cwd] = log.log_file(_find_runtime(name, folder, cwd, project))
        groups.setdefault(targets[folder, cwd], []).append(row)
    return groups


def _read_rows(path: str) -> list[Row]:
    connection = schema.open_database(path)
    if connection is None:
        if os.path.exists(path):
            raise SyncNotReadable(path)
        return []  # another process has just moved them
    try:
        with closing(connection):
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                return []  # its process was killed before it could write
            return connection.execute(f"SELECT {log.COLUMNS} FROM access_log ORDER BY rowid").fetchall()  # noqa: S608
    except sqlite.Error:
        raise SyncNotReadable(path) from None


def _find_runtime(name: str, folder: str, cwd: str, project: str) -> str:
    """Return the runtime directory of the skill that a row is about, even if it has moved or is gone."""
    by_name = [skill for place in (cwd, project) if (skill := _find_skill(name, place))]
    same_folder = [skill for skill in by_name if utf8_text(skill.source) == folder]
    by_folder = _find_skill(folder, project) if os.path.isabs(folder) else None
    skills = [*same_folder, *([by_folder] if by_folder else []), *by_name]
    if skills:
        return log.find_runtime(skills[0])
    root = at_path(folder).root if os.path.isabs(folder) else ""
    if not root or not os.path.isdir(os.path.join(root, paths.DIRECTORY)):
        root = paths.require_home()
    return os.path.join(paths.runtime_store(root), name)


def _find_skill(name: str, place: str) -> Skill | None:
    """Return the skill of a path or of a runtime folder's name: `billing+refunds` is in a collection."""
    try:
        try:
            return resolve(name, place)
        except SkillcError:
            is_folder = "+" in name and not os.path.isabs(name)
            return locate_skill(name.replace("+", "/"), place) if is_folder else None
    except SkillcError:
        return None


def _count_new(target: str, rows: list[Row]) -> int:
    connection = schema.open_database(target) if os.path.exists(target) else None
    if connection is None:
        return len(rows)
    with closing(connection):
        return len(_new_rows(connection, rows))


def _insert(target: str, rows: Sequence[Row]) -> int:
    """Add the new rows in one transaction, and return their number."""
    with closing(log.connect(target)) as connection:
        schema.create_tables(connection)
        connection.execute("BEGIN IMMEDIATE")
        with connection:  # commits, or rolls back after an exception
            new = _new_rows(connection, rows)
            connection.executemany(log.INSERT, new)
        log.checkpoint(connection, target)
    return len(new)


def _new_rows(connection: Connection, rows: Sequence[Row]) -> list[Row]:
    """Return the rows that a log lacks: an earlier sync may have moved some and failed to remove them."""
    same = " AND ".join(f"{column} IS ?" for column in log.COLUMNS.split(", "))
    query = f"SELECT count(*) FROM access_log WHERE {same}"  # noqa: S608
    copies = {row: connection.execute(query, row).fetchone()[0] for row in dict.fromkeys(rows)}
    new = []
    for row in rows:
        copies[row] -= 1
        if copies[row] < 0:
            new.append(row)
    return new
