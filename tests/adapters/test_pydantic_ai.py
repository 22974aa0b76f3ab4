"""What is pydantic-ai's alone: prompts of several parts, streams, TestModel, calls out of shape."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from tests.adapters.conftest import QUESTION, TIDES, Shelf
from tests.adapters.drivers import Later
from tests.adapters.model import Call, Reply, Seen, reader
from tests.adapters.providers import Provider
from tests.support.cases import each

if TYPE_CHECKING:
    import pydantic_ai
    import pydantic_ai.models.test as models

    from skillc.adapters import pydantic_ai as adapter
    from tests.adapters import drive_pydantic_ai as drive
else:
    pydantic_ai, models = Later("pydantic_ai"), Later("pydantic_ai.models.test")
    adapter, drive = Later("skillc.adapters.pydantic_ai"), Later("tests.adapters.drive_pydantic_ai")


def test_prompts_of_several_parts(shelf: Shelf, server: Provider) -> None:
    """[LIB: Per-turn /skill-ref processing] the reference is in the first text; the rest stays."""
    server.mind = reader
    agent = pydantic_ai.Agent(
        drive.function_model(server), capabilities=[adapter.SkillsCapability(shelf.agent())]
    )
    picture = pydantic_ai.ImageUrl("https://example.com/harbour.png")
    result = agent.run_sync([f"/{TIDES} What is this?", picture])
    assert result.output == f"{shelf.word} Asked: What is this?"
    prompt = result.all_messages()[0].parts[-1]
    assert isinstance(prompt, pydantic_ai.UserPromptPart)
    assert prompt.content[1] == picture


def test_streamed(shelf: Shelf, server: Provider) -> None:
    """[LIB: 2. CLI — Interactive skill discovery] the same conversation, as a stream over HTTP."""

    async def talk() -> str:
        agent = pydantic_ai.Agent("openai:gpt-5", capabilities=[adapter.SkillsCapability(shelf.agent())])
        async with agent.run_stream(QUESTION) as stream:
            return await stream.get_output()

    assert asyncio.run(talk()) == shelf.word


def test_tools_errors_and_prompts(shelf: Shelf) -> None:
    """[LIB: Builtin Tools (meerkat-tools)] [RFC-0005] [D31] TestModel calls each tool; a message does not
    print the prompt; the text for `run_sync`.
    """
    agent = pydantic_ai.Agent(models.TestModel(), capabilities=[adapter.SkillsCapability(shelf.agent())])
    answers = json.loads(agent.run_sync("Go.").output)
    assert list(answers) == [
        "browse_skills",
        "load_skill",
        "find_skills",
        "list_skill_files",
        "read_skill_file",
    ]
    assert "available_skills" not in repr(adapter.SkillsCapability(shelf.agent()))
    assert adapter.user_message(shelf.agent(), f"/{TIDES} Go.").endswith("</skill>\n\nGo.")


@each("arguments", ["[]", "3", "null", '"id"'])
def test_arguments_that_are_no_object(shelf: Shelf, server: Provider, arguments: str) -> None:
    """[LIB: Failure semantics] the model hears of it and can try again."""

    def mind(seen: Seen) -> Reply:
        if not seen.results:
            return [Call("load_skill", arguments)]
        return str(seen.results[0].is_error)

    server.mind = mind
    agent = pydantic_ai.Agent(
        drive.function_model(server), capabilities=[adapter.SkillsCapability(shelf.agent())]
    )
    assert agent.run_sync("Load.").output == "True"


def test_more_failures_than_retries(shelf: Shelf, server: Provider) -> None:
    """[LIB: Failure semantics] skills that are not there cost no retries, however many are asked for."""
    server.mind = lambda seen: (
        [Call("load_skill", {"id": "not/there"})] if len(seen.results) < 9 else "Enough."
    )
    agent = pydantic_ai.Agent(
        drive.function_model(server), capabilities=[adapter.SkillsCapability(shelf.agent())], retries=0
    )
    assert agent.run_sync("Load.").output == "Enough."
