"""Finding a skill whose tools are asked for, and how far its location is to be trusted [D46]."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skillc import paths
from skillc.errors import SkillNotFound
from skillc.library import GLOBAL, Skill, at_path, locate_skill
from skillc.tools.trust import TrustLevel

if TYPE_CHECKING:
    from skillc.errors import Diagnostic
    from skillc.library import CompositeSkillSource, SkillSource
    from skillc.skills import SkillId


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill's folder, and where it comes from in words; `skill` is what the library said of it, if asked.

    `path` is what decisions about it are kept under: its folder, or for a git checkout, whose folder
    is another with each commit, the repository's place in the cache.
    """

    skill_id: str
    directory: str
    level: TrustLevel
    origin: str
    path: str = ""
    skill: Skill | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "skill_id", str(self.skill_id))  # plain text, for whatever it is passed to
        object.__setattr__(self, "path", self.path or self.directory)

    @property
    def name(self) -> str:
        return self.skill_id.rpartition("/")[2]

    @property
    def called(self) -> str:
        """What a command takes for it: its ID, or the path of a folder from elsewhere."""
        return self.directory if self.skill is not None and not self.skill.is_stored else self.skill_id

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was to say on the way to it."""
        return self.skill.diagnostics if self.skill else ()

    def stored(self) -> Skill:
        """The same for the access log."""
        if self.skill is not None:
            return self.skill
        skill = at_path(self.directory)
        return Skill(self.skill_id, skill.source, skill.scope, skill.root, skill.is_stored)


def find_skill(name: str, cwd: str) -> FoundSkill:
    """The skill that a name, a path or an ID means in `cwd`, wherever any other command finds it."""
    skill = locate_skill(name, cwd)
    found = _of_repository(skill, cwd) if skill.repository else of_store(skill)
    return replace(found, skill=skill)


def _of_repository(skill: Skill, cwd: str) -> FoundSkill:
    """A skill that a repository has; its folder may be a copy."""
    from skillc.library import SkillsConfig, place, resolve_repositories  # most skills are in a store

    config = SkillsConfig.load(cwd)
    own = next((r for r in config.repositories if r.name == skill.repository), None)
    if skill.is_copy and (own is None or os.path.realpath(place(own, skill.name)) != skill.source):
        return of_store(skill)  # given as a path: a copy of what another project calls by that name
    library = resolve_repositories(config, next(paths.library_roots(cwd), None))
    source = next((named.source for named in library.sources if named.name == skill.repository), None)
    return of_source(skill.name, skill.source, source, skill.repository)


def of_store(skill: Skill) -> FoundSkill:
    """A skill of a store, or in a folder from elsewhere; only the home's own store is the user's."""
    bundled = _bundled(skill.name, skill.source)
    if bundled:
        return bundled
    if skill.is_copy:
        what = f"a copy from the repository '{skill.repository}'"
        return FoundSkill(skill.name, skill.source, TrustLevel.UNTRUSTED, f"{what} ({skill.source})")
    if skill.is_stored and skill.scope == GLOBAL:
        return FoundSkill(skill.name, skill.source, TrustLevel.USER, f"your own skills ({skill.source})")
    what = "a project's skills" if skill.is_stored else "a folder"
    return FoundSkill(skill.name, skill.source, TrustLevel.UNTRUSTED, f"{what} ({skill.source})")


async def of_library(source: CompositeSkillSource, skill_id: SkillId) -> FoundSkill:
    """A skill of the repositories; one that is not in a folder can be read, but has nothing to run."""
    winner = (await source.load(skill_id)).descriptor.source_name
    named = next(named for named in source.sources if named.name == winner)
    directory = await source.directory(skill_id)
    if directory is None:
        raise SkillNotFound(skill_id, f"the repository '{winner}' gives its text, but no folder to run from")
    return of_source(skill_id, os.path.realpath(directory), named.source, winner)


def of_source(skill_id: str, directory: str, source: SkillSource | None, repository: str) -> FoundSkill:
    """A skill in a folder that a source gave; what the source says of its scope counts for folders alone."""
    bundled = _bundled(skill_id, directory)
    if bundled:
        return bundled
    kind = getattr(source, "kind", "")
    if kind == "filesystem" and getattr(source, "scope", None) == "user":
        return FoundSkill(skill_id, directory, TrustLevel.USER, f"your own skills ({directory})")
    if kind == "embedded":  # another installed package brought it along
        return FoundSkill(skill_id, directory, TrustLevel.USER, f"an installed package ({directory})")
    path = ""
    config = getattr(source, "config", None)
    if kind == "git" and config is not None:
        path = os.path.join(config.directory(), *skill_id.split("/"))
        where = config.remote().url
    else:
        where = directory
    words = f"the {kind or 'other'} repository '{repository}' ({where})"
    return FoundSkill(skill_id, directory, TrustLevel.UNTRUSTED, words, path)


def _bundled(skill_id: str, directory: str) -> FoundSkill | None:
    """A skill that ships with skillc, by its place alone."""
    own = os.path.join(os.path.realpath(paths.embedded_skills()), "")
    if not directory.startswith(own):
        return None
    return FoundSkill(skill_id, directory, TrustLevel.BUNDLED, "ships with skillc")
