"""A skill whose tools can run: its tools with their templates, its folder and its trust level [D46]."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skillc import paths
from skillc.errors import Diagnostic, InvalidTool, ToolNotFound, warning
from skillc.library import GLOBAL, Skill, at_path, import_origin, locate_skill
from skillc.skills import to_segment
from skillc.skills.tools import (
    CommandTemplate,
    InvalidTemplate,
    ParameterDefinition,
    SkillDefinition,
    parse_template,
    read_definition,
)
from skillc.spelling import did_you_mean
from skillc.tools.trust import TrustLevel

if TYPE_CHECKING:
    from skillc.library.sources import SkillSource


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a skill. `skill_id` qualifies its name: no other skill has it [D47]."""

    skill_id: str
    name: str
    description: str
    parameters: tuple[ParameterDefinition, ...]
    template: CommandTemplate
    skill: SkillDefinition

    @property
    def qualified(self) -> str:
        """`skill.tool`, the name on every surface that takes a dot."""
        return f"{self.skill_id.replace('/', '.')}.{self.name}"


@dataclass(frozen=True, slots=True)
class ExecutableSkill:
    """A skill and its tools; none for an ordinary one."""

    definition: SkillDefinition
    tools: tuple[Tool, ...]
    diagnostics: tuple[Diagnostic, ...]

    def tool(self, name: str, mode: str = "Global") -> Tool:
        """Return one tool; raises ToolNotFound, or InvalidTool for a skill without any [D34]."""
        skill = self.definition
        if not self.tools:
            raise InvalidTool(skill.name, "no tool definitions found")
        match = next((tool for tool in self.tools if name in (tool.name, tool.qualified)), None)
        if match is None:
            names = [tool.name for tool in self.tools]
            near = did_you_mean(name, names)
            raise ToolNotFound(name, skill.name, f"{f'{near} ' if near else ''}there are {', '.join(names)}")
        if not skill.offered_in(mode):
            raise ToolNotFound(name, skill.name, f"it is for mode {' or '.join(skill.modes)}, not {mode}")
        return match


def load_executable(directory: str, skill_id: str) -> ExecutableSkill:
    """Return the skill in a folder with its tools; raises InvalidTool (E060) for an invalid definition."""
    skill = read_definition(directory, skill_id.rpartition("/")[2])
    label = "/".join(to_segment(segment) for segment in skill_id.split("/"))
    tools: list[Tool] = []
    diagnostics = list(skill.diagnostics)
    for tool in skill.tools:
        try:
            template = parse_template(tool.command, tool.parameters)
        except InvalidTemplate as error:
            raise InvalidTool(skill.name, f"tool '{tool.name}': {error}") from None
        diagnostics += [warning("W066", tool.name, text).at(paths.SKILL_FILE) for text in template.oddities]
        tools.append(Tool(label, tool.name, tool.description, tool.parameters, template, skill))
    return ExecutableSkill(skill, tuple(tools), tuple(diagnostics))


