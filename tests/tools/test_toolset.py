"""Agents that may run what their skills declare: off by default, approved like any run."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

import skillc
from skillc.adapters import SkillToolset
from skillc.engine import AgentBuildConfig, AgentFactory, BuiltAgent
from skillc.library.sources.composite import CompositeSkillSource, NamedSource
from skillc.library.sources.filesystem import FilesystemSkillSource
from skillc.library.sources.source import InMemorySkillSource, SkillScope
from skillc.tools import ApprovalRequest, TrustStore, find_skill, sandbox
from skillc.tools.decisions import allow, trust_status
from tests.conftest import World
from tests.support.skills import run
from tests.support.tools import executable, tool

BUILT_IN = ["browse_skills", "load_skill", "find_skills", "list_skill_files", "read_skill_file"]


@pytest.fixture
def mine(world: World) -> Path:
    rows = "text | string | yes | What\ncount | integer | no | How often"
    return executable(world.global_store, "mine", tool("say", "printf %s-%s {{text}} {{count:1}}", rows))


def agent(world: World, toolset: SkillToolset | None, **options: Any) -> BuiltAgent:
    source = FilesystemSkillSource(world.global_store, SkillScope.USER)
    return run(AgentFactory().skill_source(source).build_agent(AgentBuildConfig(tools=toolset, **options)))


def names(built: BuiltAgent) -> list[str]:
    return [found.name for found in built.tools]


def call(built: BuiltAgent, name: str, **arguments: object) -> tuple[bool, str]:
    result = run(built.call_tool(name, arguments))
    return result.is_error, result.text


def test_beside_the_built_in_tools(world: World, mine: Path) -> None:
    """[TOOLS §6.1] [TOOLS §7.1] [D47] off unless the builder says so; then skill__tool, with a schema."""
    plain = agent(world, None)
    assert names(plain) == BUILT_IN
    unknown = f"unknown tool 'mine__say'; there are {', '.join(BUILT_IN)}"
    assert call(plain, "mine__say", text="x") == (True, unknown)
    built = agent(world, SkillToolset())
    assert names(built) == [*BUILT_IN, "mine__say"]
    assert built.tools[-1].parameters["required"] == ["text"]
    failed, text = call(built, "load_skill", id="mine")
    assert not failed
    assert text.startswith('<skill id="mine">')
    failed, text = call(built, "frobnicate")
    assert "there are browse_skills" in text
    assert "mine__say" in text


def test_every_call_is_approved(world: World, mine: Path) -> None:
    """[D46] [TOOLS §6.3] by the builder's callback, which sees what a person would; a yes is for one run."""
    asked: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    built = agent(world, SkillToolset(approve))
    for _ in range(2):
        failed, text = call(built, "mine__say", text="a b", count=2)
        assert not failed
        assert json.loads(text)["output"] == "a b-2"
        assert json.loads(text)["sandbox"] == sandbox.choose()
    assert [request.argv[1:] for request in asked] == [("%s-%s", "a b", "2")] * 2
    assert TrustStore().decisions() == []


def test_a_callback_may_be_awaited(world: World, mine: Path) -> None:
    """[D46] a callback may be awaited; whatever else than True it gives or raises approves nothing."""
    answers = [True, False]

    async def approve(request: ApprovalRequest) -> bool:
        await asyncio.sleep(0)
        return answers.pop(0)

    built = agent(world, SkillToolset(approve))
    assert call(built, "mine__say", text="x")[0] is False
    failed, text = call(built, "mine__say", text="x")
    envelope = json.loads(text)
    assert (failed, envelope["success"], envelope["code"]) == (True, False, "E063")
    assert envelope["error"] == "approval required for 'mine'; run 'skc trust allow mine'"
    others: list[object] = [1, "yes", None]

    def approve_oddly(request: ApprovalRequest) -> Any:
        return others.pop()  # which raises once there are no more

    built = agent(world, SkillToolset(approve_oddly))
    for _ in range(4):
        failed, text = call(built, "mine__say", text="x")
        assert failed
        assert text.startswith("error[E")


def test_without_a_callback(world: World, mine: Path) -> None:
    """[D46] only what is allowed runs, until a file of it changes."""
    built = agent(world, SkillToolset())
    failed, text = call(built, "mine__say", text="x")
    assert failed
    assert json.loads(text)["code"] == "E063"
    found, store = find_skill("mine", str(world.project)), TrustStore()
    allow(trust_status(found, store), store)
    assert call(built, "mine__say", text="x")[0] is False
    (mine / "new").write_text("")
    assert call(built, "mine__say", text="x")[0] is True


def test_failures_are_results(world: World, mine: Path) -> None:
    """[D40] [D55] wrong values, a command that fails, and a skill that is gone."""
    executable(world.global_store, "sad", tool("cry", "false"))
    built = agent(world, SkillToolset(lambda request: True))
    failed, text = call(built, "mine__say", text=1)
    envelope = json.loads(text)
    assert (failed, envelope["success"], envelope["code"]) == (True, False, "E062")
    assert envelope["error"] == "invalid parameter 'text': must be text, not a number"
    failed, text = call(built, "sad__cry")
    assert (failed, json.loads(text)["exit_code"]) == (True, 1)
    os.rename(mine, mine.with_name("moved"))
    assert call(built, "mine__say", text="x")[0]


