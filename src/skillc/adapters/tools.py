"""The shared part of the adapters: an agent's tools under names that every provider takes, and texts."""

from __future__ import annotations

import copy
import json
import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.engine import ToolResult
from skillc.errors import unexpected

if TYPE_CHECKING:
    from skillc.engine import BuiltAgent, ToolDefinition

logger = logging.getLogger("skillc.adapters")

MAX_NAME = 64  # OpenAI's limit, the lowest
References = Sequence[str] | None  # skills that a message names beside those in its text
_FORBIDDEN = re.compile(r"[^a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool of an agent under the name that the provider gets."""

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
        """Return the result for the model, whatever the arguments are and whatever happens."""
        if not isinstance(arguments, dict):
            return ToolResult("the arguments must be a JSON object", is_error=True)
        try:
            return await self.skills.call_tool(self.definition.name, arguments)
        except Exception as error:  # an error that ends the run would lose the whole conversation
            failure = unexpected(error)
            logger.error("%s: %s", self.name, failure.line(), exc_info=error)
            return ToolResult(failure.message, is_error=True)

    async def call_json(self, text: str) -> ToolResult:
        """`call` with the arguments as the model wrote them; no text is an empty object."""
        try:
            arguments = json.loads(text or "{}")
        except (ValueError, RecursionError):
            return ToolResult("the arguments are not valid JSON", is_error=True)
        return await self.call(arguments)

    async def call_or_raise(self, arguments: object, failure: type[Exception]) -> str:
        """`call` for frameworks that take a failed call as an exception."""
        result = await self.call(arguments)
        if result.is_error:
            raise failure(result.text)
        return result.text


def bind_tools(skills: BuiltAgent) -> list[BoundTool]:
    """Return the agent's tools, each under a name of its own."""
    tools: dict[str, BoundTool] = {}
    for definition in skills.tools:
        name = _provider_name(definition.name, tools)
        tools[name] = BoundTool(skills, definition, name)
    return list(tools.values())


def _provider_name(name: str, others: Collection[str]) -> str:
    """Return a name that every provider takes (letters, digits, `_` and `-`) and no other tool has."""
    plain = _FORBIDDEN.sub("_", name.replace(".", "__"))
    candidate, number = plain[:MAX_NAME], 1
    while candidate in others:
        number += 1
        suffix = f"_{number}"
        candidate = plain[: MAX_NAME - len(suffix)] + suffix
    return candidate


def join_texts(*texts: str) -> str:
    """Return texts below each other, without the empty ones."""
    return "\n\n".join(text for text in texts if text)


def instructions(skills: BuiltAgent, own: str = "") -> str:
    """Return a system prompt: your own words, then the skills.

    >>> from skillc import AgentFactory, InMemorySkillSource
    >>> skills = AgentFactory().skill_source(InMemorySkillSource([])).build_agent_sync()
    >>> print(instructions(skills, "Be brief."))
    Be brief.
    <BLANKLINE>
    <available_skills>
    </available_skills>
    """
    return join_texts(own, skills.system_prompt)


def user_message(skills: BuiltAgent, text: str, skill_references: References = None) -> str:
    """Return the user's message with its leading `/reference` and other references resolved."""
    return skills.prepare_turn_sync(text, skill_references).message


async def async_user_message(skills: BuiltAgent, text: str, skill_references: References = None) -> str:
    """Return the same in async code."""
    return (await skills.prepare_turn(text, skill_references)).message


async def resolve_references(skills: BuiltAgent, content: Any) -> tuple[Any, bool]:
    """Return a message's content with the `/reference` of its first text resolved, and whether it changed.

    Content is text, or a list of parts (pictures and the like) where text is plain or in a
    `{"type": "text", "text": ...}` block; parts that are not text stay as they are.
    """
    if isinstance(content, str):
        text = await async_user_message(skills, content)
        return text, text != content
    parts = list(content or ())
    for index, part in enumerate(parts):
        if isinstance(part, str):
            parts[index] = text = await async_user_message(skills, part)
            return parts, text != part
        if isinstance(part, dict) and part.get("type") == "text":
            text = await async_user_message(skills, part["text"])
            parts[index] = {**part, "text": text}
            return parts, text != part["text"]
    return content, False
