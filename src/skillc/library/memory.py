"""Skills that a program provides itself, for tests and for embedding."""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from skillc.errors import SkillNotFound
from skillc.library.descriptors import SkillDescriptor, SkillDocument, SkillFilter
from skillc.library.source import ALL, SkillSource
from skillc.skills import SkillId


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
            self._documents.setdefault(document.descriptor.id, document)

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        skills = (self._documents[skill_id].descriptor for skill_id in sorted(self._documents))
        return [skill for skill in skills if filter.matches(skill)]

    def bodies_at_hand(self) -> dict[str, str]:
        """Return every body, for searching."""
        return {str(skill_id): document.body for skill_id, document in self._documents.items()}

    async def load(self, skill_id: SkillId) -> SkillDocument:
        if skill_id not in self._documents:
            raise SkillNotFound(skill_id)
        return self._documents[skill_id]