@dataclass(frozen=True, slots=True)
class SkillLocation:
    """A skill's folder, its trust level, and its origin in words.

    Decisions about it are stored under `path`: its folder, or for a git checkout, whose folder changes
    with each commit, the repository's place in the cache.
    """

    skill_id: str
    directory: str
    level: TrustLevel
    origin: str
    path: str = ""
    skill: Skill | None = None  # as the library located it

    def __post_init__(self) -> None:
        object.__setattr__(self, "skill_id", str(self.skill_id))  # plain text, not a SkillId
        object.__setattr__(self, "path", self.path or self.directory)

    @property
    def name(self) -> str:
        return self.skill_id.rpartition("/")[2]

    @property
    def argument(self) -> str:
        """The ID, or the path of a folder from elsewhere, by which commands find it."""
        return self.directory if self.skill is not None and not self.skill.is_stored else self.skill_id

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The diagnostics from locating it."""
        return self.skill.diagnostics if self.skill else ()

    def library_skill(self) -> Skill:
        """Return the skill as the library knows it, for the access log."""
        if self.skill is not None:
            return self.skill
        skill = at_path(self.directory)
        return Skill(self.skill_id, skill.source, skill.scope, skill.root, skill.is_stored)


def find_skill(name: str, cwd: str) -> SkillLocation:
    """Return the skill that a name, a path or an ID means in `cwd`, as every other command finds it."""
    skill = locate_skill(name, cwd)
    location = _locate_in_repository(skill, cwd) if skill.repository else locate_in_store(skill)
    return replace(location, skill=skill)


def _locate_in_repository(skill: Skill, cwd: str) -> SkillLocation:
    """Return a skill that a repository has; its folder may be a copy."""
    # Most skills are in a store, and these load every kind of repository.
    from skillc.library import copy_path
    from skillc.library.repositories import SkillsConfig, resolve_repositories

    config = SkillsConfig.load(cwd)
    own = next((r for r in config.repositories if r.name == skill.repository), None)
    if skill.is_copy and (own is None or os.path.realpath(copy_path(own, skill.name)) != skill.source):
        return locate_in_store(skill)  # named by its path: a copy from another project's repository
    library = resolve_repositories(config, next(paths.library_roots(cwd), None))
    source = next((part.source for part in library.sources if part.name == skill.repository), None)
    return locate_in_source(skill.name, skill.source, source, skill.repository)


def locate_in_store(skill: Skill) -> SkillLocation:
    """Return a skill of a store, or in a folder from elsewhere.

    Only the home's own store is the user's, but for what was imported into it.
    """
    location = _locate_in_package(skill.name, skill.source) or _locate_import(skill.name, skill.source)
    if location:
        return location
    level = TrustLevel.UNTRUSTED
    if skill.is_copy:
        origin = f"a copy from the repository '{skill.repository}'"
    elif skill.is_stored and skill.scope == GLOBAL:
        level, origin = TrustLevel.USER, "your own skills"
    else:
        origin = "a project's skills" if skill.is_stored else "a folder"
    return SkillLocation(skill.name, skill.source, level, f"{origin} ({skill.source})")


def locate_in_source(
    skill_id: str, directory: str, source: SkillSource | None, repository: str
) -> SkillLocation:
    """Return a skill in a folder of a source; the scope that a source claims counts for folders alone."""
    if location := _locate_in_package(skill_id, directory) or _locate_import(skill_id, directory):
        return location
    kind = getattr(source, "kind", "")
    if kind == "filesystem" and getattr(source, "scope", None) == "user":
        return SkillLocation(skill_id, directory, TrustLevel.USER, f"your own skills ({directory})")
    if kind == "embedded":  # of another installed package
        return SkillLocation(skill_id, directory, TrustLevel.USER, f"an installed package ({directory})")
    path, where = "", directory
    config = getattr(source, "config", None)
    if kind == "git" and config is not None:
        path = os.path.join(config.directory(), *skill_id.split("/"))
        where = config.remote().url
    origin = f"the {kind or 'other'} repository '{repository}' ({where})"
    return SkillLocation(skill_id, directory, TrustLevel.UNTRUSTED, origin, path)


def _locate_in_package(skill_id: str, directory: str) -> SkillLocation | None:
    """Return a skill that ships with skillc, by its place alone."""
    own = os.path.join(os.path.realpath(paths.embedded_skills()), "")
    if not directory.startswith(own):
        return None
    return SkillLocation(skill_id, directory, TrustLevel.BUNDLED, "ships with skillc")


def _locate_import(skill_id: str, directory: str) -> SkillLocation | None:
    """Return a skill that was imported into the home's store: as untrusted as the folder it came from."""
    folder = import_origin(directory)
    if folder is None:
        return None
    origin = f"imported from {folder} ({directory})"
    return SkillLocation(skill_id, directory, TrustLevel.UNTRUSTED, origin)
