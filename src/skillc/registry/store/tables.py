"""Read and write what a registry holds: all its SQL, for both stores."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

from skillc.registry.access import Caller
from skillc.registry.model import APPROVED, Change, Deletion, Grant, Role, Skill, StoredFile, Token, Version
from skillc.registry.store.database import Connection, Row
from skillc.skills import SkillId

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
MAX_PREFIXES = 300  # that a query is limited to; with more, all is read
_BATCH = 500  # values in one statement; SQLite may have a limit of 999
_VERSION = (
    "skill, version, digest, frontmatter, archive, archive_size, published_at, published_by, note, yanked, "
    "status, audit"
)
_TOKEN = "id, owner, role, prefix, label, created_at, expires_at, revoked_at"  # noqa: S105 (columns)
_CHANGE = "sequence, time, subject, token, action, skill, version, detail"


def to_number(time: datetime) -> int:
    return (time - _EPOCH) // _MICROSECOND


def to_time(number: int) -> datetime:
    return _EPOCH + number * _MICROSECOND


# Skills


def read_skill(connection: Connection, skill_id: str) -> Skill | None:
    """Return a skill, also one that was deleted."""
    versions = connection.execute(
        f"SELECT {_VERSION} FROM versions WHERE skill = ? ORDER BY sequence DESC",  # noqa: S608
        skill_id,
    )
    tags = connection.execute("SELECT tag, version FROM tags WHERE skill = ?", skill_id)
    return Skill(SkillId(skill_id), (*map(_version, versions),), dict(tags)) if versions else None


def read_deletion(connection: Connection, skill_id: str) -> datetime | None:
    """Return when a skill was deleted."""
    rows = connection.execute("SELECT deleted_at FROM skills WHERE id = ?", skill_id)
    return to_time(rows[0][0]) if rows and rows[0][0] is not None else None


def read_skills(connection: Connection, prefixes: Sequence[str], after: str, limit: int) -> list[Skill]:
    """Return up to `limit` skills that are not deleted, by ID, below any prefix and behind the ID `after`."""
    condition, values = limit_to("id", prefixes)
    query = f"SELECT id FROM skills WHERE deleted_at IS NULL AND id > ? AND {condition}"  # noqa: S608
    subquery = f"({query} ORDER BY id LIMIT {int(limit)})"
    return _read_skills(connection, f"skill IN {subquery}", [after, *values])


def limit_to(column: str, prefixes: Sequence[str]) -> tuple[str, list[str]]:
    """Return a condition for IDs below some prefixes, and its values; of many prefixes, one that all meet."""
    if "" in prefixes or len(prefixes) > MAX_PREFIXES:
        return "1 = 1", []
    each = f"{column} = ? OR {column} >= ? AND {column} < ?"
    values = [text for prefix in prefixes for text in (prefix, f"{prefix}/", f"{prefix}0")]  # "0" follows "/"
    return f"({' OR '.join([each] * len(prefixes)) or '1 = 0'})", values


def read_ids(connection: Connection, after: str, limit: int) -> list[str]:
    """Return up to `limit` IDs of skills that are not deleted, in order, behind the ID `after`."""
    query = f"SELECT id FROM skills WHERE deleted_at IS NULL AND id > ? ORDER BY id LIMIT {int(limit)}"  # noqa: S608
    return [skill_id for (skill_id,) in connection.execute(query, after)]


def read_approved_ids(connection: Connection, after: str, limit: int) -> list[str]:
    """Return IDs as `read_ids` does, of skills with a version that does not wait for a review."""
    query = f"""SELECT id FROM skills WHERE deleted_at IS NULL AND id > ?
        AND EXISTS (SELECT 1 FROM versions WHERE skill = id AND status = ?) ORDER BY id LIMIT {int(limit)}"""  # noqa: S608
    return [skill_id for (skill_id,) in connection.execute(query, after, APPROVED)]


def find_ids(connection: Connection, ids: Collection[str]) -> set[str]:
    """Return those of some IDs that skills have which are not deleted."""
    there: set[str] = set()
    for batch in _split(sorted(ids)):
        marks = ", ".join("?" * len(batch))
        query = f"SELECT id FROM skills WHERE deleted_at IS NULL AND id IN ({marks})"  # noqa: S608
        there.update(skill_id for (skill_id,) in connection.execute(query, *batch))
    return there


def find_skills(connection: Connection, ids: Collection[str]) -> list[Skill]:
    """Return the skills with these IDs that are not deleted, by ID."""
    skills: list[Skill] = []
    for batch in _split(sorted(ids)):
        marks = ", ".join("?" * len(batch))
        subquery = f"(SELECT id FROM skills WHERE deleted_at IS NULL AND id IN ({marks}))"  # noqa: S608
        skills += _read_skills(connection, f"skill IN {subquery}", batch)
    return skills


def _read_skills(connection: Connection, condition: str, values: Sequence[str]) -> list[Skill]:
    versions: dict[str, list[Version]] = defaultdict(list)
    tags: dict[str, dict[str, str]] = defaultdict(dict)
    query = f"SELECT {_VERSION} FROM versions WHERE {condition} ORDER BY skill, sequence DESC"  # noqa: S608
    for row in connection.execute(query, *values):
        versions[row[0]].append(_version(row))
    query = f"SELECT skill, tag, version FROM tags WHERE {condition}"  # noqa: S608
    for skill_id, tag, version in connection.execute(query, *values):
        tags[skill_id][tag] = version
    return [Skill(SkillId(key), (*value,), tags[key]) for key, value in versions.items()]


def find_versions(connection: Connection, condition: str, values: Sequence[str], limit: int) -> list[Version]:
    """Return the versions of skills that are not deleted that meet a condition, in order of publication."""
    there = "skill IN (SELECT id FROM skills WHERE deleted_at IS NULL)"
    query = f"SELECT {_VERSION} FROM versions WHERE {condition} AND {there}"  # noqa: S608
    rows = connection.execute(f"{query} ORDER BY sequence LIMIT {int(limit)}", *values)
    return [_version(row) for row in rows]


def find_files(
    connection: Connection, versions: Sequence[Version], names: Sequence[str]
) -> dict[tuple[str, str], str]:
    """Return the digest of the file with one of some names, by skill and version."""
    digests: dict[tuple[str, str], str] = {}
    marks = ", ".join("?" * len(names))
    for start in range(0, len(versions), _BATCH // 4):
        batch = versions[start : start + _BATCH // 4]
        keys = ", ".join(["(?, ?)"] * len(batch))
        query = f"""SELECT skill, version, digest FROM files
            WHERE (skill, version) IN ({"VALUES " + keys}) AND path IN ({marks}) ORDER BY path DESC"""  # noqa: S608
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
    key = version.skill, version.version
    connection.execute("INSERT INTO skills (id) VALUES (?) ON CONFLICT (id) DO NOTHING", version.skill)
    connection.execute(
        f"INSERT INTO versions ({_VERSION}, sequence) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        *key,
        version.digest,
        json.dumps(version.frontmatter),  # in ASCII: also what no database holds, such as a NUL character
        version.archive,
        version.archive_size,
        to_number(version.published_at),
        version.published_by,
        version.note,
        version.yanked,
        version.status,
        version.audit,
        sequence,
    )
    connection.execute_many(
        "INSERT INTO files (skill, version, path, size, digest, executable) VALUES (?, ?, ?, ?, ?, ?)",
        [(*key, file.path, file.size, file.digest, int(file.is_executable)) for file in files],
    )


def set_status(connection: Connection, version: Version, status: str) -> None:
    query = "UPDATE versions SET status = ? WHERE skill = ? AND version = ?"
    connection.execute(query, status, version.skill, version.version)


def set_yank(connection: Connection, version: Version, reason: str | None) -> None:
    query = "UPDATE versions SET yanked = ? WHERE skill = ? AND version = ?"
    connection.execute(query, reason, version.skill, version.version)


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


def _version(row: Row) -> Version:
    skill_id, version, digest, frontmatter, archive, size, published_at, *rest = row
    fields = json.loads(frontmatter)
    return Version(SkillId(skill_id), version, digest, fields, archive, size, to_time(published_at), *rest)


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
    for batch in _split(sorted(digests)):
        marks = ", ".join("?" * len(batch))
        for table in tables:
            column = "archive" if table == "versions" else "digest"
            query = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IN ({marks})"  # noqa: S608
            matches.update(digest for (digest,) in connection.execute(query, *batch))
    return matches


def _split(values: Sequence[str]) -> Iterator[Sequence[str]]:
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))


# Grants and tokens


def read_grants(connection: Connection, subject: str = "") -> list[Grant]:
    """Return the grants of a subject, or all."""
    condition = "WHERE subject = ?" if subject else ""
    query = f"SELECT subject, role, prefix FROM grants {condition} ORDER BY subject, prefix"  # noqa: S608
    rows = connection.execute(query, *([subject] if subject else ()))
    return [Grant(name, Role(role), prefix) for name, role, prefix in rows]


def set_grant(connection: Connection, grant: Grant) -> None:
    connection.execute(
        "INSERT INTO grants (subject, prefix, role) VALUES (?, ?, ?) "
        "ON CONFLICT (subject, prefix) DO UPDATE SET role = excluded.role",
        *(grant.subject, grant.prefix, int(grant.role)),
    )


def remove_grant(connection: Connection, subject: str, prefix: str) -> None:
    connection.execute("DELETE FROM grants WHERE subject = ? AND prefix = ?", subject, prefix)


def read_tokens(connection: Connection, owner: str = "") -> list[Token]:
    """Return the tokens of an owner, or all, oldest first."""
    condition = "WHERE owner = ?" if owner else ""
    query = f"SELECT {_TOKEN} FROM tokens {condition} ORDER BY created_at, id"  # noqa: S608
    return [_token(row) for row in connection.execute(query, *([owner] if owner else ()))]


def read_token(connection: Connection, token_id: str) -> tuple[Token, str] | None:
    """Return a token and the hash of its secret."""
    rows = connection.execute(f"SELECT {_TOKEN}, hash FROM tokens WHERE id = ?", token_id)  # noqa: S608
    return (_token(rows[0][:-1]), rows[0][-1]) if rows else None


def insert_token(connection: Connection, token: Token, hash: str, parent: str) -> None:
    expires_at = None if token.expires_at is None else to_number(token.expires_at)
    connection.execute(
        "INSERT INTO tokens (id, hash, owner, role, prefix, label, parent, created_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        *(token.id, hash, token.owner, int(token.role), token.prefix, token.label, parent),
        *(to_number(token.created_at), expires_at),
    )


def revoke_token(connection: Connection, token_id: str, now: datetime) -> None:
    """Revoke a token and those that were made with it."""
    connection.execute(
        "WITH RECURSIVE family (id) AS (SELECT id FROM tokens WHERE id = ? "
        "UNION SELECT tokens.id FROM tokens JOIN family ON tokens.parent = family.id) "
        "UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL AND id IN (SELECT id FROM family)",
        *(token_id, to_number(now)),
    )


def _token(row: Row) -> Token:
    token_id, owner, role, prefix, label, *times = row
    created_at, *ends = [None if number is None else to_time(number) for number in times]
    assert created_at is not None
    return Token(token_id, owner, Role(role), prefix, label, created_at, *ends)


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
    connection.execute(
        f"INSERT INTO changes ({_CHANGE}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        *(sequence, to_number(now), caller.subject, caller.token, action, skill, version),
        json.dumps(detail),
    )
    connection.notify(skill)
    return sequence


def read_last_sequence(connection: Connection, time: datetime | None = None) -> int:
    """Return the number of the last change, or of the last one up to a time; 0 where there is none."""
    condition = "" if time is None else " WHERE time <= ?"
    query = f"SELECT coalesce(max(sequence), 0) FROM changes{condition}"  # noqa: S608
    ((sequence,),) = connection.execute(query, *([] if time is None else [to_number(time)]))
    return int(sequence)


def read_changes(connection: Connection, since: int, limit: int) -> list[Change]:
    query = f"SELECT {_CHANGE} FROM changes WHERE sequence > ? ORDER BY sequence LIMIT {int(limit)}"  # noqa: S608
    return [
        Change(sequence, to_time(time), subject, token, action, skill, version, json.loads(detail))
        for sequence, time, subject, token, action, skill, version, detail in connection.execute(query, since)
    ]
