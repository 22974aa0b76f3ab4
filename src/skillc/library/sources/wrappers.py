"""Sources around a source: a snapshot of it, and views with fewer skills, below a prefix, under other names.

A request asks its source several things: which skills there are, the text of some, the folder of one.
All answers come from one snapshot, so they agree, and each folder is walked once. Views compose:

    PrefixedSkillSource(FilteredSkillSource(source, keep), "vendor")

Their kind, state, diagnostics and the files of skills are those of the inner source.
"""

from __future__ import annotations

import asyncio
import builtins
from collections import defaultdict
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Self

from skillc.errors import SkillNotFound
from skillc.index.skills import Searchable
from skillc.library.sources import source as base
from skillc.skills import SkillId


def snapshot_of(source: base.SkillSource) -> SourceSnapshot:
    """Return a snapshot of a source, taken at the first question; of a snapshot, return itself."""
    return source if isinstance(source, SourceSnapshot) else SourceSnapshot(source)


class _Questions(base.SkillSource):
    """The questions that a request may ask; `_ask` answers them, with None if a source has no such method."""

    async def _ask(self, question: str, *arguments: object) -> Any:
        raise NotImplementedError

    async def list(self, filter: base.SkillFilter = base.ALL) -> builtins.list[base.SkillDescriptor]:
        return [*await self._ask("list", filter)]

    async def load(self, skill_id: SkillId) -> base.SkillDocument:
        document: base.SkillDocument = await self._ask("load", skill_id)
        return document

    async def collections(self) -> builtins.list[base.SkillCollection]:
        """Return the collections; a source without that question has those of its skills' IDs."""
        answer = await self._ask("collections")
        return base.derive_collections(await self.list()) if answer is None else [*answer]

    async def directory(self, skill_id: SkillId) -> str | None:
        """Return the folder of a skill; None if its source has no folders."""
        directory: str | None = await self._ask("directory", skill_id)
        return directory

    async def directories(self) -> dict[SkillId, str]:
        """Return the folders of all skills that are at hand, by ID."""
        return {**(await self._ask("directories") or {})}

    async def diagnostics(self) -> builtins.list[base.SourceDiagnostic]:
        """Return diagnostics of skills that were repaired, quarantined or shadowed."""
        return [*(await self._ask("diagnostics") or ())]


