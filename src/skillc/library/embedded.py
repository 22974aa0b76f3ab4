"""Skills that ship with skillc, and those that other installed distributions bring along.

A distribution declares a folder of skills in a package of its own:

    [project.entry-points."skillc.skills"]
    mine = "my_package.skills"
"""

from __future__ import annotations

import builtins
import logging
from collections.abc import Sequence
from importlib import metadata, util

from skillc import paths
from skillc.errors import SkillNotFound
from skillc.index.skills import Searchable
from skillc.library.descriptors import SkillDescriptor, SkillDocument, SkillFilter, SkillScope
from skillc.library.filesystem import FilesystemSkillSource, FilesystemSnapshot
from skillc.library.snapshot import SnapshotSource
from skillc.library.source import ALL, SkillSource
from skillc.skills import SkillId

GROUP = "skillc.skills"

log = logging.getLogger("skillc.library")


class EmbeddedSkillSource(SnapshotSource):
    """The lowest layer: always there, updated only with the packages it comes in. IDs are flat."""

    kind = "embedded"

    def __init__(self) -> None:
        folders = dict.fromkeys([paths.embedded_skills(), *_package_folders()])
        self.sources = [FilesystemSkillSource(folder, SkillScope.BUILTIN) for folder in folders]

    async def snapshot(self) -> SkillSource:
        """Return the skills of all folders as they are now."""
        return _EmbeddedSnapshot([await source.snapshot() for source in self.sources])

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """Return what can be searched here."""
        return [part for source in self.sources for part in await source.parts(name)]


class _EmbeddedSnapshot(SkillSource):
    """Several folders as one; of two skills with one ID the first counts."""

    def __init__(self, folders: Sequence[FilesystemSnapshot]) -> None:
        self._folders = folders

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        skills = {s.id: s for folder in reversed(self._folders) for s in await folder.list(filter)}
        return [skills[skill_id] for skill_id in sorted(skills)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        return await self._folder_of(skill_id).load(skill_id)

    async def directory(self, skill_id: SkillId) -> str:
        return await self._folder_of(skill_id).directory(skill_id)

    async def directories(self) -> dict[SkillId, str]:
        folders = [await folder.directories() for folder in reversed(self._folders)]
        return {skill_id: path for paths in folders for skill_id, path in paths.items()}

    def _folder_of(self, skill_id: SkillId) -> FilesystemSnapshot:
        for folder in self._folders:
            if skill_id in folder.skills:
                return folder
        raise SkillNotFound(skill_id)


def _package_folders() -> builtins.list[str]:
    """Return the folders that installed distributions declare; log those that can't be found."""
    folders: builtins.list[str] = []
    for entry in metadata.entry_points(group=GROUP):
        try:
            spec = util.find_spec(entry.module)
            folders += (spec.submodule_search_locations or []) if spec else []
        except Exception as error:  # finding a package imports its parents, which may do anything
            log.warning("skills of '%s' can't be found: %s", entry.name, error)
    return folders
