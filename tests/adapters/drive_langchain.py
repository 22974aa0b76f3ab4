"""Conversations of LangChain: create_agent with a checkpointer, and a model of LangChain's own kind."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver

from skillc import BuiltAgent
from skillc.adapters import langchain
from tests.adapters.drivers import OWN
from tests.adapters.model import Reply, Result, Seen
from tests.adapters.providers import Provider

_numbers = itertools.count(1)


class ScriptedChatModel(BaseChatModel):
    """A chat model whose mind is the server's; nothing goes over the network."""

    server: Any
    definitions: dict[str, Any] = {}

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        return self.model_copy(
            update={"definitions": {function["name"]: function["parameters"] for function in functions}}
        )

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        seen = Seen(tools=self.definitions)
        for message in messages:
            if isinstance(message, SystemMessage):
                seen.system += str(message.text)
            elif isinstance(message, HumanMessage):
                seen.user(str(message.text))
            elif isinstance(message, ToolMessage):
                seen.results.append(Result(str(message.text), message.status == "error"))
        return ChatResult(generations=[ChatGeneration(message=_ai(self.server.think({}, seen)))])


def _ai(reply: Reply) -> AIMessage:
    if isinstance(reply, str):
        return AIMessage(reply)
    calls = []
    for call in reply:
        assert isinstance(call.arguments, dict)
        calls.append(ToolCall(name=call.name, args=call.arguments, id=f"call_{next(_numbers)}"))
    return AIMessage("", tool_calls=calls)


def sync_talk(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    agent = _langchain_agent(skills, server)
    return [agent.invoke(_said(text), _THREAD)["messages"][-1].text for text in says]


def async_talk(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    async def talk() -> list[str]:
        agent = _langchain_agent(skills, server)
        return [(await agent.ainvoke(_said(text), _THREAD))["messages"][-1].text for text in says]

    return asyncio.run(talk())


def piecewise(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    """Without the middleware."""
    agent: Any = create_agent(
        ScriptedChatModel(server=server),
        tools=langchain.skill_tools(skills),
        system_prompt=langchain.instructions(skills, OWN),
        checkpointer=InMemorySaver(),
    )
    answers = []
    for text in says:
        state = agent.invoke({"messages": [langchain.user_message(skills, text)]}, _THREAD)
        answers.append(state["messages"][-1].text)
    return answers


_THREAD: Any = {"configurable": {"thread_id": "conversation"}}


def _said(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def _langchain_agent(skills: BuiltAgent, server: Provider) -> Any:
    return create_agent(
        ScriptedChatModel(server=server),
        system_prompt=OWN,
        middleware=[langchain.SkillsMiddleware(skills)],
        checkpointer=InMemorySaver(),
    )
