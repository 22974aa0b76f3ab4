"""Define what a source of skills is: a protocol that anything with three methods satisfies.

    class MySource:
        async def list(self, filter: SkillFilter = ALL) -> list[SkillDescriptor]: ...
        async def load(self, skill_id: SkillId) -> SkillDocument: ...
        async def collections(self) -> list[SkillCollection]: ...

`SkillSource` can also be inherited from; `collections` is then derived from the IDs.

A source may have more methods and attributes. They are looked up where they are used:

- `snapshot()`: the source as it is now, which looks at nothing twice (`skillc.library.sources.wrappers`);
- `directory(skill_id)`, `directories()`: the folders of skills; `diagnostics()`;
- `parts(name)` or `bodies_at_hand()`: what can be searched; without them names and descriptions are;
- `kind`, `status`, `error`, `unused`, `quarantined`: the state that `skc repo list` shows; `partial`: how
  much was read, if the time (DEADLINE) was not enough for all;
- `refresh()`: fetch now and return whether something changed; `cached_count()`: the number of skills in the
  cache, or None.

>>> email = SkillDescriptor(SkillId("extraction/email"), description="Extract entities from emails")
>>> email.name, email.collection
('email', 'extraction')
>>> SkillFilter(collection="extract").matches(email)
False
>>> derive_collections([email])
[SkillCollection(path='extraction', description='1 skills', count=1)]
"""

from __future__ import annotations

import asyncio
import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from skillc.errors import SkillNotFound
from skillc.index.skills import EVERYTHING, FoundSkills, Scope, Searchable, skill_index
from skillc.library.sources.virtual import MemoryFolder
from skillc.remotes import require_text
from skillc.skills import SkillId
from skillc.skills.document import parse, read_metadata, read_tags


def require_source(value: object) -> None:
    """Raise TypeError where an argument is not a source; one without `collections` has those of its IDs."""
    has_methods = all(callable(getattr(value, name, None)) for name in ("list", "load"))
    if isinstance(value, type) or not has_methods:
        name = value.__name__ if isinstance(value, type) else type(value).__name__
        raise TypeError(f"a source has list and load; {name} has not")


# The time at which an answer comes too late; None where there is time without end.
DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)

# A cache of what is searched of sources that are no folders; an entry goes with its source.
_documents: WeakKeyDictionary[SkillSource, MemoryFolder] = WeakKeyDictionary()


class SkillScope(StrEnum):
    """The origin of a skill, as far as trust is concerned."""

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


_OWN_FIELDS = ("name", "description", "metadata", "requires_capabilities")  # that a descriptor has


def read_document(descriptor: SkillDescriptor, data: bytes) -> SkillDocument:
    """Return a skill from the bytes of its SKILL.md."""
    document = parse(data)
    body = document.data[document.body :].decode("utf-8", "replace").lstrip("\r\n")
    fields = read_metadata(document, descriptor.name).fields
    return SkillDocument(descriptor, body, {k: v for k, v in fields.items() if k not in _OWN_FIELDS})


@dataclass(frozen=True, slots=True)
class SkillCollection:
    """A prefix that skills share, with all skills below it counted."""

    path: str
    description: str
    count: int


@dataclass(frozen=True, slots=True)
class SkillFilter:
    """A filter of skills: those of a collection and below it, those that have all words of a query."""

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


ALL: SkillFilter = SkillFilter()


@runtime_checkable
class SkillSource(Protocol):
    """Somewhere skills come from."""

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        """Return the skills that pass a filter, by ID."""
        ...

    async def load(self, skill_id: SkillId) -> SkillDocument:
        """Return one skill with its body; raises SkillNotFound."""
        ...

    async def collections(self) -> builtins.list[SkillCollection]:
        """Return the collections, by path."""
        return derive_collections(await self.list())


@dataclass(frozen=True, slots=True)
class SourceDiagnostic:
    """A diagnostic about a source's skills: repaired, quarantined or shadowed."""

    path: str
    code: str
    severity: str
    message: str
    source_name: str = ""


class InMemorySkillSource(SkillSource):
    """A source of documents that are passed to it; of two with one ID the first counts.

    >>> import asyncio
    >>> greeter = SkillDocument(SkillDescriptor(SkillId("test/greeter")), "Say hello.")
    >>> source = InMemorySkillSource([greeter])
    >>> [str(skill.id) for skill in asyncio.run(source.list())]
    ['test/greeter']
    """

    def __init__(self, documents: Iterable[SkillDocument]) -> None:
        self._documents: dict[SkillId, SkillDocument] = {}
        for document in documents:
            if not isinstance(document, SkillDocument):
                raise TypeError(f"documents must be SkillDocument, not {type(document).__name__}")
            require_text(document.body, f"the body of '{document.descriptor.id}'")
            self._documents.setdefault(document.descriptor.id, document)

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        skills = (self._documents[skill_id].descriptor for skill_id in sorted(self._documents))
        return [skill for skill in skills if filter.matches(skill)]

    def bodies_at_hand(self) -> dict[str, str]:
        return {str(skill_id): document.body for skill_id, document in self._documents.items()}

    async def load(self, skill_id: SkillId) -> SkillDocument:
        if skill_id not in self._documents:
            raise SkillNotFound(skill_id)
        return self._documents[skill_id]


async def find_in_source(
    source: SkillSource,
    task: str,
    limit: int,
    may_use: Callable[[str, tuple[str, ...]], bool],
    scope: Scope = EVERYTHING,
) -> FoundSkills:
    """Return the skills of a source that fit a task, best first; raises EmptyQuery."""
    parts = await parts_of(source, "")
    return await asyncio.to_thread(skill_index().find, parts, task, limit, may_use, scope)


async def parts_of(source: SkillSource, name: str) -> builtins.list[Searchable]:
    """Return what can be searched of a source, under the name of its repository.

    Folders are searched whole, of other sources what is at hand: no body is fetched for a search.
    """
    own_parts = getattr(source, "parts", None)
    if own_parts is not None:
        parts: builtins.list[Searchable] = await own_parts(name)
        return parts
    skills = await source.list()
    bodies_at_hand = getattr(source, "bodies_at_hand", None)
    bodies: Mapping[str, str] = bodies_at_hand() if bodies_at_hand else {}
    rows = [
        (
            str(skill.id),
            skill.name,
            skill.description,
            (*skill.requires_capabilities,),
            read_tags({"metadata": skill.metadata}),
            bodies.get(skill.id),
        )
        for skill in skills
    ]

    def index() -> MemoryFolder:
        documents = _documents.get(source)
        if documents is None:
            documents = _documents[source] = MemoryFolder(skill_index())
        documents.replace(rows)
        return documents

    return [Searchable(name, await asyncio.to_thread(index))]
