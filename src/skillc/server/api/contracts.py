"""Say what the bodies of requests and responses look like: frozen dataclasses, whose fields are the keys.

Where a result of the registry is sent as it is, its own class says so: `Token`, `Grant`, `Person` and others.
An object around one is written as `{"tokens": [Token]}`, where an operation is declared. A field that is
`optional()` is left out while it has its default. The OpenAPI document is made from these classes, and the
bodies of requests are checked against them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Literal, TypeVar

from pydantic import StrictBool, StrictInt

from skillc.contract import optional
from skillc.engine import SkillResolutionFailed, SkillsResolved
from skillc.registry import Role
from skillc.registry.model import APPROVED, Change, Permission, Skill, Token, TrustedPublisher
from skillc.versions import LATEST

T = TypeVar("T")


def view(kind: type[T], value: object, **others: Any) -> T:
    """Return a result with the fields that a value has by the same names, and with others."""
    names = [each.name for each in fields(kind) if each.name not in others]  # type: ignore[arg-type]
    return kind(**{name: getattr(value, name) for name in names}, **others)


# Skills


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSkill:
    """A skill at its latest version."""

    id: str
    name: str
    description: str
    scope: str
    metadata: dict[str, str]
    requires_capabilities: Sequence[str] = optional()
    source_name: str = optional()
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class SkillList:
    skills: list[ListedSkill]
    next_cursor: str = optional()


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillText(ListedSkill):
    """A skill with the body of its SKILL.md; other fields of its frontmatter are `extensions`."""

    body: str
    extensions: Mapping[str, Any] = optional()


@dataclass(frozen=True, slots=True)
class VersionEntry:
    version: str
    digest: str
    published_at: datetime
    published_by: str
    note: str
    yanked: str | None
    tags: list[str]
    status: Literal["approved", "pending", "rejected"] = optional(APPROVED)
    audit: Literal["none", "note", "review", "block"] = optional("")
    signature: Mapping[str, Any] | None = optional()  # its state, signer and kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEntry(VersionEntry):
    """A version that waits, with its skill."""

    id: str


def describe_versions(skill: Skill) -> list[VersionEntry]:
    """Return the versions of a skill, each with the tags that resolve to it."""
    tags = {tag: version for tag, version in skill.tags.items() if tag != LATEST}
    if skill.latest is not None:
        tags[LATEST] = skill.latest.version
    return [
        view(
            VersionEntry,
            each,
            tags=sorted(tag for tag, target in tags.items() if target == each.version),
            signature=each.signature or None,
        )
        for each in skill.versions
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What becomes of a version that waits; a rejection needs a reason."""

    approve: StrictBool
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class FileEntry:
    path: str
    size: int
    digest: str
    executable: bool


# Publishing


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReference:
    """A file that an earlier version of the skill has, by its digest: its bytes need not be sent."""

    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A version to publish. Files are in base64; SKILL.md is not among them. An ID is that of the path."""

    skill_md: str
    files: dict[str, str | FileReference] = field(default_factory=dict)
    executable: list[str] = field(default_factory=list)
    version: str | None = None
    tag: str | None = None
    note: str | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication(Replacement):
    """A version to publish. Files are in base64; SKILL.md is not among them."""

    id: str


@dataclass(frozen=True, slots=True)
class Published:
    """What was published. One with the status `pending` waits for a review."""

    id: str
    version: str
    digest: str
    status: Literal["pending"] = optional(APPROVED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Yank:
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TagTarget:
    version: str


TURN = {"system": str, "message": str, "events": [SkillsResolved | SkillResolutionFailed], "notices": [str]}


# Accounts


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """A token to make. `expires_in` is in seconds; null is a token that does not expire."""

    role: Role = Role.READER
    prefix: str = ""
    label: str = ""
    owner: str = ""
    expires_in: StrictInt | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenEntry(Token):
    """A token with what it may do now: what both its scope and the grants of its owner allow."""

    permissions: Sequence[Permission]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTokenEntry(TokenEntry):
    """A token with its secret, which is shown this once."""

    token: str


@dataclass(frozen=True, slots=True)
class ChangeList:
    changes: list[Change]
    next_since: int = optional()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublisherRequest:
    """A workflow to trust: for GitHub the name of its file, for GitLab the path of the configuration."""

    issuer: str
    repository: str
    workflow: str
    prefix: str
    ref: str = ""
    environment: str = ""


@dataclass(frozen=True, slots=True)
class PublisherEntry(TrustedPublisher):
    """A trusted publisher; its subject is a field like the others, so that schemas have it."""

    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MintRequest:
    """An ID token; `prefix` is what the token is for: a path at or below that of a trusted publisher."""

    token: str
    prefix: str = optional()


# Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageCount:
    day: str
    skill: str
    command: str
    count: StrictInt
    file: str = optional("")
    section: str = optional("")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageMiss:
    day: str
    count: StrictInt
    skill: str = optional("")
    query: str = optional("")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageBatch:
    """What a machine counted on some days; `machine` is 32 random hexadecimal digits."""

    machine: str
    counts: list[UsageCount] = field(default_factory=list)
    misses: list[UsageMiss] = field(default_factory=list)
