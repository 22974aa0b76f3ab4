"""The skills that ship with skillc, or with other installed distributions.

A distribution declares a folder of skills in a package of its own:

    [project.entry-points."skillc.skills"]
    mine = "my_package.skills"
"""

from __future__ import annotations

import builtins
import logging
from importlib import metadata, util

from skillc import paths
from skillc.library.sources.composite import CompositeSkillSource
from skillc.library.sources.filesystem import FilesystemSkillSource
from skillc.library.sources.source import SkillScope

EMBEDDED = "embedded"  # the name of the skills that come with skc
ENTRY_POINTS = "skillc.skills"

log = logging.getLogger("skillc.library")


class EmbeddedSkillSource(CompositeSkillSource):
    """The lowest layer: always there, updated only with the packages it comes in. IDs are flat."""

    kind = "embedded"

    def __init__(self) -> None:
        folders = dict.fromkeys([paths.embedded_skills(), *_package_folders()])
        super().__init__(FilesystemSkillSource(folder, SkillScope.BUILTIN) for folder in folders)

    @property
    def partial(self) -> str:
        sources = (member.source for member in self.sources)
        return next((note for source in sources if (note := getattr(source, "partial", ""))), "")


def _package_folders() -> builtins.list[str]:
    """Return the folders that installed distributions declare; log those that can't be found."""
    folders: builtins.list[str] = []
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        try:
            spec = util.find_spec(entry.module)
            folders += (spec.submodule_search_locations or []) if spec else []
        except Exception as error:  # finding a package imports its parents, which may do anything
            log.warning("skills of '%s' can't be found: %s", entry.name, error)
    return folders
