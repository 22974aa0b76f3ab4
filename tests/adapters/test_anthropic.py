"""What is the Anthropic SDK's alone: tools without the runner."""

from __future__ import annotations

import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError

from skillc.adapters.anthropic import instructions, skill_tools, user_message
from tests.adapters.conftest import QUESTION, TIDES, Shelf
from tests.adapters.providers import Provider


def test_without_the_runner(shelf: Shelf, server: Provider) -> None:
    """[LIB: Builtin Tools (meerkat-tools)] definitions and calls for a loop of one's own."""
    skills = shelf.agent()
    tools = {tool.name: tool for tool in skill_tools(skills)}
    with Anthropic() as client:
        message = client.beta.messages.create(
            model="claude-sonnet-5",
            max_tokens=1000,
            system=instructions(skills),
            tools=[tool.to_dict() for tool in tools.values()],
            messages=[user_message(skills, QUESTION)],
        )
    call = message.content[0]
    assert call.type == "tool_use"
    assert TIDES in str(tools[call.name].call(call.input))
    assert shelf.word in str(tools["load_skill"].call({"id": TIDES}))


@pytest.mark.parametrize("arguments", [None, [], "id", 3])
def test_arguments_that_are_no_object(shelf: Shelf, arguments: object) -> None:
    """[LIB: Failure semantics] whatever a model sends is an error that it can read."""
    with pytest.raises(ToolError, match="the arguments must be a JSON object"):
        skill_tools(shelf.agent())[0].call(arguments)
