"""The OpenAI Agents SDK: instructions, tools and input for an `Agent`.

from agents import Agent, Runner
from skillc import AgentFactory
from skillc.adapters.openai_agents import instructions, skill_tools, user_message

skills = AgentFactory().build_agent_sync()
agent = Agent("Writer", instructions=instructions(skills, "Be brief."), tools=skill_tools(skills))
Runner.run_sync(agent, user_message(skills, "/release-notes for version 2"))

In async code: `await AgentFactory().build_agent()`, `await Runner.run(...)`, `await async_user_message(...)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, overload

from skillc.adapters.tools import BoundTool, async_user_message, bind_tools, join_texts, user_message
from skillc.errors import import_error

try:
    from agents import Agent, FunctionTool, RunContextWrapper, Tool
    from agents.tool_context import ToolContext
except ImportError as error:
    raise import_error(error, "the OpenAI Agents SDK", "openai-agents") from None

if TYPE_CHECKING:
    from skillc.engine import BuiltAgent

__all__ = ["async_user_message", "instructions", "skill_tools", "user_message"]

DynamicText = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str] | str]
AsyncText = Callable[[RunContextWrapper[Any], Agent[Any]], Awaitable[str]]


@overload
def instructions(skills: BuiltAgent, own: str = "") -> str: ...
@overload
def instructions(skills: BuiltAgent, own: DynamicText) -> AsyncText: ...
def instructions(skills: BuiltAgent, own: str | DynamicText = "") -> Any:
    """Return the `instructions` of an `Agent`: your own words, then the skills.

    Where your words are a function of context and agent, the skills come first: a prompt cache needs
    what is the same in every request at the start.
    """
    if isinstance(own, str):
        return join_texts(own, skills.system_prompt)

    async def dynamic(context: RunContextWrapper[Any], agent: Agent[Any]) -> str:
        text = own(context, agent)
        return join_texts(skills.system_prompt, await text if inspect.isawaitable(text) else text)

    return dynamic


def skill_tools(skills: BuiltAgent) -> list[Tool]:
    """Return the `tools` of an `Agent`. A failure is a text that starts with `Error: `."""
    return [_function_tool(tool) for tool in bind_tools(skills)]


def _function_tool(tool: BoundTool) -> FunctionTool:
    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        result = await tool.call_json(arguments)
        # The protocol has no mark for errors, and an exception would end the run.
        return f"Error: {result.text}" if result.is_error else result.text

    return FunctionTool(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.parameters,
        on_invoke_tool=invoke,
        strict_json_schema=False,  # would make every argument required, and refuse some schemas
    )
