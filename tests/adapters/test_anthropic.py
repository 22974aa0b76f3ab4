"""What is the Anthropic SDK's alone: tools without the runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.adapters.conftest import QUESTION, TIDES, Shelf
from tests.adapters.drivers import Later
from tests.adapters.providers import Provider
from tests.support.cases import each

if TYPE_CHECKING:
    import anthropic
    import anthropic.lib.tools as tools

    from skillc.adapters import anthropic as adapter
else:
    anthropic, tools = Later("anthropic"), Later("anthropic.lib.tools")
    adapter = Later("skillc.adapters.anthropic")


def test_without_the_runner(shelf: Shelf, server: Provider) -> None:
    """[LIB: Builtin Tools (meerkat-tools)] definitions and calls for a loop of one's own."""
    skills = shelf.agent()
    own = {tool.name: tool for tool in adapter.skill_tools(skills)}
    with anthropic.Anthropic() as client:
        message = client.beta.messages.create(
            model="claude-sonnet-5",
            max_tokens=1000,
            system=adapter.instructions(skills),
            tools=[tool.to_dict() for tool in own.values()],
            messages=[adapter.user_message(skills, QUESTION)],
        )
    call = message.content[0]
    assert call.type == "tool_use"
    assert TIDES in str(own[call.name].call(call.input))
    assert shelf.word in str(own["load_skill"].call({"id": TIDES}))


@each("arguments", [None, [], "id", 3])
def test_arguments_that_are_no_object(shelf: Shelf, arguments: object) -> None:
    """[LIB: Failure semantics] whatever a model sends is an error that it can read."""
    with pytest.raises(tools.ToolError, match="the arguments must be a JSON object"):
        adapter.skill_tools(shelf.agent())[0].call(arguments)
