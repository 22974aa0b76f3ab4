"""What a source of skills is: a protocol that anything with three methods satisfies.

    class MySource:
        async def list(self, filter: SkillFilter = ALL) -> list[SkillDescriptor]: ...
        async def load(self, skill_id: SkillId) -> SkillDocument: ...
        async def collections(self) -> list[SkillCollection]: ...

`SkillSource` can also be inherited from; `collections` is then derived from the IDs.

A source may have more, which is looked for where it is used: `directory(skill_id)`, a skill's folder;
`diagnostics()`; `status`, `error` and `quarantined`; and, if it caches, `refresh()`, which revalidates now
and returns whether something changed, and `cached_count()`, the number of skills in the cache, or None.
"""

from __future__ import annotations

import builtins
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    derive_collections,
)
from skillc.skills import SkillId

ALL = SkillFilter()


@runtime_checkable
class SkillSource(Protocol):
    """Somewhere skills come from."""

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        """The skills that pass a filter, by ID."""
        ...

    async def load(self, skill_id: SkillId) -> SkillDocument:
        """One skill with its body; raises SkillNotFound."""
        ...

    async def collections(self) -> builtins.list[SkillCollection]:
        """The collections, by path."""
        return derive_collections(await self.list())


@dataclass(frozen=True, slots=True)
class SourceDiagnostic:
    """Something to know about a source's skills: repaired, quarantined or shadowed."""

    path: str
    code: str
    severity: str
    message: str
    source_name: str = ""
