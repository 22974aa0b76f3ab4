"""pydantic-ai: a capability for an `Agent`, or its parts.

from pydantic_ai import Agent
from skillc import AgentFactory
from skillc.adapters.pydantic_ai import SkillsCapability

skills = AgentFactory().build_agent_sync()
agent = Agent("openai:gpt-5", instructions="Be brief.", capabilities=[SkillsCapability(skills)])
agent.run_sync("/release-notes for version 2")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from skillc.adapters.prompts import joined, resolved
from skillc.adapters.tools import BoundTool, bound_tools
from skillc.errors import extras

try:
    from pydantic_ai import FunctionToolset, RunContext, Tool, ToolFailed, UserPromptNode
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise extras.cannot_import(error, "pydantic-ai", "pydantic-ai") from None

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AgentNode

    from skillc.engine import BuiltAgent

__all__ = ["SkillsCapability", "async_user_message", "instructions", "skill_tools", "user_message"]

_AN_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


def instructions(skills: BuiltAgent, own: str = "") -> str:
    """`Agent(instructions=...)` without the capability: your own words, then the skills.

    >>> from skillc import AgentFactory, InMemorySkillSource
    >>> skills = AgentFactory().skill_source(InMemorySkillSource([])).build_agent_sync()
    >>> print(instructions(skills, "Be brief."))
    Be brief.
    <BLANKLINE>
    <available_skills>
    </available_skills>
    """
    return joined(own, skills.system_prompt)


def skill_tools(skills: BuiltAgent) -> list[Tool[Any]]:
    """`Agent(tools=...)`. A failure is a failed result, which costs the model none of its retries.

    >>> from skillc import AgentFactory, InMemorySkillSource
    >>> skills = AgentFactory().skill_source(InMemorySkillSource([])).build_agent_sync()
    >>> [tool.name for tool in skill_tools(skills)]
    ['browse_skills', 'load_skill', 'find_skills', 'list_skill_files', 'read_skill_file']
    """
    return [_tool(tool) for tool in bound_tools(skills)]


def user_message(skills: BuiltAgent, text: str, skill_references: Sequence[str] | None = None) -> str:
    """`agent.run_sync(...)`: the message with a leading `/reference` and the others resolved."""
    return skills.prepare_turn_sync(text, skill_references).message


async def async_user_message(
    skills: BuiltAgent, text: str, skill_references: Sequence[str] | None = None
) -> str:
    """`await agent.run(...)`: the same, awaited."""
    return (await skills.prepare_turn(text, skill_references)).message


@dataclass
class SkillsCapability(AbstractCapability[Any]):
    """Skills for an agent: the tools, the inventory in the instructions, references in prompts.

    A prompt is changed once, before it enters the history, so that later requests repeat it word for word.
    """

    skills: BuiltAgent = field(repr=False)

    def get_instructions(self) -> str | None:
        return self.skills.system_prompt or None

    def get_toolset(self) -> FunctionToolset[Any]:
        return FunctionToolset(skill_tools(self.skills))

    async def before_node_run(self, ctx: RunContext[Any], *, node: AgentNode[Any]) -> AgentNode[Any]:
        if not isinstance(node, UserPromptNode) or node.user_prompt is None:
            return node
        prompt, _ = await resolved(self.skills, node.user_prompt)
        return replace(node, user_prompt=prompt)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        return None  # a built agent can't be written down in an agent's specification


def _tool(tool: BoundTool) -> Tool[Any]:
    async def call(**arguments: Any) -> str:
        result = await tool.call(arguments)
        if result.is_error:
            raise ToolFailed(result.text)
        return result.text

    made = Tool.from_schema(call, name=tool.name, description=tool.description, json_schema=tool.parameters)
    made.function_schema.validator = _AN_OBJECT  # from_schema takes any value, and a list would end the run
    return made
