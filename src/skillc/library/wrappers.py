"""Sources around a source: with fewer skills, below a prefix, under other names. They compose.

PrefixedSkillSource(FilteredSkillSource(source, keep), "vendor")

What is said of the source (its kind and state, what was repaired) and the files of its skills are
those of the source within.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from skillc.errors import SkillNotFound
from skillc.index.skills import Searchable
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    derive_collections,
)
from skillc.library.find import parts_of
from skillc.library.source import ALL, SkillSource
from skillc.skills import SkillId


class _Wrapper(SkillSource):
    """A source within; how it is doing is how the wrapper is doing."""

    def __init__(self, source: SkillSource) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name in ("kind", "status", "error", "unused", "quarantined", "diagnostics"):
            return getattr(self._source, name)
        raise AttributeError(name)

    async def directory(self, skill_id: SkillId) -> str | None:
        """The folder of a skill, where the source within has one."""
        await self.load(skill_id)  # one that is hidden has none
        locate = getattr(self._source, "directory", None)
        return await locate(self._within(skill_id)) if locate else None

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """What can be searched of the source within, under our names."""
        names = {str(self._within(skill.id)): str(skill.id) for skill in await self.list()}
        return [part.rename(names) for part in await parts_of(self._source, name)]

    async def collections(self) -> builtins.list[SkillCollection]:
        """Counted here, described by the source within."""
        told = await self._source.collections()
        words = {c.path: c.description for c in told if c.description != f"{c.count} skills"}
        return derive_collections(await self.list(), words)

    def _within(self, skill_id: SkillId) -> SkillId:
        """What the source within calls a skill of ours."""
        return skill_id


class FilteredSkillSource(_Wrapper):
    """The skills of a source that a condition holds for."""

    def __init__(self, source: SkillSource, keep: Callable[[SkillDescriptor], bool]) -> None:
        super().__init__(source)
        self._keep = keep

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        return [skill for skill in await self._source.list(filter) if self._keep(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        document = await self._source.load(skill_id)
        if not self._keep(document.descriptor):
            raise SkillNotFound(skill_id)
        return document


class RenamedSkillSource(_Wrapper):
    """The skills of a source under other IDs: `names` maps theirs to ours, the rest stay as they are.

    One whose own ID another was given is not there; of two that were given one ID, the last counts.
    """

    def __init__(self, source: SkillSource, names: Mapping[str, str]) -> None:
        super().__init__(source)
        self._theirs = {SkillId(ours): SkillId(theirs) for theirs, ours in names.items()}
        self._ours = {theirs: ours for ours, theirs in self._theirs.items()}
        self._gone = {SkillId(theirs) for theirs in names} | set(self._theirs)

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        theirs = await self._source.list()
        skills = [self._renamed(s) for s in theirs if s.id in self._ours or s.id not in self._gone]
        return sorted((skill for skill in skills if filter.matches(skill)), key=lambda skill: skill.id)

    async def load(self, skill_id: SkillId) -> SkillDocument:
        if skill_id in self._gone and skill_id not in self._theirs:
            raise SkillNotFound(skill_id)  # it goes by another name now
        document = await self._source.load(self._within(skill_id))
        return replace(document, descriptor=self._renamed(document.descriptor))

    def _within(self, skill_id: SkillId) -> SkillId:
        return self._theirs.get(skill_id, skill_id)

    def _renamed(self, skill: SkillDescriptor) -> SkillDescriptor:
        ours = self._ours.get(skill.id)
        return replace(skill, id=ours, name=ours.name) if ours else skill


class PrefixedSkillSource(_Wrapper):
    """The skills of a source below a collection of their own."""

    def __init__(self, source: SkillSource, prefix: str) -> None:
        super().__init__(source)
        self._prefix = SkillId(prefix)

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        skills = [self._below(skill) for skill in await self._source.list()]
        return [skill for skill in skills if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        if not skill_id.startswith(f"{self._prefix}/"):
            raise SkillNotFound(skill_id)
        document = await self._source.load(self._within(skill_id))
        return replace(document, descriptor=self._below(document.descriptor))

    async def collections(self) -> builtins.list[SkillCollection]:
        inner = [replace(c, path=f"{self._prefix}/{c.path}") for c in await self._source.collections()]
        all_of_them = derive_collections(await self.list())
        return [c for c in all_of_them if f"{self._prefix}/".startswith(f"{c.path}/")] + inner

    def _within(self, skill_id: SkillId) -> SkillId:
        return SkillId(skill_id[len(self._prefix) + 1 :])

    def _below(self, skill: SkillDescriptor) -> SkillDescriptor:
        return replace(skill, id=SkillId(f"{self._prefix}/{skill.id}"))
