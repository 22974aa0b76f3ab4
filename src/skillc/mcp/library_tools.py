"""The tools over all repositories: which skills there are, and one as it enters a conversation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc.engine.tools import TOOLS
from skillc.mcp import schemas
from skillc.mcp.tools import Answer, Call, Parameter, ToolDefinition

if TYPE_CHECKING:
    from skillc.mcp.workplace import Workplace

_WORDS = {tool.name: tool for tool in TOOLS}


async def _browse(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    value = await place.engine().browse(given["path"], given["query"])
    return Answer(value, json.dumps(value, ensure_ascii=False, separators=(",", ":")))


async def _load(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    skill = (await place.engine().resolve_and_render([given["id"]]))[0]
    return Answer(skill.as_json(), skill.rendered_body)


def _parameter(tool: str, name: str, **more: Any) -> Parameter:
    """A parameter in the engine's own words, which other agents' tools have, too."""
    return Parameter(name, _WORDS[tool].parameters["properties"][name]["description"], **more)


LIBRARY = (
    ToolDefinition(
        "browse_skills",
        "Browse skills",
        "library",
        _WORDS["browse_skills"].description,
        (_parameter("browse_skills", "path", default=""), _parameter("browse_skills", "query")),
        schemas.BROWSE,
        _browse,
        annotations={"open_world": True},
    ),
    ToolDefinition(
        "load_skill",
        "Load a skill",
        "library",
        _WORDS["load_skill"].description,
        (_parameter("load_skill", "id", required=True),),
        schemas.LOAD,
        _load,
        annotations={"open_world": True},
    ),
)
