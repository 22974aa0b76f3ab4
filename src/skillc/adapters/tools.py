"""An agent's tools as models call them: names that every provider takes, failures that are results."""

from __future__ import annotations

import copy
import json
import logging
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.engine import ToolResult, run_sync
from skillc.errors import unexpected

if TYPE_CHECKING:
    from skillc.engine import BuiltAgent, ToolDefinition

logger = logging.getLogger("skillc.adapters")

MAX_NAME = 64  # OpenAI's limit, the lowest
_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool of an agent, ready to be called."""

    skills: BuiltAgent
    definition: ToolDefinition
    name: str

    @property
    def description(self) -> str:
        return self.definition.description

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema; a copy, because frameworks edit it."""
        return copy.deepcopy(dict(self.definition.parameters))

    async def call(self, arguments: object) -> ToolResult:
        """What the model gets for these arguments, whatever they are and whatever happens."""
        if not isinstance(arguments, dict):
            return ToolResult("the arguments must be a JSON object", is_error=True)
        try:
            return await self.skills.call_tool(self.definition.name, arguments)
        except Exception as error:  # a run that dies for a tool has lost the whole conversation
            failure = unexpected(error)
            logger.error("%s: %s", self.name, failure.line(), exc_info=error)
            return ToolResult(failure.message, is_error=True)

    def call_sync(self, arguments: object) -> ToolResult:
        """`call` for frameworks and programs that do not await."""
        return run_sync(self.call(arguments))

    async def call_json(self, text: str) -> ToolResult:
        """`call` with the arguments as the model wrote them; none at all are an empty object."""
        try:
            arguments = json.loads(text or "{}")
        except (ValueError, RecursionError):
            return ToolResult("the arguments are not valid JSON", is_error=True)
        return await self.call(arguments)


def bound_tools(skills: BuiltAgent) -> list[BoundTool]:
    """The agent's tools, each under a name of its own."""
    tools: dict[str, BoundTool] = {}
    for definition in skills.tools:
        name = _provider_name(definition.name, tools)
        tools[name] = BoundTool(skills, definition, name)
    return list(tools.values())


def _provider_name(name: str, taken: Collection[str]) -> str:
    """A name that every provider takes: letters, digits, `_` and `-`.

    >>> _provider_name("pdf.fill", [])
    'pdf__fill'
    >>> _provider_name("pdf.fill", ["pdf__fill"])
    'pdf__fill_2'
    """
    plain = _FORBIDDEN.sub("_", name.replace(".", "__"))
    wanted, number = plain[:MAX_NAME], 1
    while wanted in taken:
        number += 1
        ending = f"_{number}"
        wanted = plain[: MAX_NAME - len(ending)] + ending
    return wanted
