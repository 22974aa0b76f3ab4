"""Read skills, versions, files and the log of a registry, each as far as a `Caller` may."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import chain
from typing import Any, TypeVar

from skillc.errors import FileNotFound, SkillNotFound
from skillc.paths import SKILL_FILES
from skillc.registry.blobs import Blobs
from skillc.registry.cache import Cache
from skillc.registry.feed import Feed, Log
from skillc.registry.model.access import Caller, Permission
from skillc.registry.model.model import (
    APPROVED,
    PENDING,
    RESERVATION,
    Change,
    Deletion,
    Review,
    Role,
    Skill,
    StoredFile,
    Version,
    parse_prefix,
    parse_text,
)
from skillc.registry.policies import Policies, may_see
from skillc.registry.source import CallerSource
from skillc.registry.store import Connection, Row, Store, marks, select_in, tables, to_number, to_time
from skillc.registry.store.tables import Ledger
from skillc.skills import SkillId

MIN_PAGE, PAGE = 50, 500  # skills that are read at once: some of them may be hidden
MAX_CHANGES = 1000  # of one answer
MAX_SEQUENCE = 2**63 - 1  # what a database can compare
BLOBS_AT_ONCE = 8  # buckets answer slowly, but many requests at once
MISSING = "the registry has no such skill"
VERSION_BYTES = 2048  # about what a version takes in memory

MAX_IDS = 20_000  # that are read at once
PAIRS = 125  # skills and versions in one statement
READER = Caller("", (Permission(Role.READER),))  # of everything, and the publisher of nothing

T = TypeVar("T")


class Reader(Ledger):
    """A registry to read from. Operations can be called from many threads and processes at once."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        policies: Policies | None = None,
    ) -> None:
        super().__init__(store, clock)
        self.policies = policies or Policies()
        self._blobs = blobs
        self._cache = Cache()
        self.log = Log(store)
        self.feed = Feed(store, self.log)
        self._is_followed = False
        store.listeners.append(lambda news: self._cache.drop(*news))

    def follow(self) -> Feed:
        """Start to follow the log, and to remember what was read as long as it did not change."""
        if not self._is_followed:
            self._is_followed = True
            self._cache.follow(self.feed)
            self.feed.start()
        return self.feed

    def outage(self) -> str | None:
        """Return why store or blobs are out of reach, "" where they are not, None where it is not known."""
        reason = self.feed.outage()
        return reason if reason is None else reason or self._blobs.error

    def probe(self) -> None:
        """Raise RegistryUnavailable where the store or the blobs are out of reach."""
        self.log.find_end()
        self._blobs.probe()

    def close(self) -> None:
        self.feed.close()
        self._store.close()

    def skill(self, caller: Caller, skill_id: str) -> Skill:
        """Return a skill with its versions; raises SkillNotFound, also for one that was deleted."""
        caller.require(Role.READER, SkillId(skill_id))

        def read() -> Skill:
            with self._store.read() as connection:
                return read_skill(connection, skill_id)

        def measure(skill: Skill) -> int:
            return VERSION_BYTES * (1 + len(skill.versions))

        view = self._view(caller, self._cache.remember(skill_id, "skill", read, measure))
        if view is None:
            raise SkillNotFound(skill_id, MISSING)
        return view

    def skills(self, caller: Caller, prefix: str = "", after: str = "", limit: int = PAGE) -> list[Skill]:
        """Return up to `limit` of the skills that a caller may read, by ID, behind the ID `after`."""
        skills: list[Skill] = []
        prefixes = caller.narrow_prefix(Role.READER, parse_prefix(prefix))
        parse_text(after, "after")
        size = min(PAGE, max(limit, MIN_PAGE))
        while prefixes and len(skills) < limit:
            condition, values = tables.limit_to("id", prefixes)
            query = f"{tables.THERE} AND id > ? AND {condition} ORDER BY id LIMIT {int(size)}"
            with self._store.read() as connection:
                page = tables.select_skills(connection, f"skill IN ({query})", [after, *values])
            readable = (skill for skill in page if caller.allows(Role.READER, skill.id))
            skills += (view for skill in readable if (view := self._view(caller, skill)))
            if len(page) < size:
                break
            after = page[-1].id
        return skills[:limit]

    def files(self, caller: Caller, version: Version) -> tuple[StoredFile, ...]:
        caller.require(Role.READER, version.skill)

        def read() -> tuple[StoredFile, ...]:
            where = "WHERE skill = ? AND version = ? ORDER BY path"
            query = f"SELECT path, size, digest, executable FROM files {where}"  # noqa: S608
            rows = self._execute(query, version.skill, version.version)
            return tuple(StoredFile(path, size, digest, bool(flag)) for path, size, digest, flag in rows)

        key = "files", version.version, version.digest
        return self._cache.remember(version.skill, key, read, lambda files: 256 * len(files) + 64)

    def read_file(self, caller: Caller, version: Version, path: str) -> bytes:
        """Return the bytes of a file of a version; raises FileNotFound."""
        file = next((file for file in self.files(caller, version) if file.path == path), None)
        if file is None:
            raise FileNotFound(path)
        return self._blobs.read(file.digest)

    def read_archive(self, caller: Caller, version: Version) -> bytes:
        """Return the .tar.gz of a version."""
        caller.require(Role.READER, version.skill)
        return self._blobs.read(version.archive)

    def read_blobs(self, digests: Collection[str]) -> dict[str, bytes]:
        """Return blobs by digest, without those that are lost or damaged."""
        with ThreadPoolExecutor(BLOBS_AT_ONCE) as pool:
            pairs = zip(digests, pool.map(self._blobs.find, digests), strict=True)
            return {digest: data for digest, data in pairs if data is not None}

    def audit(self, caller: Caller, version: Version) -> Mapping[str, Any] | None:
        """Return the report of a version's audit; None where it was not audited."""
        caller.require(Role.READER, version.skill)
        query = "SELECT report FROM audits WHERE skill = ? AND version = ?"
        rows = self._execute(query, version.skill, version.version)
        return json.loads(rows[0][0]) if rows else None

    def attestation(self, caller: Caller, version: Version) -> str:
        """Return what the registry attests of a version, as JSON; empty where there is nothing."""
        caller.require(Role.READER, version.skill)
        query = "SELECT statement FROM attestations WHERE skill = ? AND version = ?"
        rows = self._execute(query, version.skill, version.version)
        return str(rows[0][0]) if rows else ""

    def queue(self, caller: Caller, limit: int = PAGE) -> list[Version]:
        """Return what waits for a review, oldest first: what the caller may decide, and its own."""
        condition, values = tables.limit_to("skill", caller.narrow_prefix(Role.MAINTAINER, ""))
        clause = f"""WHERE status = ? AND ({condition} OR published_by = ?) AND skill IN ({tables.THERE})
            ORDER BY sequence LIMIT {int(limit)}"""
        with self._store.read() as connection:
            versions = tables.VERSIONS.select(connection, clause, PENDING, *values, caller.subject)
        return [v for v in versions if caller.allows(Role.MAINTAINER, v.skill) or may_see(caller, v)]

    def read_review(self, caller: Caller, version: Version) -> Review | None:
        """Return what became of a version that had to be reviewed; None for any other."""
        caller.require(Role.READER, version.skill)
        with self._store.read() as connection:
            return tables.read_review(connection, version)

    def deletions(self, caller: Caller, limit: int = PAGE) -> list[Deletion]:
        """Return what was deleted and can be restored by a caller, the last first."""
        condition, values = tables.limit_to("id", caller.narrow_prefix(Role.MAINTAINER, ""))
        query = f"""SELECT id, deleted_at FROM skills WHERE deleted_at > ? AND {condition}
            ORDER BY deleted_at DESC, id LIMIT {int(limit)}"""  # noqa: S608
        rows = self._execute(query, to_number(self._clock() - RESERVATION), *values)
        deletions = [Deletion(SkillId(skill_id), to_time(number)) for skill_id, number in rows]
        return [deletion for deletion in deletions if caller.allows(Role.MAINTAINER, deletion.skill)]

    def changes(self, caller: Caller, since: int = 0, limit: int = MAX_CHANGES) -> list[Change]:
        """Return the changes behind the number `since`, oldest first: those that a caller may see.

        Admins of the whole registry see the whole log. All others see what happened to skills that they may
        read; ask again from the last number until there are no more.
        """
        changes: list[Change] = []
        since = min(since, MAX_SEQUENCE)
        while len(changes) < limit:
            with self._store.read() as connection:
                page = tables.read_changes(connection, since, MAX_CHANGES)
            changes += (change for change in page if _may_see(caller, change))
            if len(page) < MAX_CHANGES:
                break
            since = page[-1].sequence
        return changes[:limit]

    def now(self) -> datetime:
        return self._clock()

    def revision(self) -> int:
        """Return the number of the last change: as long as it is the same, everything is."""
        with self._store.read() as connection:
            return tables.read_last_sequence(connection)

    def source(
        self, caller: Caller, allows: Callable[[Version], bool] = lambda version: True
    ) -> CallerSource:
        """Return the registry as this caller sees it, with the versions that `allows` returns true for."""
        return CallerSource(self, caller, allows)

    def recall(self, owner: str, key: Hashable) -> object | None:
        """Return what `remember` would, if it need ask nothing; else None. Check the caller yourself."""
        return self._cache.recall(owner, key)

    def recall_skill(self, caller: Caller, skill_id: str) -> Skill | None:
        """Return what `skill` would, if it need ask nothing and does not raise; else None."""
        skill = self._cache.recall(skill_id, "skill")
        if not isinstance(skill, Skill) or not caller.allows(Role.READER, skill_id):
            return None
        return self._view(caller, skill)

    def remember(self, owner: str, key: Hashable, read: Callable[[], T], measure: Callable[[T], int]) -> T:
        """Return what `read` makes of one skill, and remember it until that skill changes, a minute at most.

        The owner is the ID of a skill, or a prefix and a slash for all skills below it. All callers share it,
        so it must not depend on one. `measure` tells its size in bytes.
        """
        return self._cache.remember(owner, key, read, measure)

    def read_latest(self, ids: Collection[str], keep: Callable[[Version], bool]) -> dict[str, str]:
        """Return the digest of SKILL.md in the latest version that satisfies a condition, by ID."""
        digests: dict[str, str] = {}
        with self._store.read() as connection:
            skills = tables.find_skills(connection, ids)
            versions = [v for skill in skills if (v := skill.filter(keep).latest) is not None]
            for start in range(0, len(versions), PAIRS):
                pairs = [(v.skill, v.version) for v in versions[start : start + PAIRS]]
                keys = ", ".join(["(?, ?)"] * len(pairs))
                query = f"""SELECT skill, digest FROM files WHERE (skill, version) IN (VALUES {keys})
                    AND path IN ({marks(len(SKILL_FILES))}) ORDER BY path DESC"""  # noqa: S608
                digests.update(connection.execute(query, *chain(*pairs), *SKILL_FILES))
        return digests

    def read_names(self, place: str, ids: Collection[str]) -> dict[str, str]:
        """Return the names of some skills in the list of a prefix, or of the whole (""), by ID."""
        with self._store.read() as connection:
            return dict(
                select_in(connection, "SELECT skill, name FROM names WHERE place = ? AND skill", ids, place)
            )

    def was_published_here(self, skill_id: str) -> bool:
        """Return whether a skill was ever published here, and not by a mirror alone."""
        return bool(self._execute("SELECT 1 FROM origins WHERE skill = ? AND mirrored = 0", skill_id))

    def list_ids(self, after: str, limit: int, is_approved: bool = False) -> list[str]:
        """Return up to `limit` IDs of skills that are not deleted, in order, behind the ID `after`.

        With `is_approved`, those of skills with a version that does not wait for a review.
        """
        status = "AND EXISTS (SELECT 1 FROM versions WHERE skill = id AND status = ?)" if is_approved else ""
        query = f"{tables.THERE} AND id > ? {status} ORDER BY id LIMIT {int(limit)}"
        return [skill_id for (skill_id,) in self._execute(query, after, *[APPROVED] * is_approved)]

    def list_visible(self) -> Iterator[str]:
        """Give the IDs of the skills that every reader of their prefix may see."""
        after = ""
        while page := self.list_ids(after, MAX_IDS, is_approved=True):
            yield from sorted(self.find_visible(page)) if self.policies.fingerprint else page
            after = page[-1]

    def find_visible(self, ids: Collection[str]) -> set[str]:
        """Return those of some IDs that every reader of their prefix may see."""
        with self._store.read() as connection:
            skills = tables.find_skills(connection, ids)
        return {skill.id for skill in skills if self._view(READER, skill)}

    def _view(self, caller: Caller, skill: Skill) -> Skill | None:
        """Return a skill with the versions that a caller may see; None where there are none.

        Maintainers see all. For others, reviews and policies hide some.
        """
        is_filtered = self.policies.fingerprint or any(v.status != APPROVED for v in skill.versions)
        if not is_filtered or caller.allows(Role.MAINTAINER, skill.id):
            return skill
        view = skill.filter(lambda version: may_see(caller, version) and self.policies.allows(version))
        return view if view.versions else None

    def _execute(self, query: str, *values: object) -> list[Row]:
        with self._store.read() as connection:
            return connection.execute(query, *values)


def read_skill(connection: Connection, skill_id: str) -> Skill:
    skill = tables.read_skill(connection, skill_id)
    if skill is None or tables.read_deletion(connection, skill_id) is not None:
        raise SkillNotFound(skill_id, MISSING)
    return skill


def _may_see(caller: Caller, change: Change) -> bool:
    if not change.skill:
        return caller.allows(Role.ADMIN, "")
    if change.detail.get("status", APPROVED) != APPROVED and change.subject != caller.subject:
        return caller.allows(Role.MAINTAINER, change.skill)
    return caller.allows(Role.READER, change.skill)
