"""What a host gets for a turn over MCP: preloaded skills, references, capabilities."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from skillc.mcp import create_server
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.mcp import ERAS, NEW, ask, instructions_for, talk
from tests.support.skills import skill

BLOCK = '<skill id="{0}">\n# {0}\n\nBody.\n</skill>'
SHELL = "---\nname: shell\ndescription: Runs xyzzy.\nrequires_capabilities: [shell]\n---\n# shell\n\nBody.\n"


@pytest.fixture
def library(world: World) -> World:
    skill(world.store, "pdf")
    skill(world.store, "style")
    skill(world.store, "shell", SHELL)
    return world


def turn(era: str, **arguments: str) -> Any:
    return talk(lambda client: client.get_prompt("turn", arguments), era)


@pytest.mark.parametrize("era", ERAS)
def test_a_turn(library: World, era: str) -> None:
    """[LIB: Per-turn /skill-ref processing] the prompt `turn` resolves references; preloads come first."""
    plain = turn(era, message="hello")
    assert [message.content.text for message in plain.messages] == ["hello"]
    one = turn(era, message="/pdf fill it in", skill_references="style")
    assert [message.content.text for message in one.messages] == [
        f"{BLOCK.format('style')}\n\n{BLOCK.format('pdf')}\n\nfill it in"
    ]
    assert one.meta["skillc/events"][0]["skills"] == ["style", "pdf"]
    system, message = turn(era, message="go", preload_skills="style, pdf").messages
    assert system.content.text.startswith("<available_skills>")
    assert system.content.text.endswith(f"{BLOCK.format('style')}\n\n{BLOCK.format('pdf')}")
    assert message.content.text == "go"
    told = library.json("turn", "go", "--preload", "style", "--preload", "pdf")
    assert told["system"] == system.content.text


@pytest.mark.parametrize("era", ERAS)
def test_references_that_fail(library: World, era: str) -> None:
    """[LIB: Failure semantics] a reference that fails is a notice, a preload that fails an error."""
    result = turn(era, message="/nothing go")
    assert result.messages[0].content.text == "/nothing go"
    assert "nothing" in result.description
    assert result.meta["skillc/events"][0]["type"] == "SkillResolutionFailed"

    async def call(client: Client) -> int:
        with pytest.raises(MCPError) as failed:
            await client.get_prompt("turn", {"message": "go", "preload_skills": "nothing"})
        return failed.value.error.code

    assert talk(call, era) == -32602


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_preloaded_instructions(library: World, era: str) -> None:
    """[LIB: Build flow (factory.rs step 11, revised)] the server's instructions have the preloaded skills."""

    async def instructions(*preload: str) -> str:
        async with Client(create_server(Workspace(), preload=preload), mode=era) as client:
            return await instructions_for(client, era) or ""

    assert BLOCK.format("style") not in asyncio.run(instructions())
    assert asyncio.run(instructions("style", "style")).count(BLOCK.format("style")) == 1
    library.fails("E001", "mcp", "--preload", "nothing")


@pytest.mark.slow
def test_capabilities(library: World) -> None:
    """[D58] a skill that needs a capability is there for a server that names it, and for no other."""

    async def views(*words: str) -> list[Any]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "skillc", "mcp", "--tools", "all", *words],
            cwd=library.project,
            env=library.env,
        )
        async with Client(server, mode=NEW) as client:
            browsed = (await client.call_tool("browse_skills", {})).structured_content["skills"]
            found = (await client.call_tool("skc_find", {"task": "xyzzy"})).structured_content["results"]
            loaded = await client.call_tool("load_skill", {"id": "shell"})
            return [[one["id"] for one in browsed].count("shell"), len(found), loaded.is_error]

    assert asyncio.run(views()) == [0, 0, True]
    assert asyncio.run(views("--capability", "other", "--capability", "shell")) == [1, 1, False]


@pytest.mark.parametrize("capabilities", [(), ("shell",)])
def test_resources_and_capabilities(library: World, capabilities: tuple[str, ...]) -> None:
    """[D58] nor is it among the resources, the skills of SEP-2640, or what prompts know."""
    uri = "skill://shell/SKILL.md"

    async def succeeds(call: Awaitable[Any]) -> bool:
        try:
            await call
        except MCPError as error:
            return error.code != INVALID_PARAMS
        return True

    async def views() -> list[bool]:
        workspace = Workspace(str(library.project), capabilities=capabilities)
        async with Client(create_server(workspace), mode=NEW) as client:
            resources = (await client.list_resources()).resources
            skills = (await ask(client, "skills/list"))["skills"]
            root = (await ask(client, "resources/directory/read", uri="skill://"))["resources"]
            use = {"skill": "shell"}
            turn = {"message": "Hello", "preload_skills": "shell"}
            return [
                uri in [str(one.uri) for one in resources],
                uri in [one["uri"] for one in skills],
                "skill://shell" in [one["uri"] for one in root],
                await succeeds(client.read_resource(uri)),
                await succeeds(ask(client, "skills/get", uri=uri)),
                await succeeds(ask(client, "resources/directory/read", uri="skill://shell")),
                await succeeds(client.get_prompt("use_skill", use)),
                await succeeds(client.get_prompt("turn", turn)),
            ]

    assert asyncio.run(views()) == [bool(capabilities)] * 8
