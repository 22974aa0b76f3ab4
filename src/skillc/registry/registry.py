"""Publish, tag, yank and delete skills: every operation of a registry, each called by a `Caller`.

    registry = open_registry("registry.db", "blobs")
    registry.publish(SYSTEM, read_package("payments/refunds", "skills/refunds"), note="first")
    registry.skill(SYSTEM, "payments/refunds").resolve("latest").version

Publishing claims its blobs, writes those that are new, and then writes the version in one transaction. A
process that is killed before the end leaves blobs that no version has; `collect` removes them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from skillc.errors import (
    InvalidParameter,
    RegistryRefused,
    RegistryUnavailable,
    SkillExists,
    SkillNotFound,
    SkillReserved,
    StaleVersion,
    VersionExists,
)
from skillc.registry import accounts
from skillc.registry.accounts import Accounts
from skillc.registry.blobs import Blobs, Uploads
from skillc.registry.mirror import Audit, Folders, Mirror, MirrorConfig, open_temporary
from skillc.registry.model.access import Caller
from skillc.registry.model.model import (
    APPROVED,
    PENDING,
    REJECTED,
    RESERVATION,
    Role,
    Skill,
    Version,
    digest_of,
    parse_reason,
    parse_text,
)
from skillc.registry.package import Package
from skillc.registry.policies import Policies, ReviewRules, parse_report
from skillc.registry.publishers import Publishers
from skillc.registry.reader import Reader, read_skill
from skillc.registry.sessions import Sessions
from skillc.registry.store import Store, complete, names, tables, to_number
from skillc.registry.store.tables import Transaction
from skillc.registry.usage import Usage
from skillc.skills import SkillId
from skillc.spelling import near_miss
from skillc.versions import LATEST, is_release, next_patch, parse_tag, parse_version, precedence

NO_POLICIES, NO_REVIEW = Policies(), ReviewRules()
# The statement about a version of a package; with the job of CI that published it, if one did.
Attest = Callable[[Version, Package, Mapping[str, Any]], str]
ORPHAN_AGE = timedelta(days=1)  # no publication takes this long


@dataclass(frozen=True, slots=True)
class Removals:
    """What `collect` removed: skills whose reservation ended, and the number of blobs."""

    skills: tuple[str, ...]
    blobs: int


@dataclass(frozen=True, slots=True)
class RegistryConfig:
    """How a registry is run: what it hides, what waits for a review, and what it mirrors."""

    policies: Policies = NO_POLICIES
    review: ReviewRules = NO_REVIEW
    mirrors: tuple[MirrorConfig, ...] = ()


class Registry(Reader):
    """Skills in a store and blobs. Operations can be called from many threads and processes at once."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        config: RegistryConfig | None = None,
        audit: Audit | None = None,
        folders: Folders = open_temporary,
    ) -> None:
        """Open a registry as its configuration says.

        `audit` makes the reports of what mirrors bring, and `folders` are where that is unpacked.
        """
        config = config or RegistryConfig()
        super().__init__(store, blobs, clock, config.policies)
        self._rules = config.review
        self.mirrors = [Mirror(self, each.open(folders), each.prefix, audit) for each in config.mirrors]
        self.accounts = Accounts(store, clock, self._cache)
        self.usage = Usage(store, clock)
        self.sessions = Sessions(store, clock)
        self.publishers = Publishers(store, clock)
        self.uploads = Uploads(blobs, clock)
        self.attest: Attest | None = None  # makes the statement about a version, if the registry has a key
        self.keys: Sequence[Mapping[str, str]] = ()  # that others check statements with

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # Reading what a mirror may have

    def skill(self, caller: Caller, skill_id: str) -> Skill:
        """Return a skill with its versions, after a mirror fetched it, where it is time to."""
        here = super().skill
        mirror = self._find_mirror(skill_id)
        return mirror.read(skill_id, lambda: here(caller, skill_id)) if mirror else here(caller, skill_id)

    def recall_skill(self, caller: Caller, skill_id: str) -> Skill | None:
        return super().recall_skill(caller, skill_id) if self._find_mirror(skill_id) is None else None

    def _find_mirror(self, skill_id: str) -> Mirror | None:
        return next((mirror for mirror in self.mirrors if mirror.covers(skill_id)), None)

    # Publishing

    def publish(
        self,
        caller: Caller,
        package: Package,
        *,
        version: str = "",
        tag: str = LATEST,
        note: str = "",
        expect: str | None = None,
        audit: Mapping[str, Any] | None = None,
        signature: Mapping[str, Any] | None = None,
        mirrored: bool = False,
    ) -> Version:
        """Publish a new version: `version`, else that of the frontmatter, else the next patch.

        `signature` is what is known of its signer. `audit` is the report of an audit, as JSON; it may say, as
        other rules may, that the version has to be reviewed. Then it is `pending`, and gets its tag when it
        is approved.
        `latest` moves to a higher version alone, and to a pre-release only where there is no release; any
        other tag moves always. `expect` is the digest of what the publisher took for the latest version, or
        "" for a skill that is to be new. Raises VersionExists, StaleVersion or SkillReserved.

        What is `mirrored` never extends a skill that was published here: SkillExists. What a mirror brought,
        an admin alone can publish here (RegistryRefused); from then on it is a skill of here.
        """
        caller.require(Role.PUBLISHER, package.skill)
        number = parse_version(version) if version else package.version
        parse_tag(tag)
        parse_text(note, "note")
        level, report = parse_report(audit) if audit is not None else ("", None)
        must_wait = self._rules.must_wait(caller, package.skill, level)
        blobs = package.blobs()
        publication = self._upload(blobs)
        with self._write(caller) as change:
            # `collect` drops claims that are too old, and then what they are for may be gone.
            query = "SELECT count(*) FROM claims WHERE publication = ?"
            ((claims,),) = change.execute(query, publication)
            change.execute("DELETE FROM claims WHERE publication = ?", publication)
            if claims != len(blobs):
                raise RegistryUnavailable("store", "publishing took too long; publish again")
            _check_origin(change, package.skill, mirrored)
            skill = _open_for_publication(change, package.skill)
            latest = skill.latest or (skill.versions[0] if skill.versions else None)
            if expect == "" and latest is not None:
                raise VersionExists(skill.id, latest.version, _compare(latest, package.digest))
            if expect and (latest is None or latest.digest != expect):
                raise StaleVersion(skill.id, latest.version if latest else "0")
            new_version = Version(
                package.skill,
                number or _next_version(skill, package.digest),
                package.digest,
                package.frontmatter,
                digest_of(package.archive),
                len(package.archive),
                change.now,
                caller.subject,
                note,
                status=PENDING if must_wait else APPROVED,
                audit=level,
                signature=signature or {},
            )
            if other := skill.find(new_version.version):
                raise VersionExists(skill.id, other.version, _compare(other, package.digest))
            detail = {"digest": package.digest, "tag": tag} | ({"status": PENDING} if must_wait else {})
            key = new_version.skill, new_version.version
            sequence = change.record("publish", *key, **detail)
            tables.insert_version(change, new_version, package.files, sequence)
            if report is not None:
                tables.save_audit(change, new_version, level, report)
            if self.attest is not None:
                build = accounts.read_build(change, caller.token)
                tables.save_attestation(change, new_version, self.attest(new_version, package, build))
            if must_wait:
                query = "INSERT INTO reviews (skill, version, tag, reviewer, reason) VALUES (?, ?, ?, '', '')"
                change.execute(query, *key, tag)
            else:
                _move_tag(change, skill, new_version, tag)
                names.claim_names(change, new_version.skill)
        return new_version

    def _upload(self, blobs: dict[str, bytes]) -> str:
        """Claim blobs, write those that no version has, and return the name of the claim."""
        publication = secrets.token_hex(8)
        with self._store.write() as connection:
            now = to_number(self._clock())
            connection.execute_many(
                "INSERT INTO claims (publication, digest, claimed_at) VALUES (?, ?, ?)",
                [(publication, digest, now) for digest in sorted(blobs)],
            )
            digests = {*blobs} - tables.find_digests(connection, blobs.keys(), "files", "versions")
        self._blobs.write_all({digest: blobs[digest] for digest in sorted(digests)})
        return publication

    # Reviewing

    def review(self, caller: Caller, skill_id: str, version: str, approve: bool, reason: str = "") -> Version:
        """Approve or reject a version that waits, or approve one that was rejected.

        Then it gets the tag that it was published with, as if it were published now. A rejection needs a
        reason. Raises InvalidParameter for a version that was approved: yank it instead.
        """
        caller.require(Role.MAINTAINER, SkillId(skill_id))
        parse_text(reason, "reason") if approve else parse_reason(reason)
        status = APPROVED if approve else REJECTED
        with self._write(caller) as change:
            skill = read_skill(change, skill_id)
            target = skill.require(version)
            review = tables.read_review(change, target)
            if review is None or target.status in (APPROVED, status):
                raise InvalidParameter("version", f"{version} is {target.status}, and does not wait for this")
            tables.set_column(change, target, "status", status)
            query = (
                "UPDATE reviews SET reviewer = ?, reviewed_at = ?, reason = ? WHERE skill = ? AND version = ?"
            )
            values = caller.subject, to_number(change.now), reason, target.skill, target.version
            change.execute(query, *values)
            if approve:
                _move_tag(change, skill, target, review.tag)
                names.claim_names(change, skill_id)
            detail = {"status": status, "reason": reason}
            change.record("review", skill_id, version, **detail)
            return read_skill(change, skill_id).require(version)

    def set_audit(self, caller: Caller, skill_id: str, version: str, audit: Mapping[str, Any]) -> Version:
        """Store the report of an audit of a version, in place of the one it has."""
        caller.require(Role.MAINTAINER, SkillId(skill_id))
        level, report = parse_report(audit)
        with self._write(caller) as change:
            target = read_skill(change, skill_id).require(version)
            tables.save_audit(change, target, level, report)
            change.record("audit", skill_id, version, level=level)
            return read_skill(change, skill_id).require(version)

    # Changing what is published

    def yank(self, caller: Caller, skill_id: str, version: str, reason: str) -> Version:
        """Take a version out of the choice for new installations; by its number it can still be had."""
        return self._set_yank(caller, skill_id, version, parse_reason(reason), "yank")

    def unyank(self, caller: Caller, skill_id: str, version: str) -> Version:
        return self._set_yank(caller, skill_id, version, None, "unyank")

    def _set_yank(
        self, caller: Caller, skill_id: str, version: str, reason: str | None, action: str
    ) -> Version:
        caller.require(Role.MAINTAINER, SkillId(skill_id))
        with self._write(caller) as change:
            target = read_skill(change, skill_id).require(version)
            tables.set_column(change, target, "yanked", reason)
            change.record(action, skill_id, version, reason=reason)
            return read_skill(change, skill_id).require(version)

    def set_tag(self, caller: Caller, skill_id: str, tag: str, version: str) -> None:
        """Point a tag at a version; `latest` at an older one is a rollback."""
        caller.require(Role.PUBLISHER, SkillId(skill_id))
        parse_tag(tag)
        with self._write(caller) as change:
            target = read_skill(change, skill_id).require(version)
            if target.status != APPROVED:
                raise InvalidParameter(
                    "version", f"{version} is {target.status}: a tag points at approved ones"
                )
            tables.set_tag(change, target, tag)
            change.record("tag", skill_id, version, tag=tag)

    def remove_tag(self, caller: Caller, skill_id: str, tag: str) -> None:
        caller.require(Role.PUBLISHER, SkillId(skill_id))
        with self._write(caller) as change:
            tags = read_skill(change, skill_id).tags
            if tag not in tags:
                raise SkillNotFound(f"{skill_id}@{tag}", f"there is no such tag{near_miss(tag, tags)}")
            change.execute("DELETE FROM tags WHERE skill = ? AND tag = ?", skill_id, tag)
            change.record("remove-tag", skill_id, tag=tag)

    def delete(self, caller: Caller, skill_id: str) -> None:
        """Delete a skill with all its versions; for 30 days it can be restored, and its ID stays reserved."""
        caller.require(Role.MAINTAINER, SkillId(skill_id))
        with self._write(caller) as change:
            read_skill(change, skill_id)
            query = "UPDATE skills SET deleted_at = ? WHERE id = ?"
            change.execute(query, to_number(change.now), skill_id)
            change.record("delete", skill_id)

    def restore(self, caller: Caller, skill_id: str) -> Skill:
        """Undo a deletion; raises SkillNotFound where there is none, or not any more."""
        caller.require(Role.MAINTAINER, SkillId(skill_id))
        with self._write(caller) as change:
            deleted_at = tables.read_deletion(change, skill_id)
            if deleted_at is None or change.now >= deleted_at + RESERVATION:
                raise SkillNotFound(skill_id, "it is not among the deleted ones")
            change.execute("UPDATE skills SET deleted_at = NULL WHERE id = ?", skill_id)
            change.record("restore", skill_id)
            return read_skill(change, skill_id)

    def collect(self, caller: Caller) -> Removals:
        """Remove skills whose reservation ended, and blobs that no version has and no publisher claims.

        Skills that a server of an older version published get what they lack. Blobs are removed within
        writing transactions, where no publisher can claim them meanwhile.
        """
        caller.require(Role.ADMIN, "")
        with self._write(caller) as change:
            query = "SELECT id FROM skills WHERE deleted_at <= ? ORDER BY id"
            ids = [skill_id for (skill_id,) in change.execute(query, to_number(change.now - RESERVATION))]
            for skill_id in ids:
                _purge(change, skill_id)
            complete(change)
            before = change.now - ORPHAN_AGE
            change.execute("DELETE FROM claims WHERE claimed_at < ?", to_number(before))
        self.usage.collect(caller)
        self._blobs.sweep(before)
        count = 0
        for digests in self._blobs.find_older(before):
            with self._store.write() as connection:
                orphans = {*digests} - tables.find_digests(connection, digests, "files", "versions", "claims")
                if orphans:
                    self._blobs.remove(orphans)
            count += len(orphans)
        return Removals((*ids,), count)


