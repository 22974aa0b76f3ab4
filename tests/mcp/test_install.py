"""`skc mcp --install`: what is there stays, it is shown first, and what can't be read is not touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib

import pytest

from skillc.mcp.install import AGENTS, agents, command
from tests.conftest import World, save


@pytest.mark.slow
@pytest.mark.parametrize("agent", sorted(AGENTS))
@pytest.mark.parametrize("project", [False, True])
def test_every_agent(world: World, agent: str, project: bool) -> None:
    """[SURFACES: Serving] --print shows and writes nothing; then it is written, once."""
    words = ["mcp", "--install", agent, *(["--project"] if project else [])]
    known = AGENTS[agent]
    if project and not known.project:
        world.fails("E100", *words)
        return
    path = world.project / known.project if project else world.home / known.user
    shown = world.ok(*words, "--print").stdout
    assert str(path) in shown
    assert not path.exists()
    world.ok(*words)
    text = path.read_text()
    settings = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    entry = settings[known.key]["skillc"]
    start = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert start == [sys.executable, "-I", "-m", "skillc", "mcp"]
    assert "there already" in world.ok(*words).stderr
    assert path.read_text() == text


def test_hostile_directory(world: World) -> None:
    """[SURFACES: Serving] the command runs nothing of the directory that an agent starts it in."""
    mark = world.root / "pwned"
    for name in ("skillc", "mcp", "yaml", "json", "sitecustomize", "encodings"):
        save(world.project / f"{name}.py", f"open({str(mark)!r}, 'w')\n")
        (world.project / name).mkdir()
        save(world.project / name / "__init__.py", f"open({str(mark)!r}, 'w')\n")
    programs = world.root / "programs"
    programs.mkdir()
    save(programs / "skc", f"#!/bin/sh\ntouch {mark}\n")
    (programs / "skc").chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    env = world.env | {"PYTHONPATH": str(world.project), "PATH": path}
    words = [sys.executable, "-I", "-m", "skillc", "mcp", "--install", "claude", "--project", "--print"]
    shown = subprocess.run(
        words, cwd=world.project, env=env, capture_output=True, text=True, check=True
    ).stdout
    assert str(programs) not in shown
    run = subprocess.run(
        [*command(), "--help"], cwd=world.project, env=env, capture_output=True, text=True, check=True
    )
    assert "mcp" in run.stdout
    assert not mark.exists()


def test_what_is_there_stays(world: World) -> None:
    """[SURFACES: Serving] other servers, other settings, the indentation and a link to the file."""
    real = world.home / "dotfiles.json"
    save(real, '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {"command": "x"}\n    }\n}\n')
    real.chmod(0o600)
    (world.home / ".cursor").mkdir()
    (world.home / ".cursor" / "mcp.json").symlink_to(real)
    shown = world.ok("mcp", "--install", "cursor").stdout
    assert '+        "skillc": {' in shown
    settings = json.loads(real.read_text())
    assert (settings["theme"], settings["mcpServers"]["other"]) == ("dark", {"command": "x"})
    assert '\n    "theme"' in real.read_text()
    assert (world.home / ".cursor" / "mcp.json").is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600


def test_comments_are_never_lost(world: World) -> None:
    """[SURFACES: Serving] TOML keeps its comments; JSON with comments is not written."""
    toml = world.home / ".codex" / "config.toml"
    toml.parent.mkdir()
    save(toml, "# mine\nmodel = 'x'\n\n[mcp_servers.other]\ncommand = 'y'")
    world.ok("mcp", "--install", "codex")
    assert toml.read_text().startswith("# mine\nmodel = 'x'\n")
    assert set(tomllib.loads(toml.read_text())["mcp_servers"]) == {"other", "skillc"}
    commented = world.project / ".vscode" / "mcp.json"
    commented.parent.mkdir()
    for text in ('{\n  // mine\n  "servers": {}\n}\n', "[]", '{"servers": 7}', '{"a": '):
        save(commented, text)
        failed = world.fails("E999", "mcp", "--install", "vscode", "--project")
        assert '"skillc"' in failed.stderr
        assert commented.read_text() == text
    save(toml, "[mcp_servers.skillc]\ncommand = 'mine'\n")
    world.fails("E999", "mcp", "--install", "codex")
    assert "mine" in toml.read_text()


def test_an_unknown_agent(world: World) -> None:
    """[RFC-0005] E100 that lists the known ones."""
    failed = world.fails("E100", "mcp", "--install", "nobody")
    assert ", ".join(agents()) in failed.stderr
