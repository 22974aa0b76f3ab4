"""Skills as programs see them: what one is called and for, its text, and how many belong together.

>>> email = SkillDescriptor(SkillId("extraction/email"), description="Extract entities from emails")
>>> email.name, email.collection
('email', 'extraction')
>>> SkillFilter(collection="extract").matches(email)
False
>>> derive_collections([email])
[SkillCollection(path='extraction', description='1 skills', count=1)]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from skillc.skills import SkillId


class SkillScope(StrEnum):
    """Where a skill comes from, as far as trust is concerned."""

    BUILTIN = "builtin"
    PROJECT = "project"
    USER = "user"
    REMOTE = "remote"


@dataclass(frozen=True, slots=True)
class SkillDescriptor:
    """A skill without its body. `source_name` is the repository it came from, set by the composite.

    `name` is the ID's last segment unless it is given.
    """

    id: SkillId
    name: str = ""
    description: str = ""
    scope: SkillScope = SkillScope.PROJECT
    requires_capabilities: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    source_name: str = ""

    def __post_init__(self) -> None:
        if type(self.id) is not SkillId:
            object.__setattr__(self, "id", SkillId(self.id))
        if not self.name:
            object.__setattr__(self, "name", self.id.name)

    @property
    def collection(self) -> str:
        return self.id.collection

    def named(self, source_name: str) -> SkillDescriptor:
        """The same, from the repository called `source_name`."""
        return SkillDescriptor(  # `replace` takes twice the time, for each of many
            self.id,
            self.name,
            self.description,
            self.scope,
            self.requires_capabilities,
            self.metadata,
            source_name,
        )

    def as_json(self) -> dict[str, Any]:
        """The wire format of the HTTP API and of `browse_skills`."""
        fields: dict[str, Any] = {
            "id": str(self.id),
            "name": self.name,
            "description": self.description,
            "scope": self.scope.value,
            "metadata": dict(self.metadata),
        }
        if self.requires_capabilities:
            fields["requires_capabilities"] = list(self.requires_capabilities)
        if self.source_name:
            fields["source_name"] = self.source_name
        return fields


@dataclass(frozen=True, slots=True)
class SkillDocument:
    """A skill with its body, SKILL.md without frontmatter. `extensions` are its other fields."""

    descriptor: SkillDescriptor
    body: str
    extensions: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SkillCollection:
    """A prefix that skills share, with all skills below it counted."""

    path: str
    description: str
    count: int


@dataclass(frozen=True, slots=True)
class SkillFilter:
    """Which skills to list: those of a collection and below it, those that hold all words of a query."""

    collection: str | None = None
    query: str | None = None

    def matches(self, skill: SkillDescriptor) -> bool:
        within = (self.collection or "").strip("/")
        if within and not f"{skill.collection}/".startswith(f"{within}/"):
            return False
        text = f"{skill.name} {skill.description}".casefold()
        return all(word in text for word in (self.query or "").casefold().split())


def derive_collections(
    skills: Iterable[SkillDescriptor], descriptions: Mapping[str, str] | None = None
) -> list[SkillCollection]:
    """Every prefix of the skills' IDs with its recursive count, sorted [D26]."""
    counts: dict[str, int] = {}
    # Many skills share few collections, whose prefixes are taken apart once.
    for path, count in Counter(skill.id.rpartition("/")[0] for skill in skills).items():
        while path:
            counts[path] = counts.get(path, 0) + count
            path = path.rpartition("/")[0]
    told = descriptions or {}
    return [
        SkillCollection(path, told.get(path) or f"{count} skills", count)
        for path, count in sorted(counts.items())
    ]
