"""Skills that ship with skillc, and those that other installed distributions bring along.

A distribution declares a folder of skills in a package of its own:

    [project.entry-points."skillc.skills"]
    mine = "my_package.skills"
"""

from __future__ import annotations

import builtins
import logging
from importlib import metadata, util

from skillc import paths
from skillc.errors import SkillNotFound
from skillc.index.skills import Searchable
from skillc.library.descriptors import SkillDescriptor, SkillDocument, SkillFilter, SkillScope
from skillc.library.filesystem import FilesystemSkillSource
from skillc.library.source import ALL, SkillSource
from skillc.skills import SkillId

GROUP = "skillc.skills"

log = logging.getLogger("skillc.library")


class EmbeddedSkillSource(SkillSource):
    """The lowest layer: always there, never updated but with the packages it comes in. IDs are flat."""

    kind = "embedded"

    def __init__(self) -> None:
        folders = dict.fromkeys([paths.embedded_skills(), *_declared()])
        self.sources = [FilesystemSkillSource(folder, SkillScope.BUILTIN) for folder in folders]

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        found: dict[SkillId, SkillDescriptor] = {}
        for source in self.sources:
            for skill in await source.list(filter):
                found.setdefault(skill.id, skill)
        return [found[skill_id] for skill_id in sorted(found)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        for source in self.sources:
            try:
                return await source.load(skill_id)
            except SkillNotFound:
                continue
        raise SkillNotFound(skill_id)

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """What can be searched here."""
        return [part for source in self.sources for part in await source.parts(name)]

    async def directory(self, skill_id: SkillId) -> str:
        """The folder of a skill."""
        for source in self.sources:
            try:
                return await source.directory(skill_id)
            except SkillNotFound:
                continue
        raise SkillNotFound(skill_id)

    async def directories(self) -> dict[SkillId, str]:
        """The folders of all skills."""
        found: dict[SkillId, str] = {}
        for source in reversed(self.sources):
            found |= await source.directories()
        return found


def _declared() -> builtins.list[str]:
    """The folders that installed distributions declare; one that can't be found is logged."""
    folders: builtins.list[str] = []
    for entry in metadata.entry_points(group=GROUP):
        try:
            spec = util.find_spec(entry.module)
            folders += (spec.submodule_search_locations or []) if spec else []
        except Exception as error:  # finding a package imports those around it, which may do anything
            log.warning("skills of '%s' can't be found: %s", entry.name, error)
    return folders
