"""Sources around a source: with fewer skills, below a prefix, under other names. They compose.

PrefixedSkillSource(FilteredSkillSource(source, keep), "vendor")
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace

from skillc.errors import SkillNotFound
from skillc.library.descriptors import SkillCollection, SkillDescriptor, SkillDocument, SkillFilter
from skillc.library.sources import ALL, SkillSource
from skillc.skills import SkillId


class FilteredSkillSource(SkillSource):
    """The skills of a source that a condition holds for."""

    def __init__(self, source: SkillSource, keep: Callable[[SkillDescriptor], bool]) -> None:
        self._source = source
        self._keep = keep

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        return [skill for skill in await self._source.list(filter) if self._keep(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        document = await self._source.load(skill_id)
        if not self._keep(document.descriptor):
            raise SkillNotFound(skill_id)
        return document


class RenamedSkillSource(SkillSource):
    """The skills of a source under other IDs: `names` maps theirs to ours, the rest stay as they are."""

    def __init__(self, source: SkillSource, names: Mapping[str, str]) -> None:
        self._source = source
        self._ours = {SkillId(theirs): SkillId(ours) for theirs, ours in names.items()}
        self._theirs = {ours: theirs for theirs, ours in self._ours.items()}

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        skills = [self._renamed(skill) for skill in await self._source.list()]
        return sorted((skill for skill in skills if filter.matches(skill)), key=lambda skill: skill.id)

    async def load(self, skill_id: SkillId) -> SkillDocument:
        theirs = self._theirs.get(skill_id)
        if theirs is None and skill_id in self._ours:
            raise SkillNotFound(skill_id)  # it goes by another name now
        document = await self._source.load(theirs or skill_id)
        return replace(document, descriptor=self._renamed(document.descriptor))

    def _renamed(self, skill: SkillDescriptor) -> SkillDescriptor:
        ours = self._ours.get(skill.id)
        return replace(skill, id=ours, name=ours.name) if ours else skill


class PrefixedSkillSource(SkillSource):
    """The skills of a source below a collection of their own."""

    def __init__(self, source: SkillSource, prefix: str) -> None:
        self._source = source
        self._prefix = SkillId(prefix)

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        skills = [self._below(skill) for skill in await self._source.list()]
        return [skill for skill in skills if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        if not skill_id.startswith(f"{self._prefix}/"):
            raise SkillNotFound(skill_id)
        document = await self._source.load(SkillId(skill_id[len(self._prefix) + 1 :]))
        return replace(document, descriptor=self._below(document.descriptor))

    async def collections(self) -> builtins.list[SkillCollection]:
        inner = [replace(c, path=f"{self._prefix}/{c.path}") for c in await self._source.collections()]
        own = [c for c in await super().collections() if f"{self._prefix}/".startswith(f"{c.path}/")]
        return own + inner

    def _below(self, skill: SkillDescriptor) -> SkillDescriptor:
        return replace(skill, id=SkillId(f"{self._prefix}/{skill.id}"))
