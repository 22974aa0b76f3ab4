"""Skills as programs see them: a descriptor without the text, a document with it, and collections.

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
        """Return the same skill as one of the repository `source_name`."""
        return SkillDescriptor(  # `replace` takes twice the time, and this runs for every skill
            self.id,
            self.name,
            self.description,
            self.scope,
            self.requires_capabilities,
            self.metadata,
            source_name,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the wire format of the HTTP API and of `browse_skills`."""
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
    """Which skills to list: those of a collection and below it, those that have all words of a query."""

    collection: str | None = None
    query: str | None = None

    def matches(self, skill: SkillDescriptor) -> bool:
        prefix = (self.collection or "").strip("/")
        if prefix and not f"{skill.collection}/".startswith(f"{prefix}/"):
            return False
        text = f"{skill.name} {skill.description}".casefold()
        return all(word in text for word in (self.query or "").casefold().split())


def derive_collections(
    skills: Iterable[SkillDescriptor], descriptions: Mapping[str, str] | None = None
) -> list[SkillCollection]:
    """Return every prefix of the skills' IDs with its recursive count, sorted [D26]."""
    counts: dict[str, int] = {}
    # Many skills share few collections, so each collection is split into its prefixes once.
    for path, count in Counter(skill.id.rpartition("/")[0] for skill in skills).items():
        while path:
            counts[path] = counts.get(path, 0) + count
            path = path.rpartition("/")[0]
    descriptions = descriptions or {}
    return [
        SkillCollection(path, descriptions.get(path) or f"{count} skills", count)
        for path, count in sorted(counts.items())
    ]


def read_descriptions(collections: Iterable[SkillCollection]) -> dict[str, str]:
    """Return the descriptions of collections by path, without those that only state the count."""
    return {c.path: c.description for c in collections if c.description != f"{c.count} skills"}
