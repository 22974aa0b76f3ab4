"""The engine: from a source of skills to what a prompt gets and what an agent's tools return."""

from __future__ import annotations

import asyncio
import builtins
import codecs
import logging
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from skillc.contract import KEY, Result
from skillc.engine import inventory
from skillc.engine.browse import MAX_ENTRIES, make_page
from skillc.errors import FileNotFound, SkillcError, SkillNotFound, warning
from skillc.index.skills import FoundSkills, Scope
from skillc.library import repositories, sources
from skillc.library.sources import SkillCollection, SkillDescriptor, SkillScope
from skillc.skills import SkillId, list_files, open_inside
from skillc.spelling import suggest

MAX_READ = 256 * 1024  # bytes of a file that enter a context

log = logging.getLogger("skillc.engine")


@dataclass(frozen=True, slots=True)
class ResolvedSkill(Result):
    """A skill ready for injection; `byte_size` counts the rendered block."""

    id: SkillId
    name: str
    rendered_body: str = field(metadata={KEY: "body"})
    byte_size: int


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Limits of an engine and what its agent may use.

    `allow` and `deny` are IDs or collections; without `allow` everything is allowed, and `deny` wins.
    `inventory_budget` is in characters. Unless `enabled`, there are no skills at all, and the prompt
    does not mention them. `suggest`: the error for an unknown ID names similar ones.
    """

    max_injection_bytes: int = inventory.MAX_INJECTION_BYTES
    inventory_threshold: int = inventory.INVENTORY_THRESHOLD
    inventory_budget: int | None = None
    capabilities: frozenset[str] = frozenset()
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    enabled: bool = True
    suggest: bool = True

    @classmethod
    def from_config(cls, config: repositories.SkillsConfig, capabilities: Iterable[str] = ()) -> Self:
        """Return what skills.toml says; `capabilities` are there besides those that it names."""
        words = frozenset((*config.capabilities, *capabilities))
        limits = (config.max_injection_bytes, config.inventory_threshold)
        return cls(*limits, capabilities=words, enabled=config.enabled)

    def __post_init__(self) -> None:
        for name in ("capabilities", "allow", "deny"):
            if isinstance(getattr(self, name), str):  # its letters would be taken for names
                raise TypeError(f"{name} must be several texts, such as ('pdf',), not one")
        for name in ("max_injection_bytes", "inventory_threshold", "inventory_budget"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 0):
                raise ValueError(f"{name} must be a whole number from 0")


class SkillEngine(Protocol):
    """The methods that a turn and an agent need: any object that has them is an engine.

    An engine may have more of what `DefaultSkillEngine` has: an agent's tool that needs another method
    exists if the engine has it; `snapshot` is called once for each request, `options.enabled` switches off.
    """

    async def inventory_section(self, active: Iterable[str] = ()) -> str:
        """Return the block of the system prompt that lists the skills; `active` ones are in it already."""
        ...

    async def resolve_and_render(self, ids: Iterable[str]) -> builtins.list[ResolvedSkill]:
        """Return skills as blocks for injection, in order; raises SkillNotFound."""
        ...

    async def collections(self) -> builtins.list[SkillCollection]: ...

    async def list_skills(
        self, filter: sources.SkillFilter = sources.ALL
    ) -> builtins.list[SkillDescriptor]: ...


class DefaultSkillEngine:
    """Inventory, browsing, loading and rendering over one source.

    Skills that need a capability the agent lacks, or that it may not use, do not exist for it.
    Nothing is cached between calls: each works on a new snapshot of the source, so it sees skills that are
    new, changed or gone as soon as the source does. Folders are looked at every time; git and HTTP
    repositories when their refresh interval has passed. One engine can be used from several threads
    and event loops.
    """

    def __init__(self, source: sources.SkillSource, options: EngineOptions = EngineOptions()) -> None:
        self.source = source
        self.options = options

    def snapshot(self) -> Self:
        """Return this engine over a snapshot of its source, for all calls of one request."""
        engine = copy(self)
        engine.source = sources.snapshot_of(self.source)
        return engine

    async def list_skills(self, filter: sources.SkillFilter = sources.ALL) -> builtins.list[SkillDescriptor]:
        """Return the skills this agent can use, by ID."""
        skills = await self.source.list(filter) if self.options.enabled else []
        if self.options.allow is not None or self.options.deny:
            skills = [skill for skill in skills if self._is_allowed(skill.id)]
        usable = [s for s in skills if not (s.requires_capabilities and self._missing_capability(s))]
        return sorted(usable, key=lambda skill: skill.id)

    async def diagnostics(self) -> builtins.list[sources.SourceDiagnostic]:
        """Return what the source says of its skills, and which are hidden for want of a capability [D58]."""
        snapshot = sources.snapshot_of(self.source)
        diagnostics = await snapshot.diagnostics() or []
        try:
            skills = await snapshot.list()
        except SkillcError:
            skills = []  # among the diagnostics
        for skill in skills:
            need = self._missing_capability(skill)
            if need and self._is_allowed(skill.id):
                hidden = warning("W023", need)
                fields = (str(skill.id), hidden.code, "warning", hidden.message, skill.source_name)
                diagnostics.append(sources.SourceDiagnostic(*fields))
        return diagnostics

    async def collections(self) -> builtins.list[SkillCollection]:
        """Return the collections of those skills, as the source describes them."""
        engine = self.snapshot()
        return await engine._collections_of(await engine.list_skills())

    async def _collections_of(self, skills: Sequence[SkillDescriptor]) -> builtins.list[SkillCollection]:
        """Count over these very skills, so that lists and counts never disagree."""
        collections = await self.source.collections() if any(skill.collection for skill in skills) else []
        return sources.derive_collections(skills, sources.read_descriptions(collections))

    async def inventory_section(self, active: Iterable[str] = ()) -> str:
        """Return the `<available_skills>` block: the same text as long as the skills are the same."""
        if not self.options.enabled:
            return ""
        engine = self.snapshot()
        skills = await engine.list_skills()
        ids, budget = frozenset(active), self.options.inventory_budget
        if self.mode(skills) == "flat":
            if budget is None and len(skills) > self.options.inventory_threshold:
                budget = inventory.FLAT_BUDGET
            return inventory.flat_inventory(skills, ids, budget)
        collections = await engine._collections_of(skills)
        at_root = sum(1 for skill in skills if not skill.collection)
        preloads = [skill for skill in skills if skill.id in ids]
        return inventory.collections_inventory(collections, at_root, preloads, budget)

    def mode(self, skills: Sequence[SkillDescriptor]) -> str:
        """Return how the inventory shows these skills: `flat` or `collections` [D59]."""
        threshold = self.options.inventory_threshold
        count = sum(skill.scope is not SkillScope.BUILTIN for skill in skills)
        is_flat = count <= threshold or not any(skill.collection for skill in skills)
        return "flat" if is_flat and threshold else "collections"

    async def browse(
        self,
        path: str = "",
        query: str | None = None,
        cursor: str | None = None,
        *,
        limit: int = MAX_ENTRIES,
        repository: str = "",
        collection: str = "",
    ) -> dict[str, Any]:
        """Return what the `browse_skills` tool shows; a query is global and wins over a path.

        A query may be limited to a collection, and all to a repository. An answer has at most `limit`
        collections and skills; `cursor` leads to those that follow. Raises InvalidOption for a cursor that
        is not from the answer before.
        """
        engine = self.snapshot()
        is_search = bool(query and query.strip())
        filter = sources.SkillFilter(collection or None, query) if is_search else sources.ALL
        skills = await engine.list_skills(filter)
        if repository:
            skills = [skill for skill in skills if skill.source_name == repository]
        place = f"{repository}:{collection}" if repository or collection else ""
        if is_search:
            return make_page({"type": "search", "query": query}, None, skills, cursor, limit, place)
        path = path.strip("/")
        below = [c for c in await engine._collections_of(skills) if c.path.rpartition("/")[0] == path]
        direct = [skill for skill in skills if skill.collection == path]
        return make_page({"type": "listing", "path": path}, below, direct, cursor, limit, place)

    async def find(
        self,
        task: str,
        limit: int = 10,
        *,
        repository: str = "",
        collection: str = "",
        capability: str = "",
        tag: str = "",
        every: bool = False,
    ) -> FoundSkills:
        """Return the skills that fit a task, described in any number of words, best first, with reasons.

        They can be limited to those of a repository, those of a collection and below, those that need a
        capability, and those with a tag. A word that no skill has is replaced by the nearest that some have;
        `corrections` of the result says so. With `every`, copies are results of their own.
        Raises EmptyQuery for a task without words, InvalidOption for a repository that is not there.
        """
        scope = Scope(repository, collection, capability, tag, every)
        if not self.options.enabled:
            return FoundSkills()

        def may_use(skill_id: str, capabilities: tuple[str, ...]) -> bool:
            return self._is_allowed(skill_id) and all(c in self.options.capabilities for c in capabilities)

        return await sources.find_in_source(self.source, task, limit, may_use, scope)

    async def load(self, skill_id: str) -> sources.SkillDocument:
        """Return a skill with its body; raises InvalidSkillId or SkillNotFound."""
        own_id = SkillId(skill_id)
        if not self.options.enabled:
            raise SkillNotFound(own_id, "skills are switched off")
        engine, document = self.snapshot(), None
        if self._is_allowed(own_id):
            try:
                document = await engine.source.load(own_id)
            except SkillNotFound as error:
                if error.reason:
                    raise
        if document is None:
            raise await engine._not_found(own_id)
        need = self._missing_capability(document.descriptor)
        if need:
            raise SkillNotFound(own_id, f"it needs the capability '{need}', which is not available")
        return document

    async def _not_found(self, skill_id: SkillId) -> SkillNotFound:
        """Return the error for an ID, with similar ones that this agent can use."""
        ids: builtins.list[str] = []
        if self.options.suggest:
            try:
                ids = [str(skill.id) for skill in await self.list_skills()]
            except Exception:  # of any source; the skill does not exist in any case
                log.debug("no names like '%s'", skill_id, exc_info=True)
        return SkillNotFound(skill_id, nearest=await asyncio.to_thread(suggest, skill_id, ids))

    async def resolve_and_render(self, ids: Iterable[str]) -> builtins.list[ResolvedSkill]:
        """Return skills as blocks for injection, in order; the first failure is raised."""
        engine, skills = self.snapshot(), []
        for skill_id in ids:
            document = await engine.load(skill_id)
            block = inventory.render_skill(document, self.options.max_injection_bytes)
            skill = document.descriptor
            skills.append(ResolvedSkill(skill.id, skill.name, block, len(block.encode("utf-8", "replace"))))
        return skills

    async def files(self, skill_id: str) -> builtins.list[str]:
        """Return the paths of a skill's files; none if its source has no folder for it."""
        directory = await self._directory(skill_id)
        return [file.name for file in list_files(directory)] if directory else []

    async def read_file(self, skill_id: str, path: str) -> str:
        """Return a file of a skill as text, cut at MAX_READ; raises PathEscapes or FileNotFound."""
        directory = await self._directory(skill_id)
        if directory is None:
            raise FileNotFound(path)
        try:
            descriptor = open_inside(directory, path)
        except OSError:
            raise FileNotFound(path) from None
        with open(descriptor, "rb") as file:
            data = file.read(MAX_READ + 1)
        if len(data) <= MAX_READ:
            return data.decode("utf-8", "replace")
        decoder = codecs.getincrementaldecoder("utf-8")("replace")  # drops half a character at the end
        return f"{decoder.decode(data[:MAX_READ])}\n[truncated]"

    async def directories(self) -> dict[SkillId, str]:
        """Return the folders of the skills this agent can use, by ID; without those that have none here."""
        engine = self.snapshot()
        skills = {skill.id for skill in await engine.list_skills()}
        folders = await sources.snapshot_of(engine.source).directories() if skills else {}
        return {skill_id: folder for skill_id, folder in folders.items() if skill_id in skills}

    async def _directory(self, skill_id: str) -> str | None:
        engine = self.snapshot()
        document = await engine.load(skill_id)
        return await sources.snapshot_of(engine.source).directory(document.descriptor.id)

    def _is_allowed(self, skill_id: str) -> bool:
        allow, deny = self.options.allow, self.options.deny
        return not _covers(deny, skill_id) and (allow is None or _covers(allow, skill_id))

    def _missing_capability(self, skill: SkillDescriptor) -> str | None:
        """Return the first capability that a skill needs and the agent lacks."""
        return next((c for c in skill.requires_capabilities if c not in self.options.capabilities), None)


def _covers(paths: Sequence[str], skill_id: str) -> bool:
    """Return whether an ID is one of `paths` or in one of them."""
    return any(skill_id == path or skill_id.startswith(f"{path.rstrip('/')}/") for path in paths)
