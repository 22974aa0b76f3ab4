"""`skc listing` without the agents: which folders count, what takes a skill out, what is said."""

from __future__ import annotations

import json
import os
from pathlib import Path

from skillc.listing import read_rules
from tests.conftest import World, check_failure, check_success
from tests.listing.states import listing, put, put_program, states
from tests.support.cases import each


def test_a_full_listing(world: World) -> None:
    """[SURFACES: What agents see] of 60 skills Claude Code lists most by name; a larger window helps."""
    for number in range(60):
        put(world.home / ".claude" / "skills", f"s{number:03d}", "x" * 200)
    (agent,) = listing(world, "--agent", "claude")["agents"]
    assert (agent["window"], agent["budget"], agent["measured"]) == (200_000, 8_000, "2026-11-18")
    assert agent["used"] <= agent["budget"] < agent["needed"]
    counts = [sum(s["state"] == state for s in agent["skills"]) for state in ("whole", "name")]
    assert counts == [16, 44]  # as the real program
    assert set(states(world, "claude", "--window", "1000000").values()) == {"whole"}
    text = check_success(world.skc("listing", "--agent", "claude", "--skills")).stdout
    assert "the model sees 16 of 60 descriptions whole" in text
    assert "name   0      200  s059" in text
    assert "'skc import' takes over 60 skills of others" in text
    assert "skc import && skc listing fit" in world.skc("doctor").stdout
    (world.home / ".skillc").mkdir(exist_ok=True)
    (world.home / ".skillc" / "config.toml").write_text("[listing]\nwindow = 1000000\n")
    assert set(states(world, "claude").values()) == {"whole"}


def test_what_is_on_demand(world: World) -> None:
    """[D75] each agent by its own field or file; what is too long is cut, or takes the skill out."""
    claude, codex, copilot = (world.home / f".{name}" / "skills" for name in ("claude", "codex", "copilot"))
    hidden = "disable-model-invocation: true\n"
    for folder in (claude, codex, copilot):
        put(folder, "plain")
        put(folder, "field", more=hidden)
        policy = put(folder, "policy").parent / "agents" / "openai.yaml"
        policy.parent.mkdir()
        policy.write_text("policy: {allow_implicit_invocation: false}\n")
        put(folder, "long", "x" * 2000)
    shown = {"plain": "whole", "field": "on-demand", "policy": "whole", "long": "cut"}
    assert states(world, "claude") == shown
    assert states(world, "github-copilot") == shown | {"long": "absent"}
    assert states(world, "codex") == shown | {"field": "whole", "policy": "on-demand"}
    said = world.ok("listing", "--agent", "github-copilot").stdout
    assert "GitHub Copilot: 1 description missing or too long" in said
    assert "GitHub Copilot does not show 1 description whole" in world.skc("doctor").stdout


