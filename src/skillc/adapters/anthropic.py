"""The Anthropic SDK: system prompt, tools and messages for `client.beta.messages.tool_runner`.

    from anthropic import Anthropic
    from skillc import AgentFactory
    from skillc.adapters.anthropic import instructions, skill_tools, user_message

    skills = AgentFactory().build_agent_sync()
    runner = Anthropic().beta.messages.tool_runner(
        model="claude-sonnet-5", max_tokens=4096,
        system=instructions(skills, "Be brief."), tools=skill_tools(skills),
        messages=[user_message(skills, "/release-notes for version 2")],
    )
    print(runner.until_done().content)

Tools for `AsyncAnthropic` are `async_skill_tools`. Without the runner, `tool.to_dict()` is a tool's
definition and `tool.call(block.input)` its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillc.adapters import tools
from skillc.adapters.tools import BoundTool, References, bind_tools, instructions
from skillc.engine import run_sync
from skillc.errors import import_error

try:
    from anthropic.lib.tools import BetaAsyncBuiltinFunctionTool, BetaBuiltinFunctionTool, ToolError
    from anthropic.types.beta import BetaMessageParam, BetaToolParam
except ImportError as error:
    raise import_error(error, "the Anthropic SDK", "anthropic") from None

if TYPE_CHECKING:
    from skillc.engine import BuiltAgent

__all__ = ["async_skill_tools", "async_user_message", "instructions", "skill_tools", "user_message"]


def skill_tools(skills: BuiltAgent) -> list[BetaBuiltinFunctionTool]:
    """Return the `tools` of `Anthropic().beta.messages.tool_runner`. A failure is a result with `is_error`.

    >>> from skillc import AgentFactory, InMemorySkillSource
    >>> skills = AgentFactory().skill_source(InMemorySkillSource([])).build_agent_sync()
    >>> skill_tools(skills)[1].to_dict()["name"]
    'load_skill'
    """
    return [_SkillTool(tool) for tool in bind_tools(skills)]


def async_skill_tools(skills: BuiltAgent) -> list[BetaAsyncBuiltinFunctionTool]:
    """Return the `tools` of `AsyncAnthropic().beta.messages.tool_runner`."""
    return [_AsyncSkillTool(tool) for tool in bind_tools(skills)]


def user_message(skills: BuiltAgent, text: str, skill_references: References = None) -> BetaMessageParam:
    """Return an entry of `messages`: the text with a leading `/reference` and the others resolved."""
    return {"role": "user", "content": tools.user_message(skills, text, skill_references)}


async def async_user_message(
    skills: BuiltAgent, text: str, skill_references: References = None
) -> BetaMessageParam:
    """Do the same in async code."""
    return {"role": "user", "content": await tools.async_user_message(skills, text, skill_references)}


@dataclass
class _Definition:
    tool: BoundTool

    def to_dict(self) -> BetaToolParam:
        tool = self.tool
        return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


class _SkillTool(_Definition, BetaBuiltinFunctionTool):
    """A tool that takes the arguments as a dict: a function's parameters could not have every name."""

    def call(self, input: object) -> str:
        return run_sync(self.tool.call_or_raise(input, ToolError))


class _AsyncSkillTool(_Definition, BetaAsyncBuiltinFunctionTool):
    async def call(self, input: object) -> str:
        return await self.tool.call_or_raise(input, ToolError)
