"""Move accesses that were logged beside a project into the logs they belong to (RFC-0007)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillc import atomic, places
from skillc.errors import NoLocalLogs, SkillcError, SkillNotFound, SyncNotReadable, SyncNotWritable
from skillc.library import resolve
from skillc.usage import log

if TYPE_CHECKING:
    from sqlite3 import Connection

_COLUMNS = "timestamp, run_id, command, skill, skill_path, cwd, args, error"


@dataclass(frozen=True)
class Synced:
    """How many entries of a skill were moved, or would be."""

    skill: str
    entries: int


def local_skills(project: str) -> list[str]:
    """The skills that have a fallback log in a project."""
    directory = os.path.join(project, places.DIRECTORY, "logs")
    try:
        names = sorted(os.listdir(directory))
    except OSError:
        return []
    return [name for name in names if os.path.exists(log.fallback_file(project, name))]


def sync(project: str, skill: str | None, *, dry_run: bool = False) -> tuple[list[Synced], list[SkillcError]]:
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
            done.append(Synced(name, _move(project, name, dry_run)))
        except SkillcError as error:
            failed.append(error)
    return done, failed


def _move(project: str, name: str, dry_run: bool) -> int:
    path = log.fallback_file(project, name)
    rows = _rows(path)
    if dry_run:
        return len(rows)
    target = _target(project, name, rows)
    try:
        connection = log.connect(target)
        log.create(connection)
        moved = _insert(connection, rows)
        connection.close()
    except (OSError, log.Error):
        raise SyncNotWritable(target) from None
    atomic.discard(os.path.dirname(os.path.dirname(path)))
    return moved


def _rows(path: str) -> list[tuple[str | None, ...]]:
    try:
        connection = log.connect(path)
        rows = connection.execute(f"SELECT {_COLUMNS} FROM access_log ORDER BY id").fetchall()  # noqa: S608
        connection.close()
    except (OSError, log.Error):
        raise SyncNotReadable(path) from None
    return rows


def _target(project: str, name: str, rows: list[tuple[str | None, ...]]) -> str:
    """The log the rows belong to: that of the skill they name, or of the one of that name here."""
    paths = [row[4] for row in rows if row[4]]
    for wanted in (*paths[-1:], name):
        try:
            skill = resolve(wanted, project)
        except SkillcError:
            continue
        return log.log_file(log.runtime_in_use(skill))
    raise SkillNotFound(name)


def _insert(connection: Connection, rows: list[tuple[str | None, ...]]) -> int:
    """Add the rows that are not there yet, in one step; how many those were."""
    connection.execute("BEGIN IMMEDIATE")
    same = " AND ".join(f"{column.strip()} IS ?" for column in _COLUMNS.split(","))
    known = dict.fromkeys(rows, 0)
    for row in known:
        known[row] = connection.execute(f"SELECT count(*) FROM access_log WHERE {same}", row).fetchone()[0]  # noqa: S608
    added = 0
    for row in rows:
        if known[row] > 0:
            known[row] -= 1  # moved by an earlier sync that could not remove the fallback
        else:
            connection.execute(f"INSERT INTO access_log({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)  # noqa: S608
            added += 1
    connection.execute("COMMIT")
    return added
