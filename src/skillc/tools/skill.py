"""A skill's tools, ready to be offered and run: definitions with their templates parsed."""

from __future__ import annotations

from dataclasses import dataclass

from skillc.errors import Diagnostic, InvalidTool, ToolNotFound, warning
from skillc.paths import SKILL_FILE
from skillc.skills import (
    CommandTemplate,
    InvalidTemplate,
    ParameterDefinition,
    SkillDefinition,
    parse_template,
    read_definition,
    to_segment,
)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a skill. `skill_id` is what qualifies its name: no other skill has it [D47]."""

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
        """One tool; raises ToolNotFound where there is none of that name, or not in this mode.

        Asked for one, a skill without any is an executable skill that lacks them: InvalidTool [D34].
        """
        skill = self.definition
        if not self.tools:
            raise InvalidTool(skill.name, "no tool definitions found")
        found = next((tool for tool in self.tools if name in (tool.name, tool.qualified)), None)
        if found is None:
            raise ToolNotFound(name, skill.name, f"there are {', '.join(tool.name for tool in self.tools)}")
        if not skill.offered_in(mode):
            raise ToolNotFound(name, skill.name, f"it is for mode {' or '.join(skill.modes)}, not {mode}")
        return found


def load_executable(directory: str, skill_id: str) -> ExecutableSkill:
    """The tools of the skill in a folder; raises InvalidTool (E060) for one with a fault."""
    definition = read_definition(directory, skill_id.rpartition("/")[2])
    label = "/".join(to_segment(segment) for segment in skill_id.split("/"))
    tools: list[Tool] = []
    noticed = list(definition.diagnostics)
    for told in definition.tools:
        try:
            template = parse_template(told.command, told.parameters)
        except InvalidTemplate as error:
            raise InvalidTool(definition.name, f"tool '{told.name}': {error}") from None
        noticed += [warning("W066", told.name, odd).at(SKILL_FILE) for odd in template.oddities]
        tools.append(Tool(label, told.name, told.description, told.parameters, template, definition))
    return ExecutableSkill(definition, tuple(tools), tuple(noticed))
