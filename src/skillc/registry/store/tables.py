"""Read and write skills: versions, files, tags, reviews, audits, deletions, blobs, and the log of changes."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from skillc.registry.access import Caller
from skillc.registry.model import APPROVED, PENDING, Change, Deletion, Review, Skill, StoredFile, Version
from skillc.registry.store.database import (
    BATCH,
    Connection,
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

_THERE = "SELECT id FROM skills WHERE deleted_at IS NULL"


# Skills


def read_skill(connection: Connection, skill_id: str) -> Skill | None:
    """Return a skill, also one that was deleted."""
    return next(iter(_read_skills(connection, "skill = ?", [skill_id])), None)


def read_deletion(connection: Connection, skill_id: str) -> datetime | None:
    """Return when a skill was deleted."""
    rows = connection.execute("SELECT deleted_at FROM skills WHERE id = ?", skill_id)
    return to_time(rows[0][0]) if rows and rows[0][0] is not None else None


def read_skills(connection: Connection, prefixes: Sequence[str], after: str, limit: int) -> list[Skill]:
    """Return up to `limit` skills that are not deleted, by ID, below any prefix and behind the ID `after`."""
    condition, values = limit_to("id", prefixes)
    query = f"{_THERE} AND id > ? AND {condition} ORDER BY id LIMIT {int(limit)}"
    return _read_skills(connection, f"skill IN ({query})", [after, *values])


def limit_to(column: str, prefixes: Sequence[str]) -> tuple[str, list[str]]:
    """Return a condition for IDs below some prefixes, and its values; of many prefixes, one that all meet."""
    if "" in prefixes or len(prefixes) > MAX_PREFIXES:
        return "1 = 1", []
    each = f"{column} = ? OR {column} >= ? AND {column} < ?"
    values = [text for prefix in prefixes for text in (prefix, f"{prefix}/", f"{prefix}0")]  # "0" follows "/"
    return f"({' OR '.join([each] * len(prefixes)) or '1 = 0'})", values


def read_ids(connection: Connection, after: str, limit: int, is_approved: bool = False) -> list[str]:
    """Return up to `limit` IDs of skills that are not deleted, in order, behind the ID `after`.

    With `is_approved`, those of skills with a version that does not wait for a review.
    """
    status = "AND EXISTS (SELECT 1 FROM versions WHERE skill = id AND status = ?)" if is_approved else ""
    query = f"{_THERE} AND id > ? {status} ORDER BY id LIMIT {int(limit)}"
    return [skill_id for (skill_id,) in connection.execute(query, after, *[APPROVED] * is_approved)]


def find_ids(connection: Connection, ids: Collection[str]) -> set[str]:
    """Return those of some IDs that skills have which are not deleted."""
    return {skill_id for (skill_id,) in select_in(connection, f"{_THERE} AND id", ids)}


def find_skills(connection: Connection, ids: Collection[str]) -> list[Skill]:
    """Return the skills with these IDs that are not deleted, by ID."""
    skills: list[Skill] = []
    for batch in split(ids):
        skills += _read_skills(connection, f"skill IN ({_THERE} AND id IN ({marks(len(batch))}))", batch)
    return skills


def _read_skills(connection: Connection, condition: str, values: Sequence[str]) -> list[Skill]:
    versions: dict[SkillId, list[Version]] = defaultdict(list)
    tags: dict[str, dict[str, str]] = defaultdict(dict)
    clause = f"WHERE {condition} ORDER BY skill, sequence DESC"
    for version in VERSIONS.select(connection, clause, *values):
        versions[version.skill].append(version)
    query = f"SELECT skill, tag, version FROM tags WHERE {condition}"  # noqa: S608
    for skill_id, tag, number in connection.execute(query, *values):
        tags[skill_id][tag] = number
    return [Skill(key, (*value,), tags[key]) for key, value in versions.items()]


def find_files(
    connection: Connection, versions: Sequence[Version], names: Sequence[str]
) -> dict[tuple[str, str], str]:
    """Return the digest of the file with one of some names, by skill and version."""
    digests: dict[tuple[str, str], str] = {}
    size = BATCH // 4
    for start in range(0, len(versions), size):
        batch = versions[start : start + size]
        keys = ", ".join(["(?, ?)"] * len(batch))
        query = f"""SELECT skill, version, digest FROM files WHERE (skill, version) IN ({"VALUES " + keys})
            AND path IN ({marks(len(names))}) ORDER BY path DESC"""  # noqa: S608
        pairs = [text for version in batch for text in (version.skill, version.version)]
        rows = connection.execute(query, *pairs, *names)
        digests |= {(skill_id, version): digest for skill_id, version, digest in rows}
    return digests


def read_files(connection: Connection, version: Version) -> tuple[StoredFile, ...]:
    query = "SELECT path, size, digest, executable FROM files WHERE skill = ? AND version = ? ORDER BY path"
    rows = connection.execute(query, version.skill, version.version)
    return tuple(StoredFile(path, size, digest, bool(flag)) for path, size, digest, flag in rows)


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


def remove_tag(connection: Connection, skill_id: str, tag: str) -> None:
    connection.execute("DELETE FROM tags WHERE skill = ? AND tag = ?", skill_id, tag)


def set_deletion(connection: Connection, skill_id: str, time: datetime | None) -> None:
    number = None if time is None else to_number(time)
    connection.execute("UPDATE skills SET deleted_at = ? WHERE id = ?", number, skill_id)


def read_deletions(
    connection: Connection, prefixes: Sequence[str], since: datetime, limit: int
) -> list[Deletion]:
    """Return skills below any prefix that were deleted after a time, the last first."""
    condition, values = limit_to("id", prefixes)
    query = f"SELECT id, deleted_at FROM skills WHERE deleted_at > ? AND {condition}"  # noqa: S608
    order = f"ORDER BY deleted_at DESC, id LIMIT {int(limit)}"
    rows = connection.execute(f"{query} {order}", to_number(since), *values)
    return [Deletion(SkillId(skill_id), to_time(number)) for skill_id, number in rows]


def find_deletions(connection: Connection, before: datetime) -> list[str]:
    query = "SELECT id FROM skills WHERE deleted_at <= ? ORDER BY id"
    return [skill_id for (skill_id,) in connection.execute(query, to_number(before))]


def purge_skill(connection: Connection, skill_id: str) -> None:
    """Remove a skill and all that belongs to it; its blobs are orphans from now on."""
    for table in ("usage", "misses"):
        connection.execute(f"DELETE FROM {table} WHERE skill = ?", skill_id)  # noqa: S608
    connection.execute("DELETE FROM skills WHERE id = ?", skill_id)


# Reviews and audits


def insert_review(connection: Connection, version: Version, tag: str) -> None:
    """Note that a version waits for a review, and which tag it is to get."""
    connection.execute(
        "INSERT INTO reviews (skill, version, tag, reviewer, reason) VALUES (?, ?, ?, '', '')",
        *(version.skill, version.version, tag),
    )


def save_decision(
    connection: Connection, version: Version, reviewer: str, now: datetime, reason: str
) -> None:
    connection.execute(
        "UPDATE reviews SET reviewer = ?, reviewed_at = ?, reason = ? WHERE skill = ? AND version = ?",
        *(reviewer, to_number(now), reason, version.skill, version.version),
    )


def read_review(connection: Connection, version: Version) -> Review | None:
    query = "SELECT tag, reviewer, reviewed_at, reason FROM reviews WHERE skill = ? AND version = ?"
    for tag, reviewer, reviewed_at, reason in connection.execute(query, version.skill, version.version):
        time = None if reviewed_at is None else to_time(reviewed_at)
        return Review(version, tag, reviewer, time, reason)
    return None


def read_queue(connection: Connection, prefixes: Sequence[str], publisher: str, limit: int) -> list[Version]:
    """Return the versions that wait, oldest first: those below some prefixes, and those of a publisher."""
    condition, values = limit_to("skill", prefixes)
    clause = f"""WHERE status = ? AND ({condition} OR published_by = ?) AND skill IN ({_THERE})
        ORDER BY sequence LIMIT {int(limit)}"""
    return VERSIONS.select(connection, clause, PENDING, *values, publisher)


def save_audit(connection: Connection, version: Version, level: str, report: Mapping[str, Any]) -> None:
    connection.execute(
        "INSERT INTO audits (skill, version, report) VALUES (?, ?, ?) "
        "ON CONFLICT (skill, version) DO UPDATE SET report = excluded.report",
        *(version.skill, version.version, json.dumps(report)),
    )
    set_column(connection, version, "audit", level)


def read_audit(connection: Connection, version: Version) -> Any:
    """Return the report of a version's audit, None without one."""
    query = "SELECT report FROM audits WHERE skill = ? AND version = ?"
    rows = connection.execute(query, version.skill, version.version)
    return json.loads(rows[0][0]) if rows else None


