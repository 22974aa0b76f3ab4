"""Show a registry as one caller sees it: as a source of versions, and as a `SkillSource`."""

from __future__ import annotations

import asyncio
import builtins
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from skillc.errors import SkillNotFound
from skillc.library import sources
from skillc.library.sources import ALL, SkillDescriptor, SkillDocument, SkillFilter, SkillScope, SkillSource
from skillc.paths import SKILL_FILES
from skillc.registry.model.model import Skill, StoredFile, Version
from skillc.skills import SkillId

if TYPE_CHECKING:  # a reader makes sources of itself
    from skillc.registry.model.access import Caller
    from skillc.registry.reader import Reader

FIRST_PAGE, PAGE = 50, 500  # skills that are read at once: a list may end early


class VersionSource(Protocol):
    """Skills with all their versions."""

    def skills(self, prefix: str = "", after: str = "") -> Iterator[Skill]:
        """Yield the skills below a prefix and behind an ID, by ID."""
        ...

    def skill(self, skill_id: str) -> Skill:
        """Return one skill; raises SkillNotFound."""
        ...

    def files(self, version: Version) -> tuple[StoredFile, ...]: ...

    def read_file(self, version: Version, path: str) -> bytes:
        """Return the bytes of a file; raises FileNotFound."""
        ...


class CallerSource:
    """A registry as one caller sees it, with the versions that `allows` returns true for."""

    def __init__(
        self, registry: Reader, caller: Caller, allows: Callable[[Version], bool] = lambda version: True
    ) -> None:
        self._registry = registry
        self._caller = caller
        self._allows = allows

    def skills(self, prefix: str = "", after: str = "") -> Iterator[Skill]:
        limit = FIRST_PAGE
        while page := self._registry.skills(self._caller, prefix, after, limit):
            yield from (view for skill in page if (view := skill.filter(self._allows)).versions)
            after, limit = page[-1].id, PAGE

    def skill(self, skill_id: str) -> Skill:
        skill = self._registry.skill(self._caller, skill_id).filter(self._allows)
        if not skill.versions:
            raise SkillNotFound(skill_id, "a policy hides it")
        return skill

    def files(self, version: Version) -> tuple[StoredFile, ...]:
        self._require(version)
        return self._registry.files(self._caller, version)

    def read_file(self, version: Version, path: str) -> bytes:
        self._require(version)
        return self._registry.read_file(self._caller, version, path)

    def _require(self, version: Version) -> None:
        if not self._allows(version):
            raise SkillNotFound(f"{version.skill}@{version.version}", "a policy hides it")


class RegistrySkillSource(SkillSource):
    """The latest version of each skill that a source of versions has. Yanked ones are not chosen."""

    kind = "registry"

    def __init__(self, source: VersionSource) -> None:
        self._source = source

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        return await asyncio.to_thread(self._list, filter)

    async def load(self, skill_id: SkillId) -> SkillDocument:
        return await asyncio.to_thread(self._load, skill_id)

    def _list(self, filter: SkillFilter) -> builtins.list[SkillDescriptor]:
        versions = (skill.latest for skill in self._source.skills())
        skills = (describe_version(version) for version in versions if version is not None)
        return [skill for skill in skills if filter.matches(skill)]

    def _load(self, skill_id: SkillId) -> SkillDocument:
        version = self._source.skill(skill_id).latest
        if version is None:
            raise SkillNotFound(skill_id, "all its versions are yanked")
        return read_document(self._source, version)


def read_document(source: VersionSource, version: Version) -> SkillDocument:
    """Return a version with the text of its SKILL.md."""
    names = {file.path for file in source.files(version)}
    data = source.read_file(version, next(name for name in SKILL_FILES if name in names))
    return sources.read_document(describe_version(version), data)


def describe_version(version: Version) -> SkillDescriptor:
    """Return a version as lists of skills show it."""
    fields = version.frontmatter
    needs = fields.get("requires_capabilities")
    metadata: Any = fields.get("metadata")
    return SkillDescriptor(
        version.skill,
        description=str(fields.get("description", "")),
        scope=SkillScope.REMOTE,
        requires_capabilities=tuple(map(str, needs)) if isinstance(needs, list) else (),
        metadata=(
            {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
            if isinstance(metadata, dict)
            else {}
        ),
    )
