"""`skc mcp --install` and `--uninstall`: what is there stays, and what can't be read is not touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import pytest

from skillc.compiler import read_agents
from skillc.setup.clients import AGENTS
from skillc.setup.mcp_entry import command
from tests.conftest import World, save
from tests.support.cases import each


@pytest.mark.slow
@each(("agent", "project"), product(sorted(AGENTS), [False, True]))
def test_every_agent(world: World, agent: str, project: bool) -> None:
    """[SURFACES: Serving] --print shows and writes nothing; then it is written, once."""
    words = ["mcp", "--install", agent, *(["--project"] if project else [])]
    known = AGENTS[agent]
    if project and not known.project:
        refusal = world.fails("E100", *words).stderr
        assert refusal.startswith(("error[E100]: Claude Desktop has no ", "error[E100]: Windsurf has no "))
        return
    path = world.project / known.project if project else world.home / known.user
    shown = world.ok(*words, "--print").stdout
    assert str(path) in shown
    assert not path.exists()
    told = world.ok(*words).stderr
    assert told.partition("; restart ")[2][:1].isupper()  # its name, not our key
    text = path.read_text()
    settings = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    entry = settings[known.key]["skillc"]
    start = entry["command"] if isinstance(entry["command"], list) else [entry["command"], *entry["args"]]
    assert start == (["skc", "mcp"] if project else [sys.executable, "-I", "-m", "skillc", "mcp"])
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
    before = '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {"command": "x"}\n    }\n}\n'
    save(real, before)
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
    world.ok("mcp", "--uninstall", "cursor")
    assert (world.home / ".cursor" / "mcp.json").is_symlink()
    assert real.read_text() == before


@pytest.mark.slow
def test_comments_are_never_lost(world: World) -> None:
    """[SURFACES: Serving] TOML and JSON keep their comments; what is neither is not written."""
    toml = world.home / ".codex" / "config.toml"
    toml.parent.mkdir()
    save(toml, "# mine\nmodel = 'x'\n\n[mcp_servers.other]\ncommand = 'y'")
    world.ok("mcp", "--install", "codex")
    assert toml.read_text().startswith("# mine\nmodel = 'x'\n")
    assert set(tomllib.loads(toml.read_text())["mcp_servers"]) == {"other", "skillc"}
    commented = world.project / ".vscode" / "mcp.json"
    commented.parent.mkdir()
    save(commented, '{\n  // mine\n  "servers": {}, "b": 1.0\n}\n')
    world.ok("mcp", "--install", "vscode", "--project")
    assert commented.read_text().startswith('{\n  // mine\n  "servers": {\n    "skillc": {')
    assert commented.read_text().endswith('}, "b": 1.0\n}\n')
    for text in ("[]", '{"servers": 7}', '{"a": '):
        save(commented, text)
        failed = world.fails("E999", "mcp", "--install", "vscode", "--project")
        assert '"skillc"' in failed.stderr
        assert commented.read_text() == text
    save(toml, "[mcp_servers.skillc]\ncommand = 'mine'\n")
    world.fails("E999", "mcp", "--install", "codex")
    assert "mine" in toml.read_text()


def test_every_name_of_an_agent(world: World) -> None:
    """[SURFACES: Serving] all names of `build --target` are taken; some have no known file."""
    for name, agent in (("claude-code", "claude"), ("gemini-cli", "gemini"), ("Cursor", "cursor")):
        assert str(_place(world, agent, False)) in world.ok("mcp", "--install", name).stdout
        world.ok("mcp", "--uninstall", name)
    for known in read_agents():
        world.ok("mcp", "--install", known.name, "--print")
    result = world.ok("mcp", "--install", "amp", "--project")
    assert json.loads(result.stdout) == {"mcpServers": {"skillc": {"command": "skc", "args": ["mcp"]}}}
    assert result.stderr.startswith("skc does not know where Amp keeps its MCP servers: ")
    assert "by hand" in world.fails("E100", "mcp", "--uninstall", "amp").stderr


def test_from_uvx(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Serving] an entry of uvx is ours; TOML keeps its comments, tables below go."""
    monkeypatch.setattr(sys, "prefix", "/home/you/.cache/uv/archive-v0/x1")
    world.ok("mcp", "--install", "cursor")
    entry = json.loads(_place(world, "cursor", False).read_text())["mcpServers"]["skillc"]
    assert entry == {"command": "uvx", "args": ["--from", "skillc", "skc", "mcp"]}
    world.ok("mcp", "--uninstall", "cursor")
    assert not _place(world, "cursor", False).exists()
    toml = _place(world, "codex", False)
    world.ok("mcp", "--install", "codex")
    entry = toml.read_text()
    save(toml, f"a = 1\n\n# above\n{entry}# below\n\n[mcp_servers.skillc.env]\nA = '1'\n\n[z]\nb = nan\n")
    world.fails("E999", "mcp", "--uninstall", "codex")
    world.ok("mcp", "--uninstall", "codex", "--force")
    assert toml.read_text() == "a = 1\n\n# above\n# below\n\n[z]\nb = nan\n"


