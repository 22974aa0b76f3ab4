"""The engine: from a source of skills to what a prompt gets and what an agent's tools return."""

from __future__ import annotations

import asyncio
import builtins
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from skillc.engine import inventory
from skillc.engine.resources import file_names, read_text
from skillc.errors import FileNotFound, SkillNotFound
from skillc.index.skills import FoundSkill
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    derive_collections,
)
from skillc.library.find import find_skills
from skillc.library.looking import one_look
from skillc.library.source import ALL, SkillSource
from skillc.skills import SkillId
from skillc.text import suggest

log = logging.getLogger("skillc.engine")


@dataclass(frozen=True, slots=True)
class ResolvedSkill:
    """A skill ready for injection; `byte_size` counts the rendered block."""

    id: SkillId
    name: str
    rendered_body: str
    byte_size: int

    def as_json(self) -> dict[str, Any]:
        return {
            "id": str(self.id),
            "name": self.name,
            "body": self.rendered_body,
            "byte_size": self.byte_size,
        }


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Limits of an engine and what its agent may use.

    `allow` and `deny` are IDs or collections; without `allow` everything is allowed, and `deny` wins.
    `inventory_budget` is in characters. Where it is not `enabled` there are no skills at all, and
    nothing is said of them. `suggest`: an ID that is not there is answered with those like it.
    """

    max_injection_bytes: int = inventory.MAX_INJECTION_BYTES
    inventory_threshold: int = inventory.INVENTORY_THRESHOLD
    inventory_budget: int | None = None
    capabilities: frozenset[str] = frozenset()
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    enabled: bool = True
    suggest: bool = True


class DefaultSkillEngine:
    """Inventory, browsing, loading and rendering over one source.

    Skills that need a capability the agent has not, or that it may not use, are not there for it.
    Nothing is kept between calls: each asks the source, so that skills that are new, changed or gone
    are seen by the next one, as soon as the source sees them. Folders are looked at every time; git
    and HTTP repositories when their refresh interval has passed. One engine can be used from several
    threads and event loops.
    """

    def __init__(self, source: SkillSource, options: EngineOptions = EngineOptions()) -> None:
        self.source = source
        self.options = options

    async def list_skills(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        """The skills this agent can use, by ID."""
        skills = await self.source.list(filter) if self.options.enabled else []
        if self.options.allow is not None or self.options.deny:
            skills = [skill for skill in skills if self._allowed(skill.id)]
        mine = [skill for skill in skills if not (skill.requires_capabilities and self._missing(skill))]
        return sorted(mine, key=lambda skill: skill.id)

    async def collections(self) -> builtins.list[SkillCollection]:
        """The collections of those skills, with the source's words for them."""
        with one_look():
            return await self._collections_of(await self.list_skills())

    async def _collections_of(self, skills: Sequence[SkillDescriptor]) -> builtins.list[SkillCollection]:
        """Counted over these very skills, so that lists and counts never disagree."""
        told = await self.source.collections() if any(skill.collection for skill in skills) else []
        return derive_collections(skills, {c.path: c.description for c in told if not _is_a_count(c)})

    async def inventory_section(self, active: Iterable[str] = ()) -> str:
        """The `<available_skills>` block: the same text as long as the skills are the same."""
        if not self.options.enabled:
            return ""
        with one_look():
            return await self._inventory(active)

    async def _inventory(self, active: Iterable[str]) -> str:
        skills = await self.list_skills()
        loaded, budget = frozenset(active), self.options.inventory_budget
        if self.mode(skills) == "flat":
            return inventory.flat_inventory(skills, loaded, budget)
        collections = await self._collections_of(skills)
        at_root = sum(1 for skill in skills if not skill.collection)
        chosen = [skill for skill in skills if skill.id in loaded]
        return inventory.collections_inventory(collections, at_root, chosen, budget)

    def mode(self, skills: Sequence[SkillDescriptor]) -> str:
        """How the inventory shows so many skills: `flat` or `collections`."""
        return "flat" if len(skills) <= self.options.inventory_threshold else "collections"

    async def browse(self, path: str = "", query: str | None = None) -> dict[str, Any]:
        """What the `browse_skills` tool returns; a query is global and wins over a path."""
        with one_look():
            return await self._browse(path, query)

    async def _browse(self, path: str, query: str | None) -> dict[str, Any]:
        if query and query.strip():
            found = await self.list_skills(SkillFilter(query=query))
            return {"type": "search", "query": query, "skills": [skill.as_json() for skill in found]}
        where = path.strip("/")
        skills = await self.list_skills()
        below = [c for c in await self._collections_of(skills) if c.path.rpartition("/")[0] == where]
        return {
            "type": "listing",
            "path": where,
            "subcollections": [
                {"path": c.path, "description": c.description, "count": c.count} for c in below
            ],
            "skills": [skill.as_json() for skill in skills if skill.collection == where],
        }

    async def find(self, task: str, limit: int = 10, *, rerank: bool = True) -> builtins.list[FoundSkill]:
        """The skills that fit a task, described in any number of words, best first, each with the reasons.

        Raises EmptyQuery where the task has no words. `rerank` matters where the extra of that name is.
        """
        return (
            await find_skills(self.source, task, limit, self._may_use, rerank) if self.options.enabled else []
        )

    async def load(self, skill_id: str) -> SkillDocument:
        """A skill with its body; raises InvalidSkillId or SkillNotFound."""
        wanted = SkillId(skill_id)
        if not self.options.enabled:
            raise SkillNotFound(wanted, "skills are switched off")
        document = None
        if self._allowed(wanted):
            try:
                document = await self.source.load(wanted)
            except SkillNotFound as error:
                if error.reason:
                    raise
        if document is None:
            raise await self._not_found(wanted)
        missing = self._missing(document.descriptor)
        if missing:
            raise SkillNotFound(wanted, f"it needs the capability '{missing}', which is not available")
        return document

    async def _not_found(self, skill_id: SkillId) -> SkillNotFound:
        """The error for an ID, with those that this agent can use and that are like it."""
        known: builtins.list[str] = []
        if self.options.suggest:
            try:
                known = [str(skill.id) for skill in await self.list_skills()]
            except Exception:  # of any source; what is asked for is not there in any case
                log.debug("no names like '%s'", skill_id, exc_info=True)
        return SkillNotFound(skill_id, nearest=await asyncio.to_thread(suggest, skill_id, known))

    async def resolve_and_render(self, ids: Iterable[str]) -> builtins.list[ResolvedSkill]:
        """Skills as blocks for injection, in order; the first that fails is raised."""
        resolved = []
        for skill_id in ids:
            document = await self.load(skill_id)
            block = inventory.render_skill(document, self.options.max_injection_bytes)
            skill = document.descriptor
            resolved.append(ResolvedSkill(skill.id, skill.name, block, len(block.encode("utf-8", "replace"))))
        return resolved

    async def files(self, skill_id: str) -> builtins.list[str]:
        """The paths of a skill's files; none where its source has no folder for it."""
        directory = await self._directory(skill_id)
        return file_names(directory) if directory else []

    async def read_file(self, skill_id: str, path: str) -> str:
        """A file of a skill as text; raises PathEscapes or FileNotFound."""
        directory = await self._directory(skill_id)
        if directory is None:
            raise FileNotFound(path)
        return read_text(directory, path)

    async def _directory(self, skill_id: str) -> str | None:
        document = await self.load(skill_id)
        locate = getattr(self.source, "directory", None)
        return await locate(document.descriptor.id) if locate else None

    def _may_use(self, skill_id: str, needs: tuple[str, ...]) -> bool:
        return self._allowed(skill_id) and all(c in self.options.capabilities for c in needs)

    def _allowed(self, skill_id: str) -> bool:
        allow, deny = self.options.allow, self.options.deny
        return not _covers(deny, skill_id) and (allow is None or _covers(allow, skill_id))

    def _missing(self, skill: SkillDescriptor) -> str | None:
        """The first capability that a skill needs and the agent has not."""
        return next((c for c in skill.requires_capabilities if c not in self.options.capabilities), None)


def _covers(paths: Sequence[str], skill_id: str) -> bool:
    """Whether an ID is one of `paths` or in one of them."""
    return any(skill_id == path or skill_id.startswith(f"{path.rstrip('/')}/") for path in paths)


def _is_a_count(collection: SkillCollection) -> bool:
    return collection.description == f"{collection.count} skills"
