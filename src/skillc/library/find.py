"""What of a source can be searched: folders whole, of other sources what is at hand.

A source that has a method `parts` says so itself. Of any other the names and descriptions are searched, and
the bodies that its method `bodies_at_hand` gives: none is fetched for the purpose.
"""

from __future__ import annotations

import asyncio
import builtins
from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from skillc.index.meaning import rerank as reranking
from skillc.index.skills import FoundSkill, MemoryFolder, Searchable, skill_index
from skillc.library.descriptors import SkillDescriptor
from skillc.library.source import SkillSource

_held: WeakKeyDictionary[SkillSource, MemoryFolder] = WeakKeyDictionary()  # a cache: gone with the sources


async def find_skills(
    source: SkillSource,
    task: str,
    limit: int,
    may_use: Callable[[str, tuple[str, ...]], bool],
    rerank: bool = True,
) -> builtins.list[FoundSkill]:
    """The skills of a source that fit a task, best first; raises EmptyQuery for a task without words."""
    parts = await parts_of(source, "")
    if not rerank:
        return await asyncio.to_thread(skill_index().find, parts, task, limit, may_use)
    return await asyncio.to_thread(reranking.find, skill_index(), parts, task, limit, may_use)


async def parts_of(source: SkillSource, name: str) -> builtins.list[Searchable]:
    """What can be searched of a source, under the name of its repository."""
    ask = getattr(source, "parts", None)
    if ask is not None:
        parts: builtins.list[Searchable] = await ask(name)
        return parts
    skills = await source.list()
    bodies_at_hand = getattr(source, "bodies_at_hand", None)
    bodies: Mapping[str, str] = bodies_at_hand() if bodies_at_hand else {}
    return [Searchable(name, await asyncio.to_thread(_documents, source, skills, bodies))]


def _documents(
    source: SkillSource, skills: builtins.list[SkillDescriptor], bodies: Mapping[str, str]
) -> MemoryFolder:
    documents = _held.get(source)
    if documents is None:
        documents = _held[source] = MemoryFolder(skill_index())
    documents.replace(
        [(str(s.id), s.name, s.description, tuple(s.requires_capabilities), bodies.get(s.id)) for s in skills]
    )
    return documents
