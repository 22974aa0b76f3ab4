"""Sources in memory, and sources that fail."""

from __future__ import annotations

import builtins

from skillc.library.sources.source import (
    ALL,
    InMemorySkillSource,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillSource,
)
from skillc.skills import SkillId


def memory(**skills: str) -> InMemorySkillSource:
    return InMemorySkillSource(
        SkillDocument(
            SkillDescriptor(SkillId(name.replace("__", "/").replace("_", "-")), description=text),
            f"Body: {text}",
        )
        for name, text in skills.items()
    )


class Broken(SkillSource):
    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        raise ConnectionError("the cable is out")

    async def load(self, skill_id: SkillId) -> SkillDocument:
        raise ConnectionError("the cable is out")
