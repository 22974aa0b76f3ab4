"""Skills that are switched off, over MCP and on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.conftest import World, save
from tests.support.mcp import ERAS, ask, instructions_for, talk

LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "skills/list": "skills",
}
USES: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "skc_list", "arguments": {}}),
    ("tools/call", {"name": "load_skill", "arguments": {"id": "pdf"}}),
    ("prompts/get", {"name": "use_skill", "arguments": {"skill": "pdf"}}),
    ("resources/read", {"uri": "skill://pdf/SKILL.md"}),
    ("resources/read", {"uri": "skillc://inventory"}),
    ("skills/get", {"uri": "skill://pdf/SKILL.md"}),
    ("resources/directory/read", {"uri": "skill://pdf"}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "use_skill"}, "argument": {"name": "skill", "value": "p"}},
    ),
]


@pytest.fixture
def off(world: World) -> Path:
    """The file that switches skills off."""
    world.skill("pdf")
    file = world.project / ".skillc" / "skills.toml"
    save(file, "enabled = false\n")
    return file


async def refusals(client: Client) -> list[str]:
    """What each use of a skill is answered with."""
    found = []
    for method, params in USES:
        with pytest.raises(MCPError) as failed:
            await ask(client, method, **params)
        assert failed.value.error.code == -32602, method
        found.append(failed.value.error.message)
    return found


@pytest.mark.parametrize("era", ERAS)
def test_nothing_is_offered(off: Path, era: str) -> None:
    """[D56] no tools, resources, prompts or instructions; a use names the file that switched them off."""

    async def calls(client: Client) -> None:
        assert await instructions_for(client, era) is None
        for method, field in LISTS.items():
            assert (await ask(client, method))[field] == [], method
        assert set(await refusals(client)) == {f"skills are switched off in {off}"}

    talk(calls, era)


@pytest.mark.parametrize("era", ERAS)
def test_the_switch_is_followed(off: Path, era: str) -> None:
    """[D56] [D23] an edit of skills.toml counts from the next request on."""

    async def calls(client: Client) -> None:
        save(off, "enabled = true\n")
        for method, field in LISTS.items():
            assert (await ask(client, method))[field], method
        for method, params in USES:
            assert await ask(client, method, **params)
        save(off, "enabled = false # again\n")
        assert len(await refusals(client)) == len(USES)

    talk(calls, era)


@pytest.mark.slow
def test_commands_name_the_file(world: World, off: Path) -> None:
    """[D56] browse, inventory and find have nothing, list has the stores; each says why on stderr."""
    commands = (["browse"], ["inventory"], ["find", "fill a form"], ["list"])
    for words in commands:
        done = world.ok(*words)
        assert done.stderr == f"warning[W072]: skills are switched off in {off}\n"
        assert ("pdf" in done.stdout) is (words == ["list"])
    save(off, "")
    for words in commands:
        assert world.ok(*words).stderr == ""


def test_the_user_s_file_is_named(world: World) -> None:
    """[D56] the project's file wins over the user's; the one that counts is named."""
    own = world.home / ".skillc" / "skills.toml"
    own.parent.mkdir(exist_ok=True)
    save(own, "enabled = false\n")
    assert str(own) in world.ok("browse").stderr
    save(world.project / ".skillc" / "skills.toml", "enabled = true\n")
    assert world.ok("browse").stderr == ""