# Origins, which are kept when a skill is gone


def claim_origin(connection: Connection, skill_id: str, mirrored: bool) -> bool:
    """Note where a skill comes from, unless that is known, and return whether a mirror brought it first."""
    values = skill_id, int(mirrored)
    connection.execute(
        "INSERT INTO origins (skill, mirrored) VALUES (?, ?) ON CONFLICT (skill) DO NOTHING", *values
    )
    ((flag,),) = connection.execute("SELECT mirrored FROM origins WHERE skill = ?", skill_id)
    return bool(flag)


def adopt_skill(connection: Connection, skill_id: str) -> None:
    """Make a skill that a mirror brought one that is published here."""
    connection.execute("UPDATE origins SET mirrored = 0 WHERE skill = ?", skill_id)


def was_published_here(connection: Connection, skill_id: str) -> bool:
    """Return whether a skill was ever published here, and not by a mirror alone."""
    return bool(connection.execute("SELECT 1 FROM origins WHERE skill = ? AND mirrored = 0", skill_id))


# Blobs


def claim_blobs(
    connection: Connection, digests: Collection[str], publication: str, now: datetime
) -> set[str]:
    """Keep the blobs with these digests from being collected, and return those that no version has yet."""
    connection.execute_many(
        "INSERT INTO claims (publication, digest, claimed_at) VALUES (?, ?, ?)",
        [(publication, digest, to_number(now)) for digest in sorted(digests)],
    )
    return {*digests} - _find_digests(connection, digests, "files", "versions")


