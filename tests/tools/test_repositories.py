"""Tools of skills that repositories have: found as every command finds them, and trusted by location."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillc.tools import find_skill
from skillc.tools.trust import TrustLevel
from tests.conftest import World
from tests.support.http import Chunks, Request, Stub, entry, page
from tests.support.mcp import YES, answering, near
from tests.support.tools import executable, tool

BODY = tool("say", "echo {{word}}", "word | string | yes | What to say")


@pytest.fixture
def team(world: World) -> Iterator[Stub]:
    """An HTTP repository with a skill that declares a tool."""
    stub = Stub()
    stub.answer = lambda request: api(request, BODY)
    configure(world, f'name = "team"\ntype = "http"\nurl = "{stub.url}/api"\nrefresh_seconds = 0\n')
    yield stub
    stub.close()


def api(request: Request, body: str) -> Chunks:
    if request.path == "/api/skills":
        return [page({"skills": [entry("talk/echo")]})]
    if request.path == "/api/skills/talk%2Fecho":
        return [page(entry("talk/echo", body=body, extensions={"version": "1.0.0"}))]
    return [page({"error": {}}, 404)]


def configure(world: World, *repositories: str) -> None:
    text = "".join(f"[[repositories]]\n{lines}\n" for lines in repositories)
    (world.project / ".skillc" / "skills.toml").write_text(text)


def log_of(runtime: Path) -> list[tuple[Any, ...]]:
    database = sqlite3.connect(runtime / ".skillc-meta" / "logs.db")
    with database:
        rows = database.execute("SELECT command, skill, error FROM access_log ORDER BY id").fetchall()
    database.close()
    return rows


@pytest.mark.slow
def test_of_an_http_repository(world: World, team: Stub) -> None:
    """[D46] [TOOLS §6.1] listed, run once it is approved, allowed while its text stays; never trusted."""
    (listed,) = world.json("tools", "talk/echo")
    assert listed["name"] == "talk.echo.say"
    found = find_skill("talk/echo", str(world.project))
    assert found.level is TrustLevel.UNTRUSTED
    assert "the http repository 'team'" in found.origin
    run = ["run", "talk/echo", "say", "--param", "word=hi"]
    refused = world.fails("E063", *run)
    assert "run 'skc trust allow talk/echo'" in refused.stderr
    ran = json.loads(world.ok(*run, "--yes").stdout)
    assert (ran["success"], ran["output"]) == (True, "hi\n")
    digest = world.json("trust", "show", "talk/echo")["digest"]
    world.ok("trust", "allow", "talk/echo", "--digest", digest)
    assert json.loads(world.ok(*run).stdout)["output"] == "hi\n"
    team.answer = lambda request: api(request, BODY.replace("echo", "printf"))
    world.fails("E063", *run)
    now = world.json("trust", "show", "talk/echo")
    assert (now["decision"], now["changed"]) == (None, ["changed: SKILL.md"])


@pytest.mark.slow
def test_while_the_repository_is_away(world: World, team: Stub) -> None:
    """[D27] the copy serves on, and that is said."""
    world.ok("tools", "talk/echo")
    team.answer = lambda request: [page({}, 503)]
    result = world.ok("run", "talk/echo", "say", "--param", "word=hi", "--yes")
    assert json.loads(result.stdout)["output"] == "hi\n"
    assert "warning[W201]: repository 'team' could not be refreshed" in result.stderr


def test_over_mcp(world: World, team: Stub) -> None:
    """[SURFACES: Serving] [D46] `run_tool` runs it after a yes, and the run is in the skill's log."""
    asked: list[str] = []

    async def talk() -> Any:
        async with near("legacy", elicitation_callback=answering(YES, asked)) as client:
            given = {"skill": "talk/echo", "tool": "say", "parameters": {"word": "hi"}}
            return await client.call_tool("run_tool", given)

    result = asyncio.run(talk())
    assert not result.is_error, result.content
    assert result.structured_content["output"] == "hi\n"
    assert len(asked) == 1
    assert log_of(world.home / ".skillc/runtime/talk+echo") == [("run", "talk/echo", None)]


def test_a_copy_given_as_a_path(world: World, team: Stub) -> None:
    """[D46] untrusted, whatever this project calls by the name of its repository."""
    copy = find_skill("talk/echo", str(world.project)).directory
    configure(world, f'name = "team"\ntype = "filesystem"\npath = "{world.global_store}"')
    found = find_skill(copy, str(world.project))
    assert found.level is TrustLevel.UNTRUSTED
    assert found.origin.startswith("a copy from the repository 'team'")
    assert found.path == copy


@pytest.mark.slow
def test_folders_in_the_way_and_elsewhere(world: World) -> None:
    """[D13a] [RFC-0005] [D46] a folder hides no repository's skill; what E063 says of one elsewhere works."""
    (world.project / "git").mkdir()
    (world.project / "nothing").mkdir()
    assert find_skill("git", str(world.project)).level is TrustLevel.BUNDLED
    assert "git" in world.ok("outline", "git").stdout.lower()
    for command in ("outline", "tools"):
        world.fails("E010", command, "nothing")
    folder = executable(world.root, "theirs")
    refused = world.fails("E063", "run", str(folder), "go")
    assert f"run 'skc trust allow {folder}'" in refused.stderr
