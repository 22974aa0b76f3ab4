"""Conversations of the Anthropic SDK: its tool runner, whole or streamed, over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from anthropic import Anthropic, AsyncAnthropic
from anthropic.types.beta import BetaMessage, BetaMessageParam

from skillc import BuiltAgent
from skillc.adapters import anthropic
from tests.adapters.drivers import OWN
from tests.adapters.providers import Provider


def sync_talk(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    return _talk(skills, says, lambda runner: runner.until_done())


def streamed(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    return _talk(skills, says, _last, stream=True)


def _last(runner: Iterable[Any]) -> BetaMessage:
    message: BetaMessage = [stream.get_final_message() for stream in runner][-1]
    return message


def _talk(
    skills: BuiltAgent, says: Iterable[str], finish: Callable[[Any], BetaMessage], **options: Any
) -> list[str]:
    messages: list[BetaMessageParam] = []
    answers = []
    with Anthropic() as client:
        for text in says:
            messages.append(anthropic.user_message(skills, text))
            runner = client.beta.messages.tool_runner(
                model="claude-sonnet-5",
                max_tokens=1000,
                system=anthropic.instructions(skills, OWN),
                tools=anthropic.skill_tools(skills),
                messages=messages,
                **options,
            )
            answers.append(_answer(finish(runner), messages))
    return answers


def async_talk(skills: BuiltAgent, server: Provider, says: Iterable[str]) -> list[str]:
    async def talk() -> list[str]:
        messages: list[BetaMessageParam] = []
        answers = []
        async with AsyncAnthropic() as client:
            for text in says:
                messages.append(await anthropic.async_user_message(skills, text))
                runner = client.beta.messages.tool_runner(
                    model="claude-sonnet-5",
                    max_tokens=1000,
                    system=anthropic.instructions(skills, OWN),
                    tools=anthropic.async_skill_tools(skills),
                    messages=messages,
                )
                answers.append(_answer(await runner.until_done(), messages))
        return answers

    return asyncio.run(talk())


def _answer(message: BetaMessage, messages: list[BetaMessageParam]) -> str:
    text = "".join(block.text for block in message.content if block.type == "text")
    messages.append({"role": "assistant", "content": text})
    return text