def release_blobs(connection: Connection, publication: str) -> int:
    """Remove the claims of a publication, and return how many there still were."""
    ((count,),) = connection.execute("SELECT count(*) FROM claims WHERE publication = ?", publication)
    connection.execute("DELETE FROM claims WHERE publication = ?", publication)
    return int(count)


def find_orphans(connection: Connection, digests: Collection[str]) -> set[str]:
    """Return the digests that no version has and no publisher claims."""
    return {*digests} - _find_digests(connection, digests, "files", "versions", "claims")


def drop_claims(connection: Connection, before: datetime) -> None:
    connection.execute("DELETE FROM claims WHERE claimed_at < ?", to_number(before))


def _find_digests(connection: Connection, digests: Collection[str], *tables: str) -> set[str]:
    matches: set[str] = set()
    for table in tables:
        column = "archive" if table == "versions" else "digest"
        query = f"SELECT DISTINCT {column} FROM {table} WHERE {column}"  # noqa: S608
        matches.update(digest for (digest,) in select_in(connection, query, digests))
    return matches


# Changes


def record_change(
    connection: Connection,
    caller: Caller,
    now: datetime,
    action: str,
    skill: str = "",
    version: str = "",
    **detail: object,
) -> int:
    """Add an entry to the log, and return its number."""
    sequence = read_last_sequence(connection) + 1
    change = Change(sequence, now, caller.subject, caller.token, action, skill, version, detail)
    CHANGES.insert(connection, change)
    connection.notify(skill)
    return sequence


def read_last_sequence(connection: Connection, time: datetime | None = None) -> int:
    """Return the number of the last change, or of the last one up to a time; 0 where there is none."""
    condition = "" if time is None else " WHERE time <= ?"
    query = f"SELECT coalesce(max(sequence), 0) FROM changes{condition}"  # noqa: S608
    ((sequence,),) = connection.execute(query, *([] if time is None else [to_number(time)]))
    return int(sequence)


def read_changes(connection: Connection, since: int, limit: int) -> list[Change]:
    return CHANGES.select(connection, f"WHERE sequence > ? ORDER BY sequence LIMIT {int(limit)}", since)
