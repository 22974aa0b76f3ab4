"""Define what a source of skills is: a protocol that anything with three methods satisfies.

    class MySource:
        async def list(self, filter: SkillFilter = ALL) -> list[SkillDescriptor]: ...
        async def load(self, skill_id: SkillId) -> SkillDocument: ...
        async def collections(self) -> list[SkillCollection]: ...

`SkillSource` can also be inherited from; `collections` is then derived from the IDs.

A source may have more methods and attributes. They are looked up where they are used:

- `snapshot()`: the source as it is now, which looks at nothing twice (`skillc.library.snapshot`);
- `directory(skill_id)`, `directories()`: the folders of skills; `diagnostics()`;
- `parts(name)` or `bodies_at_hand()`: what can be searched; without them names and descriptions are;
- `kind`, `status`, `error`, `unused`, `quarantined`: the state that `skc repo list` shows;
- `refresh()`: fetch now and return whether something changed; `cached_count()`: the number of skills in the
  cache, or None.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from skillc.errors import Diagnostic
from skillc.index.meaning import find_by_meaning
from skillc.index.skills import FoundSkill, MemoryFolder, Searchable, skill_index
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    derive_collections,
)
from skillc.skills import SkillId

ALL: SkillFilter = SkillFilter()

# A cache of what is searched of sources that are no folders; an entry goes with its source.
_documents: WeakKeyDictionary[SkillSource, MemoryFolder] = WeakKeyDictionary()


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
    """Something to know about a source's skills: repaired, quarantined or shadowed."""

    path: str
    code: str
    severity: str
    message: str
    source_name: str = ""


async def find_in_source(
    source: SkillSource,
    task: str,
    limit: int,
    may_use: Callable[[str, tuple[str, ...]], bool],
    rerank: bool = True,
    tell: Callable[[Diagnostic], None] | None = None,
) -> builtins.list[FoundSkill]:
    """Return the skills of a source that fit a task, best first; raises EmptyQuery."""
    parts = await parts_of(source, "")
    if not rerank:
        return await asyncio.to_thread(skill_index().find, parts, task, limit, may_use)
    return await asyncio.to_thread(find_by_meaning, skill_index(), parts, task, limit, may_use, tell=tell)


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
        (str(s.id), s.name, s.description, tuple(s.requires_capabilities), bodies.get(s.id)) for s in skills
    ]

    def index() -> MemoryFolder:
        documents = _documents.get(source)
        if documents is None:
            documents = _documents[source] = MemoryFolder(skill_index())
        documents.replace(rows)
        return documents

    return [Searchable(name, await asyncio.to_thread(index))]
