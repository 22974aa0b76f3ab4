"""What is LangChain's alone: messages in blocks, system prompts in blocks, tools outside of an agent."""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any

from skillc import AgentFactory, FilesystemSkillSource
from tests.adapters.conftest import QUESTION, TIDES, Shelf
from tests.adapters.drivers import Later
from tests.adapters.model import reader
from tests.adapters.providers import Provider

if TYPE_CHECKING:
    import langchain.agents as agents
    import langchain_core.messages as texts

    from skillc.adapters import langchain as adapter
    from tests.adapters import drive_langchain as drive
else:
    agents, texts = Later("langchain.agents"), Later("langchain_core.messages")
    adapter, drive = Later("skillc.adapters.langchain"), Later("tests.adapters.drive_langchain")

PICTURE = {"type": "image", "url": "https://example.com/harbour.png"}


def test_messages_in_blocks(shelf: Shelf, server: Provider) -> None:
    """[LIB: Per-turn /skill-ref processing] the reference is in the first text; pictures stay, also alone."""
    server.mind = reader
    agent: Any = agents.create_agent(
        drive.ScriptedChatModel(server=server), middleware=[adapter.SkillsMiddleware(shelf.agent())]
    )
    blocks: list[Any] = [PICTURE, {"type": "text", "text": f"/{TIDES} What is this?"}]
    messages = agent.invoke({"messages": [texts.HumanMessage(blocks, name="ann")]})["messages"]
    assert messages[-1].text == f"{shelf.word} Asked: What is this?"
    assert messages[0].content[0] == PICTURE
    assert messages[0].name == "ann"
    assert len(messages) == 2
    server.mind = lambda seen: "A harbour."
    assert agent.invoke({"messages": [texts.HumanMessage([PICTURE])]})["messages"][0].content == [PICTURE]


def test_system_prompt_in_blocks(shelf: Shelf, server: Provider) -> None:
    """[LIB: Inventory mode (system prompt)] a block of its own, and the marks of the others stay."""
    skills = shelf.agent()
    own = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    taken: list[Any] = []

    class Watching(drive.ScriptedChatModel):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            taken.append(messages[0].content)
            return super()._generate(messages, *args, **kwargs)

    agent: Any = agents.create_agent(
        Watching(server=server),
        system_prompt=texts.SystemMessage([own]),
        middleware=[adapter.SkillsMiddleware(skills)],
    )
    assert agent.invoke({"messages": [("user", QUESTION)]})["messages"][-1].text == shelf.word
    assert taken[0] == [own, {"type": "text", "text": skills.system_prompt}]


def test_tools_outside_of_an_agent(shelf: Shelf) -> None:
    """[LIB: Failure semantics] a call gives a ToolMessage; one that failed has status error."""
    load = next(tool for tool in adapter.skill_tools(shelf.agent()) if tool.name == "load_skill")
    for skill_id, status in ((TIDES, "success"), ("not/there", "error")):
        message = load.invoke(
            {"type": "tool_call", "id": "1", "name": "load_skill", "args": {"id": skill_id}}
        )
        assert isinstance(message, texts.ToolMessage)
        assert message.status == status


def test_whose_event_it_is(shelf: Shelf, server: Provider) -> None:
    """[LIB: load_skill tool] an observer sees the context variables of the conversation it is called for."""
    user = contextvars.ContextVar("user", default="nobody")
    heard: list[str] = []
    factory = AgentFactory(observer=lambda event: heard.append(user.get()))
    skills = factory.skill_source(FilesystemSkillSource(shelf.root)).build_agent_sync()
    agent: Any = agents.create_agent(
        drive.ScriptedChatModel(server=server), middleware=[adapter.SkillsMiddleware(skills)]
    )
    for name in ("ann", "bob"):
        user.set(name)
        agent.invoke({"messages": [("user", QUESTION)]})
    assert heard == ["ann", "bob"]
