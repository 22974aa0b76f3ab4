"""Conversations of pydantic-ai: its FunctionModel, and its OpenAI model over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from pydantic_ai import Agent, messages as parts
from pydantic_ai.models.function import AgentInfo, FunctionModel

from skillc import BuiltAgent
from skillc.adapters import pydantic_ai
from tests.adapters.drivers import OWN
from tests.adapters.model import Result, Seen
from tests.adapters.providers import Provider


def sync_talk(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    agent: Agent[None, str] = Agent(
        function_model(server),
        instructions=OWN,
        capabilities=[pydantic_ai.SkillsCapability(skills)],
    )
    history: list[parts.ModelMessage] = []
    answers = []
    for text in says:
        result = agent.run_sync(text, message_history=history)
        history = result.all_messages()
        answers.append(result.output)
    return answers


def http(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    agent: Agent[None, str] = Agent(
        "openai:gpt-5", instructions=OWN, capabilities=[pydantic_ai.SkillsCapability(skills)]
    )

    async def ask(text: str) -> str:
        return text

    return asyncio.run(_talk(agent, says, ask))


def piecewise(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    """Without the capability."""
    agent: Agent[None, str] = Agent(
        function_model(server),
        instructions=pydantic_ai.instructions(skills, OWN),
        tools=pydantic_ai.skill_tools(skills),
    )
    return asyncio.run(_talk(agent, says, lambda text: pydantic_ai.async_user_message(skills, text)))


async def _talk(
    agent: Agent[None, str], says: Iterable[str], ask: Callable[[str], Awaitable[Any]]
) -> list[str]:
    history: list[parts.ModelMessage] = []
    answers = []
    for text in says:
        result = await agent.run(await ask(text), message_history=history)
        history = result.all_messages()
        answers.append(result.output)
    return answers


def function_model(server: Provider) -> FunctionModel:
    def think(messages: list[parts.ModelMessage], info: AgentInfo) -> parts.ModelResponse:
        reply = server.think({}, _from_pydantic(messages, info))
        if isinstance(reply, str):
            return parts.ModelResponse([parts.TextPart(reply)])
        return parts.ModelResponse([parts.ToolCallPart(call.name, call.arguments) for call in reply])

    return FunctionModel(think)


def _from_pydantic(messages: list[parts.ModelMessage], info: AgentInfo) -> Seen:
    seen = Seen(info.instructions or "")
    seen.tools = {tool.name: tool.parameters_json_schema for tool in info.function_tools}
    for part in (part for message in messages for part in message.parts):
        if isinstance(part, parts.UserPromptPart):
            seen.user(part.content if isinstance(part.content, str) else str(part.content[0]))
        elif isinstance(part, parts.ToolReturnPart):
            text = part.model_response_str(wrap_if_error=False)
            seen.results.append(Result(text, part.outcome != "success"))
        elif isinstance(part, parts.RetryPromptPart):
            seen.results.append(Result(part.model_response(), is_error=True))
    return seen
