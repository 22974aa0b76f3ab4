"""Conversations of the OpenAI Agents SDK: a session or a list, whole or streamed, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from agents import Agent, Runner, SQLiteSession

from skillc import BuiltAgent
from skillc.adapters import openai_agents
from tests.adapters.drivers import OWN
from tests.adapters.providers import Provider


def sync_talk(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    agent = _openai_agent(skills)
    session = SQLiteSession("conversation")
    answers = []
    for text in says:
        message = openai_agents.user_message(skills, text)
        answers.append(Runner.run_sync(agent, message, session=session).final_output)
    session.close()
    return answers


def async_talk(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    async def talk() -> list[str]:
        agent = _openai_agent(skills)
        history: list[Any] = []
        answers = []
        for text in says:
            message = await openai_agents.async_user_message(skills, text)
            result = await Runner.run(agent, [*history, {"role": "user", "content": message}])
            history = result.to_input_list()
            answers.append(result.final_output)
        return answers

    return asyncio.run(talk())


def streamed(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    async def talk() -> list[str]:
        agent = _openai_agent(skills)
        session = SQLiteSession("conversation")
        answers = []
        for text in says:
            message = await openai_agents.async_user_message(skills, text)
            result = Runner.run_streamed(agent, message, session=session)
            async for _ in result.stream_events():
                pass
            answers.append(result.final_output)
        session.close()
        return answers

    return asyncio.run(talk())


def _openai_agent(skills: BuiltAgent) -> Agent[Any]:
    return Agent(
        name="Pilot",
        instructions=openai_agents.instructions(skills, OWN),
        tools=openai_agents.skill_tools(skills),
        model="gpt-5",
    )
