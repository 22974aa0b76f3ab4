"""Read and write what is said of versions: reviews, and the reports of audits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from skillc.registry.model import PENDING, Review, Version
from skillc.registry.store.database import Connection
from skillc.registry.store.tables import find_versions, limit_to, to_number, to_time


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
    condition = f"status = ? AND ({condition} OR published_by = ?)"
    return find_versions(connection, condition, [PENDING, *values, publisher], limit)


def save_audit(connection: Connection, version: Version, level: str, report: Mapping[str, Any]) -> None:
    key = version.skill, version.version
    connection.execute(
        "INSERT INTO audits (skill, version, report) VALUES (?, ?, ?) "
        "ON CONFLICT (skill, version) DO UPDATE SET report = excluded.report",
        *(*key, json.dumps(report)),
    )
    connection.execute("UPDATE versions SET audit = ? WHERE skill = ? AND version = ?", level, *key)


def read_audit(connection: Connection, version: Version) -> Any:
    """Return the report of a version's audit, None without one."""
    query = "SELECT report FROM audits WHERE skill = ? AND version = ?"
    rows = connection.execute(query, version.skill, version.version)
    return json.loads(rows[0][0]) if rows else None
