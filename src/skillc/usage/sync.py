"""Move accesses that were logged beside a project into the logs they belong to (RFC-0007)."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillc import atomic, paths
from skillc.errors import NoLocalLogs, SkillcError, SyncNotReadable, SyncNotWritable
from skillc.library import at_path, locate_skill, resolve
from skillc.startup import sqlite
from skillc.text import utf8_text
from skillc.usage import log, schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from sqlite3 import Connection

    from skillc.library import Skill
    from skillc.usage.log import Row


@dataclass(frozen=True)
class Synced:
    """How many entries of a skill were moved, or would be."""

    skill: str
    entries: int


def local_skills(project: str) -> list[str]:
    """The skills that have a fallback log in a project."""
    try:
        names = sorted(os.listdir(log.fallback_directory(project)))
    except OSError:
        return []
    return [name for name in names if os.path.exists(log.fallback_file(project, name))]


def sync_logs(
    project: str, skill: str | None, *, dry_run: bool = False
) -> tuple[list[Synced], list[SkillcError]]:
    """Move a project's fallback logs, all or one skill's; each skill stands alone."""
    names = local_skills(project)
    if skill is not None:
        if skill not in names:
            raise NoLocalLogs
        names = [skill]
    done: list[Synced] = []
    failed: list[SkillcError] = []
    for name in names:
        try:
            done.append(Synced(name, _would_move(project, name) if dry_run else _move(project, name)))
        except SkillcError as error:
            failed.append(error)
    return done, failed


def _would_move(project: str, name: str) -> int:
    entries = 0
    for target, rows in _by_target(project, name).items():
        connection = schema.open_to_read(target) if os.path.exists(target) else None
        try:
            entries += len(rows if connection is None else _new(connection, rows))
        except sqlite.Error:
            raise SyncNotWritable(target) from None
        finally:
            if connection is not None:
                connection.close()
    return entries


def _move(project: str, name: str) -> int:
    """Move a skill's rows, and no others: who writes to its fallback log meanwhile waits."""
    with _lock(project):
        moved = 0
        for target, rows in _by_target(project, name).items():
            try:
                moved += _insert(target, rows)
            except (OSError, sqlite.Error):
                raise SyncNotWritable(target) from None
        directory = os.path.join(log.fallback_directory(project), name)
        atomic.discard(directory)
        if os.path.exists(directory):
            raise SkillcError(f"synced {moved} entries for '{name}', but '{directory}' can't be removed")
        return moved


def _lock(project: str) -> AbstractContextManager[None]:
    lock = atomic.Lock(log.fallback_lock(project))
    if os.access(log.fallback_directory(project), os.W_OK):
        return lock
    return nullcontext()  # where nobody can write


def _by_target(project: str, name: str) -> dict[str, list[Row]]:
    """The rows of a fallback log, by the log that they belong to."""
    path = log.fallback_file(project, name)
    targets: dict[tuple[str, str], str] = {}
    found: dict[str, list[Row]] = {}
    for row in _rows(path):
        folder, cwd = str(row[4]), str(row[5])
        if (folder, cwd) not in targets:
            targets[folder, cwd] = log.log_file(_runtime(name, folder, cwd, project))
        found.setdefault(targets[folder, cwd], []).append(row)
    return found


def _rows(path: str) -> list[Row]:
    connection = schema.open_to_read(path)
    if connection is None and not os.path.exists(path):
        return []  # someone else has just moved them
    if connection is None:
        raise SyncNotReadable(path)
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
            return []  # of a process that was killed before it could write
        return connection.execute(f"SELECT {log.COLUMNS} FROM access_log ORDER BY rowid").fetchall()  # noqa: S608
    except sqlite.Error:
        raise SyncNotReadable(path) from None
    finally:
        connection.close()


def _runtime(name: str, folder: str, cwd: str, project: str) -> str:
    """The runtime directory of the skill that a row is about, also of one that moved or is gone."""
    named = [skill for place in (cwd, project) if (skill := _found(name, place))]
    same = [skill for skill in named if utf8_text(skill.source) == folder]
    there = _found(folder, project) if os.path.isabs(folder) else None
    for skill in (*same, there, *named):
        if skill is not None:
            return log.runtime_in_use(skill)
    root = at_path(folder).root if os.path.isabs(folder) else ""
    if not root or not os.path.isdir(os.path.join(root, paths.DIRECTORY)):
        root = paths.require_home()
    return os.path.join(paths.runtime_store(root), name)


def _found(name: str, place: str) -> Skill | None:
    """The skill of a path or of a folder's name: `billing+refunds` is one in a collection."""
    try:
        return resolve(name, place)
    except SkillcError:
        pass
    try:
        return (
            locate_skill(name.replace("+", "/"), place) if "+" in name and not os.path.isabs(name) else None
        )
    except SkillcError:
        return None


def _insert(target: str, rows: Sequence[Row]) -> int:
    """Add the rows that are not there yet, in one step; how many those were."""
    connection = log.connect(target)
    try:
        schema.create(connection)
        with schema.writing(connection):
            new = _new(connection, rows)
            connection.executemany(log.INSERT, new)
        log.fold(connection, target)
    finally:
        connection.close()
    return len(new)


def _new(connection: Connection, rows: Sequence[Row]) -> list[Row]:
    """The rows that are not there yet: an earlier sync may have moved them and failed to remove them."""
    same = " AND ".join(f"{column} IS ?" for column in log.COLUMNS.split(", "))
    known = dict.fromkeys(rows, 0)
    for row in known:
        known[row] = connection.execute(f"SELECT count(*) FROM access_log WHERE {same}", row).fetchone()[0]  # noqa: S608
    new = []
    for row in rows:
        known[row] -= 1
        if known[row] < 0:
            new.append(row)
    return new
