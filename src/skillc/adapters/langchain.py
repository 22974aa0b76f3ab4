"""LangChain: middleware for `create_agent`, or its parts for your own graph.

from langchain.agents import create_agent
from skillc import AgentFactory
from skillc.adapters.langchain import SkillsMiddleware

skills = AgentFactory().build_agent_sync()
agent = create_agent("anthropic:claude-sonnet-5", middleware=[SkillsMiddleware(skills)])
agent.invoke({"messages": [("user", "/release-notes for version 2")]})
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from skillc.adapters import tools
from skillc.adapters.tools import BoundTool, References, bind_tools, instructions, join_texts
from skillc.engine import run_sync
from skillc.errors import import_error

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_core.tools import BaseTool, ToolException
    from pydantic import PrivateAttr
except ImportError as error:
    raise import_error(error, "LangChain", "langchain") from None

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from skillc.engine import BuiltAgent

__all__ = ["SkillsMiddleware", "async_user_message", "instructions", "skill_tools", "user_message"]


def skill_tools(skills: BuiltAgent) -> list[BaseTool]:
    """Return tools for `create_agent`, `bind_tools` or a ToolNode. A failure has the status `error`.

    >>> from skillc import AgentFactory, InMemorySkillSource
    >>> skills = AgentFactory().skill_source(InMemorySkillSource([])).build_agent_sync()
    >>> browse, load, *_ = skill_tools(skills)
    >>> load.invoke({"id": "pdf"})
    "skill 'pdf' not found; find_skills and browse_skills show what there is"
    """
    return [_SkillTool(tool) for tool in bind_tools(skills)]


def user_message(skills: BuiltAgent, text: str, skill_references: References = None) -> HumanMessage:
    """Return a message with a leading `/reference` and the others resolved."""
    return HumanMessage(tools.user_message(skills, text, skill_references))


async def async_user_message(
    skills: BuiltAgent, text: str, skill_references: References = None
) -> HumanMessage:
    """Do the same in async code."""
    return HumanMessage(await tools.async_user_message(skills, text, skill_references))


class SkillsMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Skills for an agent: the tools, the inventory in the system prompt, references in messages.

    The user's message is changed once, at the start of a run, and stays so in the agent's state: every
    later request repeats it word for word.
    """

    def __init__(self, skills: BuiltAgent) -> None:
        super().__init__()
        self.skills = skills
        self.tools = skill_tools(skills)

    def before_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        return run_sync(self.abefore_agent(state, runtime))

    async def abefore_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        last = state["messages"][-1] if state["messages"] else None
        if not isinstance(last, HumanMessage):
            return None
        content, is_new = await tools.resolve_references(self.skills, last.content)
        # It has the same ID, so it replaces the old message.
        return {"messages": [last.model_copy(update={"content": content})]} if is_new else None

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(self._with_skills(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(self._with_skills(request))

    def _with_skills(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        prompt, before = self.skills.system_prompt, request.system_message
        if not prompt:
            return request
        if before is None:
            return request.override(system_message=SystemMessage(prompt))
        content: Any = before.content
        if isinstance(content, str):
            content = join_texts(content, prompt)
        else:  # blocks, which may carry marks for caches
            content = [*content, {"type": "text", "text": prompt}]
        return request.override(system_message=before.model_copy(update={"content": content}))


class _SkillTool(BaseTool):
    """A tool with arguments of any name; a StructuredTool reserves `config` and `run_manager`."""

    _tool: BoundTool = PrivateAttr()

    def __init__(self, tool: BoundTool) -> None:
        super().__init__(name=tool.name, description=tool.description, args_schema=tool.parameters)
        self.handle_tool_error = True
        self._tool = tool

    def _run(self, /, **arguments: Any) -> str:
        return run_sync(self._tool.call_or_raise(arguments, ToolException))

    async def _arun(self, /, **arguments: Any) -> str:
        return await self._tool.call_or_raise(arguments, ToolException)
