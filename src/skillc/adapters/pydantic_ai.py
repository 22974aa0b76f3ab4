"""pydantic-ai: a capability for an `Agent`, or its parts.

from pydantic_ai import Agent
from skillc import AgentFactory
from skillc.adapters.pydantic_ai import SkillsCapability

skills = AgentFactory().build_agent_sync()
agent = Agent("openai:gpt-5", instructions="Be brief.", capabilities=[SkillsCapability(skills)])
agent.run_sync("/release-notes for version 2")
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from skillc.adapters import tools
from skillc.adapters.tools import BoundTool, async_user_message, bind_tools, instructions, user_message
from skillc.errors import import_error

try:
    from pydantic_ai import FunctionToolset, RunContext, Tool, ToolFailed, UserPromptNode
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_core import SchemaValidator, core_schema
except ImportError as error:
    raise import_error(error, "pydantic-ai", "pydantic-ai") from None

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AgentNode

    from skillc.engine import BuiltAgent

__all__ = ["SkillsCapability", "async_user_message", "instructions", "skill_tools", "user_message"]

_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


def skill_tools(skills: BuiltAgent) -> list[Tool[Any]]:
    """Return the `tools` of an `Agent`. A failure is a failed result and costs no retries."""
    return [_tool(tool) for tool in bind_tools(skills)]


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
        prompt, _ = await tools.resolve_references(self.skills, node.user_prompt)
        return replace(node, user_prompt=prompt)

    @classmethod
    def get_serialization_name(cls) -> str | None:
        return None  # a built agent can't be part of an agent's specification


def _tool(tool: BoundTool) -> Tool[Any]:
    async def call(**arguments: Any) -> str:
        return await tool.call_or_raise(arguments, ToolFailed)

    skill_tool = Tool.from_schema(
        call, name=tool.name, description=tool.description, json_schema=tool.parameters
    )
    # from_schema takes any value, and a list would end the run.
    skill_tool.function_schema.validator = _OBJECT
    return skill_tool
