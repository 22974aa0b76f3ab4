"""Say what a registry holds: skills with immutable versions and tags, grants, tokens, a log of changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import total_ordering
from typing import Any

from skillc.errors import InvalidParameter, SkillNotFound
from skillc.skills import SkillId
from skillc.versions import LATEST, is_release, precedence, suggest_version

RESERVATION = timedelta(days=30)  # of a deleted skill's ID: it can be restored, and not be published anew
MAX_TEXT = 2000  # characters of a note or a reason
MAX_NAME = 200  # characters of a subject or a label
APPROVED, PENDING, REJECTED = "approved", "pending", "rejected"  # the status of a version
NO_FINDINGS = "none"  # the audit of a version without findings
AUDIT_LEVELS = (NO_FINDINGS, "note", "review", "block")  # of a version, by its worst finding


def digest_of(data: bytes) -> str:
    """Return the digest that names bytes.

    >>> digest_of(b"")
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    """
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def parse_text(text: str, name: str, limit: int = MAX_TEXT) -> str:
    """Return text that every store can hold; raises InvalidParameter where it is long or not Unicode."""
    if len(text) > limit:
        raise InvalidParameter(name, f"it is longer than {limit} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidParameter(name, "it is not valid Unicode") from None
    if "\0" in text:
        raise InvalidParameter(name, "it has a NUL character")
    return text


def parse_reason(text: str) -> str:
    if not text.strip():
        raise InvalidParameter("reason", "it must say why")
    return parse_text(text, "reason")


def parse_name(text: str, name: str) -> str:
    """Return a subject or a label: not empty, and on one line."""
    if not text.strip() or not text.isprintable():
        raise InvalidParameter(name, "it must be one line of printable text")
    return parse_text(text, name, MAX_NAME)


def is_name(text: str) -> bool:
    try:
        return bool(parse_name(text, "name"))
    except InvalidParameter:
        return False


def parse_prefix(text: str) -> str:
    """Return a path that skills are below, or are themselves; empty for all."""
    return str(SkillId(text)) if text else ""


def is_below(path: str, prefix: str) -> bool:
    """Return whether a path is `prefix` or below it.

    >>> is_below("payments/refunds", "payments"), is_below("payments-old", "payments")
    (True, False)
    """
    return not prefix or f"{path}/".startswith(f"{prefix}/")


@total_ordering
class Role(Enum):
    """What may be done below a prefix; each role includes those before it."""

    READER = "reader"
    PUBLISHER = "publisher"  # and set tags
    MAINTAINER = "maintainer"  # and yank, delete, restore
    ADMIN = "admin"  # and grants; of the whole registry: the tokens of others, the log

    def __init__(self, label: str) -> None:
        self.rank = len(type(self).__members__) + 1  # its number in stores

    @classmethod
    def parse(cls, text: str) -> Role:
        try:
            return cls(text)
        except ValueError:
            names = ", ".join(role.label for role in cls)
            raise InvalidParameter("role", f"it is one of {names}") from None

    @classmethod
    def of_rank(cls, rank: int) -> Role:
        roles: list[Role] = [*cls]
        return roles[rank - 1]

    @property
    def label(self) -> str:
        return str(self.value)

    def __lt__(self, other: Role) -> bool:
        return self.rank < other.rank


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a version. Its bytes are the blob `digest`, so they never change."""

    path: str
    size: int
    digest: str
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class Version:
    """One immutable publication of a skill; only whether it is `yanked`, approved and audited can change.

    `digest` is that of the skill's source, as lock files have it; `archive` is the digest of its tar.gz.
    `audit` is the level of its worst finding, empty where it was not audited, and `signature` what was known
    of its signer when it was published.
    """

    skill: SkillId
    version: str
    digest: str
    frontmatter: Mapping[str, Any]
    archive: str
    archive_size: int
    published_at: datetime
    published_by: str
    note: str = ""
    yanked: str | None = None
    status: str = APPROVED
    audit: str = ""
    signature: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_offered(self) -> bool:
        """Whether it can be chosen without its number."""
        return self.yanked is None and self.status == APPROVED


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill with its versions, last published first, and what its tags point at."""

    id: SkillId
    versions: tuple[Version, ...]
    tags: Mapping[str, str] = field(default_factory=dict)

    def find(self, version: str) -> Version | None:
        return next((each for each in self.versions if each.version == version), None)

    def require(self, version: str) -> Version:
        """Return a version by its number alone; raises SkillNotFound, with those that may be meant."""
        if found := self.find(version):
            return found
        near = suggest_version(version, [each.version for each in self.versions], ())
        raise SkillNotFound(f"{self.id}@{version}", f"there is no such version; {near}")

    @property
    def latest(self) -> Version | None:
        """The version that an installation without a version chooses.

        That is the one tagged `latest`; where it is yanked or hidden, the highest release that is not, or the
        highest pre-release where there is no release. One that waits for review is never chosen.
        """
        version = self.find(self.tags.get(LATEST, ""))
        if version is not None and version.is_offered:
            return version
        candidates = [each for each in self.versions if each.is_offered]
        return max(candidates, key=lambda v: (is_release(v.version), precedence(v.version)), default=None)

    def resolve(self, reference: str = LATEST) -> Version:
        """Return a version by its number, also a yanked one, or by a tag, which never gives a yanked one."""
        if version := self.find(reference):
            return version
        version = self.latest if reference == LATEST else self.find(self.tags.get(reference, ""))
        if version is None:
            offers = [each.version for each in self.versions if each.is_offered]
            question = suggest_version(reference, offers, {LATEST, *self.tags} if offers else ())
            raise SkillNotFound(f"{self.id}@{reference}", f"there is no such version or tag; {question}")
        if version.yanked is not None:
            raise SkillNotFound(
                f"{self.id}@{reference}", f"version {version.version} was yanked: {version.yanked}"
            )
        return version

    def filter(self, keep: Callable[[Version], bool]) -> Skill:
        """Return the same skill with the versions that satisfy a condition."""
        return replace(self, versions=tuple(version for version in self.versions if keep(version)))


@dataclass(frozen=True, slots=True)
class Deletion:
    """A skill that was deleted; it can be restored for some time, which is how long its ID is reserved."""

    skill: SkillId
    deleted_at: datetime

    @property
    def ends_at(self) -> datetime:
        return self.deleted_at + RESERVATION


@dataclass(frozen=True, slots=True)
class Review:
    """What became of a version that had to be reviewed; `tag` is the one that it gets when it is approved."""

    version: Version
    tag: str
    reviewer: str = ""
    reviewed_at: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person or program (`subject`) may do below a prefix."""

    subject: str
    role: Role
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret. It may do what both its scope and the grants of its owner allow."""

    id: str
    owner: str
    role: Role
    prefix: str
    label: str
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class Change:
    """An entry of the log: one write. Their numbers have no gaps, and appear in their order."""

    sequence: int
    time: datetime
    subject: str
    token: str
    action: str
    skill: str = ""
    version: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
