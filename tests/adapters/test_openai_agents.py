"""What is the OpenAI Agents SDK's alone: instructions that change, arguments as text, many runs at once."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.adapters.conftest import QUESTION, TIDES, Shelf
from tests.adapters.drivers import Later
from tests.adapters.model import Call, caller
from tests.adapters.providers import Provider

if TYPE_CHECKING:
    import agents

    from skillc.adapters import openai_agents
else:
    agents, openai_agents = Later("agents"), Later("skillc.adapters.openai_agents")

# The SDK's `run_sync` says so itself when it runs twice in one loop.
pytestmark = pytest.mark.filterwarnings("ignore:asynchronous generator .* was scheduled:ResourceWarning")


def test_instructions_that_change(shelf: Shelf, server: Provider) -> None:
    """[LIB: Renderer (spec-compliant XML)] what stays the same is in front, so that caches hold."""
    skills = shelf.agent()

    async def today(context: agents.RunContextWrapper[str], agent: agents.Agent[str]) -> str:
        return f"{agent.name}, today is {context.context}."

    def plain(context: agents.RunContextWrapper[str], agent: agents.Agent[str]) -> str:
        return f"{agent.name}, it is {context.context}."

    for own, words in ((today, "Pilot, today is Monday."), (plain, "Pilot, it is Monday.")):
        agent = agents.Agent[str](
            name="Pilot",
            instructions=openai_agents.instructions(skills, own),
            tools=openai_agents.skill_tools(skills),
            model="gpt-5",
        )
        assert agents.Runner.run_sync(agent, QUESTION, context="Monday").final_output == shelf.word
        assert server.seen[-1].system == f"{skills.system_prompt}\n\n{words}"


def test_arguments_that_are_no_object(shelf: Shelf, server: Provider) -> None:
    """[LIB: Failure semantics] whatever a model writes as arguments, the run goes on."""
    wrong = ["{", "[]", '"id"', ""]
    server.mind = caller(*(Call("load_skill", text) for text in wrong))
    skills = shelf.agent()
    agent = agents.Agent[None](name="Pilot", tools=openai_agents.skill_tools(skills), model="gpt-5")
    results = json.loads(agents.Runner.run_sync(agent, "Load.").final_output)
    assert [text for text, _ in results] == [
        "Error: the arguments are not valid JSON",
        "Error: the arguments must be a JSON object",
        "Error: the arguments must be a JSON object",
        "Error: argument 'id' is missing",
    ]


def test_many_runs_at_once(shelf: Shelf, server: Provider) -> None:
    """[LIB: load_skill tool] one built agent serves several conversations at the same time."""
    skills = shelf.agent()
    agent = agents.Agent[None](
        name="Pilot",
        instructions=openai_agents.instructions(skills),
        tools=openai_agents.skill_tools(skills),
        model="gpt-5",
    )

    async def talk() -> list[Any]:
        return await asyncio.gather(*(agents.Runner.run(agent, QUESTION) for _ in range(8)))

    assert [result.final_output for result in asyncio.run(talk())] == [shelf.word] * 8


def test_references_beside_the_message(shelf: Shelf) -> None:
    """[D31] [LIB: Builtin Tools (meerkat-tools)] several references resolve one by one; optional arguments
    stay optional.
    """
    message = openai_agents.user_message(
        shelf.agent(), "Cook at sea.", [TIDES, "not/there", "cooking/recipe-1"]
    )
    assert shelf.word in message
    assert "Stir it." in message
    assert message.endswith("</skill>\n\nCook at sea.")
    assert len(shelf.events) == 2
    skills = shelf.agent()
    for tool, definition in zip(openai_agents.skill_tools(skills), skills.tools, strict=True):
        assert isinstance(tool, agents.FunctionTool)
        assert tool.params_json_schema == definition.parameters
        assert tool.params_json_schema is not definition.parameters