class SourceSnapshot(_Questions):
    """A source (`origin`) as it was at one moment. It belongs to one request and its event loop.

    A source with a method `snapshot` answers through what that returns, taken once. Any other source is
    asked each question at most once. A question that fails may be asked again.
    """

    def __init__(self, origin: base.SkillSource) -> None:
        self.origin = origin
        self._answers: dict[tuple[object, ...], Any] = {}
        self._locks: defaultdict[tuple[object, ...], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """Return what can be searched; a search looks at folders itself."""
        return await base.parts_of(self.origin, name)

    async def _ask(self, question: str, *arguments: object) -> Any:
        if not hasattr(self.origin, "snapshot"):
            return await self._ask_once(question, *arguments)
        return await _call(await self._ask_once("snapshot"), question, *arguments)

    async def _ask_once(self, question: str, *arguments: object) -> Any:
        key = (question, *arguments)
        async with self._locks[key]:
            if key not in self._answers:
                self._answers[key] = await _call(self.origin, question, *arguments)
        return self._answers[key]


class SnapshotSource(_Questions):
    """A base for sources that define `snapshot` alone: every question is answered by a new one."""

    async def snapshot(self) -> base.SkillSource:
        """Return this source as it is now: an object that answers the questions that apply to it."""
        raise NotImplementedError

    async def _ask(self, question: str, *arguments: object) -> Any:
        return await _call(await self.snapshot(), question, *arguments)


async def _call(source: base.SkillSource, question: str, *arguments: object) -> Any:
    method = getattr(source, question, None)
    return await method(*arguments) if method else None


class _Wrapper(base.SkillSource):
    """A source around another one, whose state is its own."""

    def __init__(self, source: base.SkillSource) -> None:
        base.require_source(source)
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name in ("kind", "status", "error", "unused", "quarantined", "partial", "diagnostics"):
            return getattr(self._source, name)
        raise AttributeError(name)

    async def snapshot(self) -> Self:
        """Return the same wrapper around a snapshot of the inner source."""
        wrapper = copy(self)
        wrapper._source = snapshot_of(self._source)
        return wrapper

    async def list(self, filter: base.SkillFilter = base.ALL) -> builtins.list[base.SkillDescriptor]:
        skills = [ours for skill in await self._source.list() if (ours := self._translate(skill))]
        return sorted((skill for skill in skills if filter.matches(skill)), key=lambda skill: skill.id)

    async def load(self, skill_id: SkillId) -> base.SkillDocument:
        document = await self._source.load(self._inner_id(skill_id))
        ours = self._translate(document.descriptor)
        if ours is None:
            raise SkillNotFound(skill_id)
        return replace(document, descriptor=ours)

    async def directory(self, skill_id: SkillId) -> str | None:
        """Return the folder of a skill, where the inner source has one."""
        wrapper = await self.snapshot()
        await wrapper.load(skill_id)  # a hidden skill has no folder
        return await snapshot_of(wrapper._source).directory(self._inner_id(skill_id))

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """Return what can be searched of the inner source, under our names."""
        names = {str(self._inner_id(skill.id)): str(skill.id) for skill in await self.list()}
        return [part.rename(names) for part in await base.parts_of(self._source, name)]

    async def collections(self) -> builtins.list[base.SkillCollection]:
        """Count the collections here, and describe them as the inner source does."""
        wrapper = await self.snapshot()
        descriptions = base.read_descriptions(await wrapper._source.collections())
        return base.derive_collections(await wrapper.list(), descriptions)

    def _translate(self, skill: base.SkillDescriptor) -> base.SkillDescriptor | None:
        """Return a skill of the inner source as ours; None if it is hidden."""
        raise NotImplementedError

    def _inner_id(self, skill_id: SkillId) -> SkillId:
        """Return what the inner source calls one of our skills; raises SkillNotFound."""
        return skill_id


class FilteredSkillSource(_Wrapper):
    """The skills of a source that satisfy a condition."""

    def __init__(self, source: base.SkillSource, keep: Callable[[base.SkillDescriptor], bool]) -> None:
        super().__init__(source)
        if not callable(keep):
            raise TypeError(f"keep must be a function, not {type(keep).__name__}")
        self._keep = keep

    def _translate(self, skill: base.SkillDescriptor) -> base.SkillDescriptor | None:
        return skill if self._keep(skill) else None


class RenamedSkillSource(_Wrapper):
    """The skills of a source under other IDs: `names` maps inner IDs to ours, the rest stay as they are.

    A skill whose own ID was given to another is hidden; of two that were given one ID, the last counts.
    """

    def __init__(self, source: base.SkillSource, names: Mapping[str, str]) -> None:
        super().__init__(source)
        if not isinstance(names, Mapping):
            raise TypeError(f"names must map IDs to IDs, not be {type(names).__name__}")
        self._inner = {SkillId(ours): SkillId(inner) for inner, ours in names.items()}
        self._ours = {inner: ours for ours, inner in self._inner.items()}
        self._aliases = {SkillId(inner) for inner in names} | set(self._inner)

    def _translate(self, skill: base.SkillDescriptor) -> base.SkillDescriptor | None:
        if skill.id in self._ours:
            ours = self._ours[skill.id]
            return replace(skill, id=ours, name=ours.name)
        return None if skill.id in self._aliases else skill

    def _inner_id(self, skill_id: SkillId) -> SkillId:
        if skill_id in self._aliases and skill_id not in self._inner:
            raise SkillNotFound(skill_id)  # it has another name here
        return self._inner.get(skill_id, skill_id)


class PrefixedSkillSource(_Wrapper):
    """The skills of a source below a collection of their own."""

    def __init__(self, source: base.SkillSource, prefix: str) -> None:
        super().__init__(source)
        self._prefix = SkillId(prefix)

    async def collections(self) -> builtins.list[base.SkillCollection]:
        wrapper = await self.snapshot()
        inner = await wrapper._source.collections()
        above = base.derive_collections(await wrapper.list())
        return [
            *(c for c in above if f"{self._prefix}/".startswith(f"{c.path}/")),
            *(replace(c, path=f"{self._prefix}/{c.path}") for c in inner),
        ]

    def _translate(self, skill: base.SkillDescriptor) -> base.SkillDescriptor:
        return replace(skill, id=SkillId(f"{self._prefix}/{skill.id}"))

    def _inner_id(self, skill_id: SkillId) -> SkillId:
        if not skill_id.startswith(f"{self._prefix}/"):
            raise SkillNotFound(skill_id)
        return SkillId(skill_id[len(self._prefix) + 1 :])
