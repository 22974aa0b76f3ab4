"""The skills that ship with skillc: they are good ones, and their tools work where skillc does."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillc.paths import embedded_skills
from skillc.tools import Answer, ToolCall, find_skill, format_tools, load_executable, sandbox
from skillc.tools.run import prepare, start_run
from tests.conftest import World
from tests.tools.levels import works

NAMES = sorted(path.name for path in Path(embedded_skills()).iterdir() if path.is_dir())


@pytest.fixture
def repository(world: World) -> Path:
    """A git repository with a commit and a change since."""
    git = ["git", "-c", "user.name=Someone", "-c", "user.email=some@one", "-C", str(world.project)]
    (world.project / "notes.txt").write_text("one\ntwo\nthree\n")
    (world.project / "docs").mkdir()
    (world.project / "docs" / "guide.md").write_text("# Guide\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "First commit"]):
        subprocess.run([*git, *words], check=True, env=world.env)
    (world.project / "notes.txt").write_text("one\ntwo\nfour\n")
    return world.project


def output(world: World, skill: str, tool: str, *words: str, cwd: Path | None = None) -> str:
    """What a tool prints, without anybody being asked."""
    result = json.loads(world.ok("run", skill, tool, *words, cwd=cwd).stdout)
    assert result["sandbox"] == sandbox.choose()
    return str(result["output"])


def test_they_are_sound(world: World) -> None:
    """[RFC-0008] [TOOLS §2.2] [TOOLS §6.2] three, with nothing to fix; tools only read, without network."""
    assert NAMES == ["files", "git", "skillc"]
    run = world.ok("lint", "--all", embedded_skills(), "--strict", "--format", "json")
    report = json.loads(run.stdout)
    assert (len(report["skills"]), report["errors"], report["warnings"]) == (3, 0, 0)
    for name in ("git", "files"):
        skill = load_executable(f"{embedded_skills()}/{name}", name)
        assert skill.diagnostics == ()
        assert (skill.definition.read_only, skill.definition.network) == (True, False)
        for form in ("openai", "anthropic", "mcp"):
            assert len(format_tools(skill.tools, form)) == len(skill.tools)


@pytest.mark.slow
def test_git(world: World, repository: Path) -> None:
    """[TOOLS §8.1] [TOOLS §6.2] bundled and read-only: it runs without asking, from anywhere below."""
    status = output(world, "git", "status", cwd=repository / "docs")
    assert status.startswith("## main\n M notes.txt\n")
    assert "Someone: First commit" in output(world, "git", "log")
    assert output(world, "git", "log", "--param", "paths=no-such-file") == ""
    assert output(world, "git", "log", "--param", "ref=HEAD~0", "--param", "count=1").count("\n") == 1
    assert "+four" in output(world, "git", "diff")
    assert output(world, "git", "diff", "--param", "staged=true") == ""
    assert "1 file changed" in output(
        world, "git", "diff", "--param", "stat=true", "--param", "paths=notes.txt"
    )
    assert output(world, "git", "branch", "--param", "all=true").startswith("* main ")


@pytest.mark.slow
@pytest.mark.parametrize("level", sandbox.LEVELS)
def test_at_every_level(world: World, repository: Path, level: str) -> None:
    """[D45] [D54] [TOOLS §6.2] each tool works in every sandbox, and without one once it is approved."""
    works(level)
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("git", "status", {}),
        ("git", "log", {}),
        ("git", "diff", {"stat": True}),
        ("git", "branch", {}),
        ("files", "find", {}),
        ("files", "read", {"path": "notes.txt"}),
        ("files", "count", {"paths": ["notes.txt"]}),
    ]
    for name, tool, values in calls:
        found = find_skill(name, str(repository))
        prepared = prepare(ToolCall(found, tool, values, str(repository)), world.env)
        launch = dataclasses.replace(prepared.launch, sandbox=level)
        approve = (lambda request: Answer.ONCE) if level == sandbox.NONE else None
        envelope = start_run(dataclasses.replace(prepared, launch=launch), approve)
        assert envelope.success, envelope
        assert envelope.output
        assert envelope.sandbox == level


@pytest.mark.slow
def test_git_starts_nothing_that_a_repository_asks_for(world: World, repository: Path) -> None:
    """[TOOLS §6.1] programs in the repository's configuration are not started, and values are no options."""
    marker = world.root / "marker"
    evil = repository / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {marker} {repository}/marker\n")
    evil.chmod(0o755)
    keys = ("core.fsmonitor", "core.pager", "diff.external", "pager.log", "pager.branch", "diff.x.textconv")
    for key in keys:
        subprocess.run(["git", "-C", str(repository), "config", key, str(evil)], check=True, env=world.env)
    (repository / ".gitattributes").write_text("*.txt diff=x\n")
    for tool in ("status", "log", "diff", "branch"):
        output(world, "git", tool)
    assert not marker.exists()
    assert not (repository / "marker").exists()
    result = world.skc("run", "git", "log", "--param", f"ref=--output={repository}/marker")
    assert json.loads(result.stdout)["success"] is False
    assert not (repository / "marker").exists()


@pytest.mark.slow
def test_files(world: World, repository: Path) -> None:
    """[TOOLS §6.2] find, count, read."""
    assert sorted(output(world, "files", "find").split()) == ["./docs/guide.md", "./notes.txt"]
    assert output(world, "files", "find", "--param", "name=*.md") == "./docs/guide.md\n"
    assert output(world, "files", "find", "--param", "depth=1") == "./notes.txt\n"
    assert output(world, "files", "find", "--param", "path=docs") == "docs/guide.md\n"
    assert output(world, "files", "read", "--param", "path=notes.txt") == "one\ntwo\nfour\n"
    lines = ("--param", "first=2", "--param", "last=2")
    assert output(world, "files", "read", "--param", "path=notes.txt", *lines) == "two\n"
    paths = ("--param", "paths=notes.txt", "--param", "paths=docs/guide.md")
    assert output(world, "files", "count", *paths).split()[-4:] == ["4", "5", "21", "total"]
    world.fails("E062", "run", "files", "find", "--param", "path=-delete")
    world.fails("E062", "run", "files", "read")