def test_which_are_offered(world: World, mine: Path, caplog: pytest.LogCaptureFixture) -> None:
    """[D48] [D34] by mode, by what the agent may use, by the builder's choice; a faulty skill is logged."""
    executable(world.global_store, "dev", fields="modes: [Dev]\n")
    executable(world.global_store, "bad", tool("go", "echo 'open"))
    world.skill("plain", store=world.global_store)
    assert names(agent(world, SkillToolset()))[len(BUILT_IN) :] == ["mine__say"]
    assert "no tools of 'bad': invalid tool definition in 'bad'" in caplog.text
    assert names(agent(world, SkillToolset(mode="Dev")))[len(BUILT_IN) :] == ["dev__go", "mine__say"]
    assert names(agent(world, SkillToolset(mode="Dev", skills=["dev"])))[len(BUILT_IN) :] == ["dev__go"]
    assert names(agent(world, SkillToolset(mode="Dev"), deny=("mine",)))[len(BUILT_IN) :] == ["dev__go"]
    with pytest.raises(ValueError, match="mode must be Global"):
        SkillToolset(mode="Work")


def test_configured_repositories(world: World, mine: Path) -> None:
    """[D46] with the trust that each repository has: bundled and read-only tools run without asking."""
    executable(world.store, "theirs", tool("go", "echo theirs"), fields="read_only: true\n")
    built = run(
        AgentFactory(project_root=str(world.project)).build_agent(AgentBuildConfig(tools=SkillToolset()))
    )
    assert {"git__status", "files__read", "mine__say", "theirs__go"} <= {*names(built)}
    (world.home / "notes.txt").write_text("hello\n")
    failed, text = call(built, "files__read", path="notes.txt")
    assert (failed, json.loads(text)["output"]) == (False, "hello\n")
    assert call(built, "theirs__go")[0] is True


def test_sources_without_folders() -> None:
    """[D46] what is only text has nothing to run."""
    body = tool("go", "echo x")
    document = skillc.SkillDocument(skillc.SkillDescriptor(skillc.SkillId("a/b"), description="B"), body)
    memory = InMemorySkillSource([document])
    for source in (memory, CompositeSkillSource([NamedSource("memory", memory)])):
        built = run(AgentFactory().skill_source(source).build_agent(AgentBuildConfig(tools=SkillToolset())))
        assert names(built) == BUILT_IN


def test_a_call_that_is_called_off(world: World) -> None:
    """[D44] cancelling the call ends the command, and a question that stands open."""
    executable(
        world.global_store, "slow", tool("go", "sleep 600"), tool("ask", "true"), fields="timeout: 300\n"
    )
    asked = threading.Event()

    async def approve(request: ApprovalRequest) -> bool:
        asked.set()
        if request.tool == "slow.ask":
            await asyncio.sleep(600)
        return True

    built = agent(world, SkillToolset(approve))

    async def cancelled(name: str) -> None:
        asked.clear()
        calling = asyncio.create_task(built.call_tool(name, {}))
        await asyncio.to_thread(asked.wait, 60)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling

    run(cancelled("slow__go"))  # ends only when the thread has, and the thread when the command has
    run(cancelled("slow__ask"))


def test_runs_are_logged(world: World, mine: Path) -> None:
    """[RFC-0003] an agent's runs are in the skill's log as `skc run`'s are, refusals too."""
    built = agent(world, SkillToolset(lambda request: "hi" in request.argv))
    assert call(built, "mine__say", text="hi", count=2)[0] is False
    assert call(built, "mine__say", text="no")[0] is True
    assert call(built, "mine__say", count="x")[0] is True
    log = sqlite3.connect(world.home / ".skillc" / "runtime" / "mine" / ".skillc-meta" / "logs.db")
    rows = log.execute("SELECT command, skill, args, error FROM access_log ORDER BY id").fetchall()
    log.close()
    assert [(row[0], row[1]) for row in rows] == [("run", "mine")] * 3
    asked = {"tool": "say", "mode": "Global", "dry_run": False}
    assert [json.loads(row[2]) for row in rows] == [asked | {"success": True}, asked, asked]
    assert [row[3] and row[3].partition(" ")[0] for row in rows] == [None, "approval", "invalid"]
    world.ok("run", "mine", "say", "--param", "text=x", "--yes")
    assert '"total_accesses": 4' in world.ok("stats", "mine", "--format", "json").stdout


def test_a_run_that_can_not_be_logged(world: World, mine: Path, caplog: pytest.LogCaptureFixture) -> None:
    """[RFC-0003] logging never fails a run; it is told once more in the log of the program."""
    (world.home / ".skillc" / "runtime").touch()
    place = world.root / "place"
    (place / ".skillc").mkdir(parents=True)
    (place / ".skillc" / "logs").touch()
    built = agent(world, SkillToolset(lambda request: True, cwd=str(place)))
    assert call(built, "mine__say", text="hi")[0] is False
    assert "W002" in caplog.text