def _place(world: World, agent: str, project: bool) -> Path:
    known = AGENTS[agent]
    return world.project / known.project if project else world.home / known.user


CASES = [
    (agent, project)
    for agent in sorted(AGENTS)
    for project in (False, True)[: 1 + bool(AGENTS[agent].project)]
]


@pytest.mark.slow
@each(("agent", "project"), CASES)
def test_every_agent_forgets(world: World, agent: str, project: bool) -> None:
    """[SURFACES: Serving] a file that --install made goes; in another every byte but ours stays."""
    path, words = _place(world, agent, project), [agent, *(["--project"] if project else [])]
    assert "no entry" in world.ok("mcp", "--uninstall", *words).stderr
    world.ok("mcp", "--install", *words)
    made = path.read_bytes()
    shown = world.ok("mcp", "--uninstall", *words, "--print")
    assert "-" in shown.stdout
    assert "Nothing was written" in shown.stderr
    assert path.read_bytes() == made
    assert "nothing else" in world.ok("mcp", "--uninstall", *words).stderr
    assert not path.exists()
    key = AGENTS[agent].key
    if path.suffix == ".toml":
        before = f"# mine\r\nmodel = 'x' # é\n\n[{key}.other]\ncommand = 'y'\n".encode()
    else:
        other = {"b": 1.50, key: {"other": {"command": "é", "args": []}}, "a": [1, {}]}
        before = (json.dumps(other, indent=4, ensure_ascii=False) + "\n").encode()
    path.write_bytes(before)
    path.chmod(0o640)
    world.ok("mcp", "--install", *words)
    assert b"skillc" in path.read_bytes()
    world.ok("mcp", "--uninstall", *words)
    assert path.read_bytes() == before
    assert path.stat().st_mode & 0o777 == 0o640
    assert not (world.home / ".skillc" / "trash").exists()


@each(("end", "mark"), product(["\n", "\r\n"], ["", "\ufeff"]))
def test_comments_beside_the_entry_stay(world: World, end: str, mark: str) -> None:
    """[SURFACES: Serving] JSON with comments, and commas at ends, is cut as text."""
    path = world.project / ".vscode" / "mcp.json"
    path.unlink(missing_ok=True)
    world.ok("mcp", "--install", "vscode", "--project")
    entry = json.dumps(json.loads(path.read_text())["servers"]["skillc"])
    parts = [
        "{ // top",
        '  "servers": {',
        '    "a": {}, /* of a, */ // "skillc": {}',
        f'    "skillc": {entry}, // ours',
        *('    "b": {"x": "// no comment {"}, // last', "  },", '  "inputs": [],', "}", ""),
    ]
    path.write_bytes((mark + end.join(parts)).encode())
    world.ok("mcp", "--uninstall", "vscode", "--project")
    parts[3] = " // ours"
    assert path.read_bytes() == (mark + end.join(parts)).encode()


@pytest.mark.slow
def test_an_edited_entry_is_kept(world: World) -> None:
    """[SURFACES: Serving] it is shown; with --force the file as it was is in the trash."""
    for agent, old, new in (
        ("claude", '"type"', '"env": {"A": "mine"},\n      "type"'),
        ("codex", "-I", "-X"),
    ):
        path = _place(world, agent, False)
        world.ok("mcp", "--install", agent)
        save(path, path.read_text().replace(old, new))
        edited = path.read_text()
        refused = world.fails("E999", "mcp", "--uninstall", agent)
        assert "--force" in refused.stderr
        assert new.split("\n")[0] in refused.stdout
        assert path.read_text() == edited
        assert "in the trash" in world.ok("mcp", "--uninstall", agent, "--force").stderr
        assert "skillc" not in path.read_text()
        entries = world.json("trash", "list")["entries"]
        assert entries[0]["from"] == str(path)
        assert Path(entries[0]["path"]).read_text() == edited
        assert Path(entries[0]["path"]).stat().st_mode & 0o077 == 0