def _open_for_publication(change: Transaction, skill_id: SkillId) -> Skill:
    """Return a skill, which may have no version yet; raises SkillReserved."""
    deleted_at = tables.read_deletion(change, skill_id)
    if deleted_at is not None:
        if change.now < deleted_at + RESERVATION:
            raise SkillReserved(skill_id, f"{deleted_at + RESERVATION:%Y-%m-%d}")
        _purge(change, skill_id)
    return tables.read_skill(change, skill_id) or Skill(skill_id, ())


def _check_origin(change: Transaction, skill_id: SkillId, mirrored: bool) -> None:
    """Keep skills of here and skills of mirrors apart: a name that both have is how packages are swapped.

    Where a skill comes from stays noted when it is gone. What an admin publishes here is of here then.
    """
    query = "INSERT INTO origins (skill, mirrored) VALUES (?, ?) ON CONFLICT (skill) DO NOTHING"
    change.execute(query, skill_id, int(mirrored))
    ((came_by_mirror,),) = change.execute("SELECT mirrored FROM origins WHERE skill = ?", skill_id)
    if mirrored and not came_by_mirror:
        raise SkillExists(skill_id)
    if came_by_mirror and not mirrored:
        if not change.caller.allows(Role.ADMIN, skill_id):
            raise RegistryRefused(
                f"a mirror brought '{skill_id}': to publish it here needs the role admin for it"
            )
        change.execute("UPDATE origins SET mirrored = 0 WHERE skill = ?", skill_id)


def _purge(change: Transaction, skill_id: str) -> None:
    """Remove a skill and all that belongs to it; its blobs are orphans from now on."""
    for table, column in (("usage", "skill"), ("misses", "skill"), ("skills", "id")):
        change.execute(f"DELETE FROM {table} WHERE {column} = ?", skill_id)  # noqa: S608
    change.record("purge", skill_id)


def _next_version(skill: Skill, digest: str) -> str:
    """Return the next patch; raises VersionExists where nothing changed since the highest version."""
    highest = max(skill.versions, key=lambda version: precedence(version.version), default=None)
    if highest is not None and highest.digest == digest:
        raise VersionExists(skill.id, highest.version, _compare(highest, digest))
    return next_patch(version.version for version in skill.versions)


def _compare(version: Version, digest: str) -> str:
    return f"hint: its files are {'the same' if version.digest == digest else 'others'}"


def _move_tag(change: Transaction, skill: Skill, version: Version, tag: str) -> None:
    """Point a tag at a new version; `latest` only if that is higher."""

    def rank(version: Version) -> tuple[object, ...]:
        return is_release(version.version), precedence(version.version)

    if tag != LATEST or skill.latest is None or rank(version) > rank(skill.latest):
        tables.set_tag(change, version, tag)
