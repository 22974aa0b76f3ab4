"""The tools that a SKILL.md declares: blocks, definitions, parameters, command templates. Runs none."""

from __future__ import annotations

from skillc.skills.tools.blocks import ToolBlock, find_blocks
from skillc.skills.tools.definition import (
    MODES,
    SkillDefinition,
    ToolDefinition,
    read_definition,
    read_header,
    read_tool,
)
from skillc.skills.tools.parameters import (
    MAX_DIGITS,
    InvalidDefinition,
    NotOfType,
    ParameterDefinition,
    Value,
    join_names,
    parse_value,
)
from skillc.skills.tools.template import (
    CommandTemplate,
    InvalidTemplate,
    Variable,
    fill_arguments,
    parse_template,
)