def test_a_comment_within_an_entry_is_an_edit(world: World) -> None:
    """[SURFACES: Serving] what a person wrote does not go in silence."""
    for agent, old, new in (
        ("cursor", '"args"', '// why\n"args"'),
        ("codex", "args", "# why\nargs"),
        ("codex", "]\n", "] # why\n"),
    ):
        path = _place(world, agent, False)
        world.ok("mcp", "--install", agent)
        save(path, new.join(path.read_text().rsplit(old, 1)))
        if "# why\nargs" in new:  # a line of its own stays
            world.ok("mcp", "--uninstall", agent)
            assert path.read_text() == "# why\n"
            path.unlink()
            continue
        world.fails("E999", "mcp", "--uninstall", agent)
        assert "why" in path.read_text()


def test_an_entry_of_another_installation_is_ours(world: World) -> None:
    """[SURFACES: Serving] skc may have moved since: another Python's path is no edit of a person."""
    path = _place(world, "cursor", False)
    world.ok("mcp", "--install", "cursor")
    save(path, path.read_text().replace(sys.executable, "/gone/bin/python"))
    world.ok("mcp", "--uninstall", "cursor")
    assert not path.exists()
    path = _place(world, "codex", True)
    path.parent.mkdir()
    save(
        path, "[mcp_servers.skillc]\ncommand = '/gone/python'\nargs = ['-I', '-m', 'skillc', 'mcp']\n\n[a]\n"
    )
    world.ok("mcp", "--install", "codex", "--project")
    assert tomllib.loads(path.read_text()) == {
        "a": {},
        "mcp_servers": {"skillc": {"command": "skc", "args": ["mcp"]}},
    }


@pytest.mark.slow
def test_what_can_not_be_cut_is_not_touched(world: World) -> None:
    """[SURFACES: Serving] broken files, entries that are there twice, and inline tables."""
    path = _place(world, "cursor", False)
    path.parent.mkdir()
    twice = (
        '{"mcpServers": {"skillc": 1, "skillc": {"command": "/p", "args": ["-I", "-m", "skillc", "mcp"]}}}'
    )
    deep = '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"
    for text in ('{"a": ', "{]", '{"mcpServers" 7}', '{"a": "\n"}', deep, twice, "{} x", "/* "):
        save(path, text)
        assert str(path) in world.fails("E999", "mcp", "--uninstall", "cursor").stderr
        assert path.read_text() == text
    toml = _place(world, "codex", False)
    toml.parent.mkdir()
    for text in (
        "a = ",
        "[mcp_servers]\no = {}\nskillc = {command = '/p', args = ['-I', '-m', 'skillc', 'mcp']}\n",
    ):
        save(toml, text)
        world.fails("E999", "mcp", "--uninstall", "codex")
        assert toml.read_text() == text
    for text in ("[]", '{"mcpServers": 3}', "7", "  "):
        save(path, text)
        assert "no entry" in world.ok("mcp", "--uninstall", "cursor").stderr
        assert path.read_text() == text


def test_options_and_json(world: World) -> None:
    """[RFC-0005] [SURFACES: Getting skills] E100 that says what goes with what; JSON says which file
    changed.
    """
    world.fails("E100", "mcp", "--install", "claude", "--uninstall", "claude")
    world.fails("E100", "mcp", "--force")
    world.fails("E100", "mcp", "--print")
    world.fails("E100", "mcp", "--uninstall", "windsurf", "--project")
    words = ("claude", "--format", "json")
    results = []
    for option in ("--install", "--install", "--uninstall", "--uninstall"):
        preview = world.ok("mcp", option, *words, "--print")
        result = world.ok("mcp", option, *words)
        value = json.loads(result.stdout)
        assert json.loads(preview.stdout) == value | {"written": False}
        assert (value["agent"], result.stderr) == ("claude", "")
        assert bool(value["difference"]) or not value["changed"]
        results.append((value["changed"], value["written"]))
    assert results == [(True, True), (False, False)] * 2
    world.fails("E100", "mcp", "--format", "json")


def test_a_projects_file_that_leads_out(world: World) -> None:
    """[D63] a clone's link in place of a project's file of servers: nothing is written where it leads."""
    victim = world.home / ".claude.json"
    save(victim, "{}")
    (world.project / ".mcp.json").symlink_to(victim)
    world.fails("E012", "mcp", "--install", "claude", "--project")
    assert victim.read_text() == "{}"
