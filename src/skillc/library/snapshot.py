"""What a request sees of a source: a snapshot, passed on as a value.

A request asks its source several things: which skills there are, the text of some, the folder of one.
All answers come from one snapshot, so they agree, and each folder is walked once.
"""

from __future__ import annotations

import asyncio
import builtins
from collections import defaultdict
from typing import Any

from skillc.index.skills import Searchable
from skillc.library.source import (
    ALL,
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillSource,
    SourceDiagnostic,
    parts_of,
)
from skillc.skills import SkillId


def snapshot_of(source: SkillSource) -> SourceSnapshot:
    """Return a snapshot of a source, taken at the first question; of a snapshot, return itself."""
    return source if isinstance(source, SourceSnapshot) else SourceSnapshot(source)


class _Questions(SkillSource):
    """The questions that a request may ask; `_ask` answers them, with None if a source has no such method."""

    async def _ask(self, question: str, *arguments: object) -> Any:
        raise NotImplementedError

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        return [*await self._ask("list", filter)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        document: SkillDocument = await self._ask("load", skill_id)
        return document

    async def collections(self) -> builtins.list[SkillCollection]:
        return [*await self._ask("collections")]

    async def directory(self, skill_id: SkillId) -> str | None:
        """Return the folder of a skill; None if its source has no folders."""
        directory: str | None = await self._ask("directory", skill_id)
        return directory

    async def directories(self) -> dict[SkillId, str]:
        """Return the folders of all skills that are at hand, by ID."""
        return {**(await self._ask("directories") or {})}

    async def diagnostics(self) -> builtins.list[SourceDiagnostic]:
        """Return what was repaired, quarantined or shadowed, with the reason."""
        return [*(await self._ask("diagnostics") or ())]


class SourceSnapshot(_Questions):
    """A source (`origin`) as it was at one moment. It belongs to one request and its event loop.

    A source with a method `snapshot` answers through what that returns, taken once. Any other source is
    asked each question at most once. A question that fails may be asked again.
    """

    def __init__(self, origin: SkillSource) -> None:
        self.origin = origin
        self._answers: dict[tuple[object, ...], Any] = {}
        self._locks: defaultdict[tuple[object, ...], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """Return what can be searched; a search looks at folders itself."""
        return await parts_of(self.origin, name)

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

    async def snapshot(self) -> SkillSource:
        """Return this source as it is now: an object that answers the questions that apply to it."""
        raise NotImplementedError

    async def _ask(self, question: str, *arguments: object) -> Any:
        return await _call(await self.snapshot(), question, *arguments)


async def _call(source: SkillSource, question: str, *arguments: object) -> Any:
    method = getattr(source, question, None)
    return await method(*arguments) if method else None