def save(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_commands_and_plugins(world: World) -> None:
    """[D75] custom commands of Claude Code and what enabled plugins bring take room, and stay as they are."""
    commands = world.home / ".claude" / "commands"
    for name, text in {
        "one.md": "# First line\n\nText",
        "below/two.md": "---\ndescription: Second\nwhen_to_use: often\n---\n",
        "hidden.md": "---\ndisable-model-invocation: true\n---\n",
        "empty.md": "",
        "other.txt": "No command",
        "all/SKILL.md": "All of it",
        "all/part.md": "Part",
        "long.md": "x" * 200,
    }.items():
        save(commands / name, text)
    (commands / "below" / "loop").symlink_to(commands)
    save(world.project / ".claude" / "commands" / "here.md", "In a project")
    plugin = world.root / "plugin"
    put(plugin / "skills", "three")
    save(plugin / "commands" / "four.md", "Fourth")
    entries = {key: [{"installPath": str(plugin)}] for key in ("plug@x", "off@x", "unknown@x")}
    record = json.dumps({"version": 2, "plugins": {**entries, "bad@x": ["?"], "worse@x": None}})
    save(world.home / ".claude" / "plugins" / "installed_plugins.json", record)
    settings = save(
        world.home / ".claude" / "settings.json",
        '{"enabledPlugins": {"plug@x": true, "off@x": false, "bad@x": 1}}',
    )
    shown = states(world, "claude", cwd=world.project)
    assert {name for name in shown if "loop" not in name} == {
        *("all", "below:two", "empty", "here", "hidden", "long", "one", "plug:four", "plug:three")
    }
    (claude,) = listing(world, "--agent", "claude", cwd=world.project)["agents"]
    lengths = {skill["id"]: skill["length"] for skill in claude["skills"]}
    assert (lengths["one"], lengths["below:two"], lengths["long"]) == (10, len("Second - often"), 100)
    assert (shown["hidden"], shown["empty"]) == ("on-demand", "whole")
    assert not any(skill["ours"] for skill in claude["skills"])
    settings.write_text('{"enabledPlugins": ["plug@x"]}')
    assert "plug:four" not in states(world, "claude", cwd=world.project)
    assert "one" not in states(world, "codex", cwd=world.project)


def test_folders(world: World, tmp_path: Path) -> None:
    """[D75] folders of the home, moved ones, and those of a project count; of one name the first."""
    put(world.home / ".claude" / "skills", "mine")
    (world.project / ".git").mkdir()
    put(world.project / ".claude" / "skills", "ours")
    below = world.project / "a" / "b"
    put(below / ".claude" / "skills", "here")
    put(below / ".claude" / "skills", "mine")
    assert list(states(world, "claude-code", cwd=below)) == ["mine", "here", "ours"]
    put(tmp_path / "moved" / "skills", "other")
    env = {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}
    assert list(states(world, "claude", cwd=world.home, env=env)) == ["other"]
    put(world.home / ".agents" / "skills", "shared")
    for agent in ("codex", "opencode", "gemini", "copilot"):
        assert "shared" in states(world, agent)


def test_an_agent_that_was_not_measured(world: World) -> None:
    """[SURFACES: What agents see] nothing is guessed about it; skills that another tool put there count."""
    put(world.home / ".cursor" / "skills", "pdf")
    agents = {each["agent"]: each for each in listing(world)["agents"]}
    cursor = agents["cursor"]
    assert (cursor["measured"], cursor["budget"], cursor["skills"][0]["state"]) == (None, None, None)
    assert "not measured" in check_success(world.skc("listing", "--agent", "cursor")).stdout
    check_failure(world.skc("listing", "--agent", "cluade"), "E100")
    put(world.home / ".claude" / "skills", "foreign")
    world.skill("pdf")
    check_success(world.skc("build", "pdf"))
    (agent,) = listing(world, "--agent", "claude", cwd=world.home)["agents"]
    assert {s["id"]: s["ours"] for s in agent["skills"]} == {"foreign": False, "pdf": True}


@each(("version", "is_newer"), [("2.1.197", False), ("2.1.20", False), ("2.2.0", True)])
def test_a_newer_agent(world: World, version: str, is_newer: bool) -> None:
    """[SURFACES: What agents see] the version is read from its files, and it is not run."""
    program = put_program(world, version)
    env = {"PATH": f"{program.parent}{os.pathsep}{world.env['PATH']}"}
    run = check_success(world.skc("listing", "--agent", "claude", "--format", "json", env=env))
    assert json.loads(run.stdout)["agents"][0]["version"] == version
    assert ("warning[W100]" in run.stderr) == is_newer
    assert not (world.project / "was-run").exists()


def test_hostile_folders(world: World) -> None:
    """[SURFACES: What agents see] what can't be read is left out, as the agents leave it out."""
    folder = world.home / ".claude" / "skills"
    put(folder, "good")
    (folder / "a-file").write_text("x")
    (folder / "empty").mkdir()
    (folder / "binary").mkdir()
    (folder / "binary" / "SKILL.md").write_bytes(b"\xff\x00" * 1000)
    (folder / "large").mkdir()
    (folder / "large" / "SKILL.md").write_bytes(b"---\nname: x\n---\n" + b"x" * (2 << 20))
    os.mkfifo(folder / "large" / "pipe")
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe" / "SKILL.md")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "{name}").mkdir()
    (folder / "{name}" / "SKILL.md").write_text("---\nname: '{path.__class__}'\ndescription: '{0}'\n---\n")
    assert {"good", "{name}"} <= set(states(world, "claude")) <= {"good", "{name}", "binary", "large"}


def test_the_table() -> None:
    """[SURFACES: What agents see] every rule names its version, its day, and what it does when it is full."""
    for rule in read_rules().values():
        assert rule.version
        assert rule.measured.year >= 2026
        assert rule.user
        assert bool(rule.overflow) == (rule.characters(200_000) is not None)
