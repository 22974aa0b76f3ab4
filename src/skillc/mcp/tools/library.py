"""The tools over all repositories: which skills there are, and one as it enters a conversation."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc.engine import TOOLS
from skillc.index.skills.lines import lines
from skillc.mcp.tools import schemas
from skillc.mcp.tools.definition import Answer, Call, Parameter, ToolDefinition

if TYPE_CHECKING:
    from skillc.index.skills.result import FoundSkill
    from skillc.mcp.workplace import Workplace

MAX_FOUND = 1000  # as the command has it

_WORDS = {tool.name: tool for tool in TOOLS}


async def _browse(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    value = await place.engine().browse(given["path"], given["query"])
    return Answer(value, json.dumps(value, ensure_ascii=False, separators=(",", ":")))


async def _find(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    found = await place.engine().find(given["task"], given["limit"])
    return await asyncio.to_thread(_told, given["task"], found)


def _told(task: str, found: list[FoundSkill]) -> Answer:
    """Why each fits is looked up in its file."""
    value = {"query": task, "results": [skill.as_json() for skill in found]}
    return Answer(value, "\n".join(lines(found)))


async def _load(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    skill = (await place.engine().resolve_and_render([given["id"]]))[0]
    return Answer(skill.as_json(), skill.rendered_body)


def _parameter(tool: str, name: str, **more: Any) -> Parameter:
    """A parameter in the engine's own words, which other agents' tools have, too."""
    return Parameter(name, _WORDS[tool].parameters["properties"][name]["description"], **more)


LIBRARY = (
    ToolDefinition(
        "skc_find",
        "Find skills for a task",
        "library",
        "Find the skills that fit a task, over all repositories, best first, each with the reasons and the"
        " section to read first. Start here when there are many skills; then load_skill.",
        (
            Parameter("task", "What is to be done, in words or pages; any word may match.", required=True),
            Parameter("limit", "At most so many skills.", "count", default=10, maximum=MAX_FOUND),
        ),
        schemas.FIND,
        _find,
        annotations={"open_world": True},
    ),
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
