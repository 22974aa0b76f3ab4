"""Say what a registry holds: skills with immutable versions and tags, grants, tokens, and a log of changes.

>>> parse_version("v1.2"), next_patch(["1.2.0", "1.10.3"])
('1.2.0', '1.10.4')
>>> max("1.0.0-rc.1", "1.0.0", "1.0.0-rc.10", key=precedence)
'1.0.0'
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from functools import total_ordering
from typing import Any

from skillc.errors import InvalidParameter, SkillNotFound, VersionTooLarge
from skillc.skills import SkillId
from skillc.spelling import did_you_mean, make_question

LATEST = "latest"
FIRST_VERSION = "0.1.0"
RESERVATION = timedelta(days=30)  # of a deleted skill's ID: it can be restored, and not be published anew
MAX_VERSION = 64  # characters
MAX_DIGITS = 9  # of each number, so that every program can hold it as an integer
MAX_TEXT = 2000  # characters of a note or a reason
MAX_NAME = 200  # characters of a subject or a label
APPROVED, PENDING, REJECTED = "approved", "pending", "rejected"  # the status of a version
NO_FINDINGS = "none"  # the audit of a version without findings
AUDIT_LEVELS = (NO_FINDINGS, "note", "review", "block")  # of a version, by its worst finding

_VERSION = re.compile(
    r"v?(0|[1-9]\d*)(?:\.(0|[1-9]\d*)(?:\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-z-][0-9a-z-]*))*))?)?)?",
    re.IGNORECASE | re.ASCII,
)
_TAG = re.compile(r"[a-z][a-z0-9._-]{0,63}")  # no digit first: a tag never looks like a version


def digest_of(data: bytes) -> str:
    """Return the digest that names bytes.

    >>> digest_of(b"")
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
    """
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def parse_version(text: str) -> str:
    """Return a semantic version in full; raises InvalidParameter for text that is none.

    `v1` and `1.2` are completed. A number of more than nine digits is VersionTooLarge. Build metadata is
    refused: versions that differ in it alone have no order.
    """
    match = _VERSION.fullmatch(text) if len(text) <= MAX_VERSION else None
    if match is None:
        excerpt = text if len(text) <= MAX_VERSION else f"{text[:MAX_VERSION]}…"
        reason = f"'{excerpt}' is not a semantic version such as 1.2.0 or 1.2.0-rc.1, without build metadata"
        raise InvalidParameter("version", reason)
    major, minor, patch, label = match.groups()
    if max(map(len, (major, minor or "", patch or ""))) > MAX_DIGITS:
        raise VersionTooLarge(text)
    return f"{major}.{minor or 0}.{patch or 0}{f'-{label}' if label else ''}"


def precedence(version: str) -> tuple[Any, ...]:
    """Return the key that sorts versions as Semantic Versioning 2.0.0 does."""
    numbers, _, label = version.partition("-")
    parts = [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in label.split(".")] if label else []
    return (*map(int, numbers.split(".")), not label, parts)


def is_release(version: str) -> bool:
    return "-" not in version


def next_patch(versions: Iterable[str]) -> str:
    """Return the version after the highest of these: of a pre-release, its release.

    Raises VersionTooLarge where that has too many digits.
    """
    highest = max(versions, key=precedence, default="")
    if not highest:
        return FIRST_VERSION
    numbers, _, label = highest.partition("-")
    major, minor, patch = numbers.split(".")
    return parse_version(f"{major}.{minor}.{patch if label else int(patch) + 1}")


def suggest_version(reference: str, versions: Iterable[str], tags: Iterable[str]) -> str:
    """Return which version or tag may be meant by one that there is not, or else which there is.

    `versions` are in order of preference: of two that are as near, the first is named.

    >>> suggest_version("1.2.4", ["2.0.0", "1.2.3", "1.2.2", "1.0.0"], ["latest"])
    "did you mean '1.2.3' or '1.2.2'?"
    >>> suggest_version("lates", ["2.0.0"], ["latest"]), suggest_version("3", ["2.0.0", "1.0.0"], [])
    ("did you mean 'latest'?", 'there are 2.0.0 and 1.0.0')
    """
    there = list(versions)
    question = did_you_mean(reference, tags) or make_question(_nearest(reference, there))
    if question or not there:
        return question or "it has no versions"
    listing = " and ".join([", ".join(there[:2]), f"{len(there) - 2} more"] if there[2:] else there)
    return f"there {'is' if len(there) == 1 else 'are'} {listing}"


def _nearest(reference: str, versions: list[str]) -> list[str]:
    """Return the two versions that share the most leading numbers, at least the first."""
    numbers = reference.removeprefix("v").split(".")

    def agreement(version: str) -> int:
        pairs = zip(numbers, version.split("."), strict=False)
        return next((n for n, (one, other) in enumerate(pairs) if one != other), len(numbers))

    return [each for each in sorted(versions, key=agreement, reverse=True) if agreement(each)][:2]


def parse_tag(text: str) -> str:
    if _TAG.fullmatch(text) is None:
        reason = "a tag is a lower-case letter and then up to 63 letters, digits, '.', '_' or '-'"
        raise InvalidParameter("tag", reason)
    return text


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
    def rank(self) -> int:
        """Its number in stores, from 1."""
        return _RANKS[self.value]

    @property
    def label(self) -> str:
        return self.value

    def __lt__(self, other: Role) -> bool:
        return self.rank < other.rank


_RANKS = {role.value: number for number, role in enumerate(Role, 1)}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of a version. Its bytes are the blob `digest`, so they never change."""

    path: str
    size: int
    digest: str
    is_executable: bool = False

    def as_json(self) -> dict[str, Any]:
        return {"path": self.path, "size": self.size, "digest": self.digest}


@dataclass(frozen=True, slots=True)
class Version:
    """One immutable publication of a skill; only whether it is `yanked`, approved and audited can change.

    `digest` is that of the skill's source, as lock files have it; `archive` is the digest of its tar.gz.
    `audit` is the level of its worst finding, empty where it was not audited.
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

    @property
    def is_offered(self) -> bool:
        """Whether it can be chosen without its number."""
        return self.yanked is None and self.status == APPROVED

    def as_json(self, tags: Iterable[str] = ()) -> dict[str, Any]:
        return {
            "version": self.version,
            "digest": self.digest,
            "published_at": self.published_at.isoformat(),
            "published_by": self.published_by,
            "note": self.note,
            "yanked": self.yanked,
            "tags": sorted(tags),
            **({} if self.status == APPROVED else {"status": self.status}),
            **({"audit": self.audit} if self.audit else {}),
        }


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

    def as_json(self) -> dict[str, Any]:
        """Return the list of versions, each with the tags that resolve to it."""
        tags = {tag: version for tag, version in self.tags.items() if tag != LATEST}
        if self.latest is not None:
            tags[LATEST] = self.latest.version
        return {
            "versions": [
                version.as_json(tag for tag, target in tags.items() if target == version.version)
                for version in self.versions
            ]
        }


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

    def as_json(self) -> dict[str, Any]:
        return {
            "id": str(self.version.skill),
            **self.version.as_json(),
            "status": self.version.status,
            "tag": self.tag,
            "reviewer": self.reviewer or None,
            "reviewed_at": self.reviewed_at.isoformat() if self.reviewed_at else None,
            "reason": self.reason,
        }


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
