"""Skills of all kinds for real agents, and what `skc listing` says of them."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from skillc.listing import AgentListing, list_agents

WINDOWS = {"claude": 200_000, "codex": 272_000, "github-copilot": 200_000, "opencode": 200_000}
WORDS = [
    *("fill", "forms", "in", "documents,", "tables", "&", "<lists>;", "when", "größere", "Übersichten"),
    *("or", "表"),
]
SKILL = "---\nname: {name}\ndescription: {description}\n---\n# {name}\n\nText.\n"


def write_skills(folder: Path, count: int, seed: int = 1) -> None:
    """Write skills with descriptions of all lengths, some with fields that agents act on."""
    chance = random.Random(seed)
    for number in range(count):
        name = f"{chance.choice('abcmnz')}-skill-{number:04d}"
        description = " ".join(chance.choices(WORDS, k=chance.randint(3, 60)))
        path = folder / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(SKILL.format(name=name, description=f'"{description}"'))
        if number % 9 == 4:
            path.write_text(path.read_text().replace("\n---\n#", "\ndisable-model-invocation: true\n---\n#"))
        if number % 9 == 7:
            (path.parent / "agents").mkdir()
            (path.parent / "agents" / "openai.yaml").write_text(
                "policy:\n  allow_implicit_invocation: false\n"
            )


def write_commands(folder: Path, count: int, seed: int = 2) -> None:
    """Write custom commands of Claude Code, some in folders, without a description, or in capital letters."""
    chance = random.Random(seed)
    for number in range(count):
        name = f"{chance.choice('abcmnz')}-command-{number:03d}"
        path = folder / ("" if number % 4 else "some/more") / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = " ".join(chance.choices(WORDS, k=chance.randint(3, 40)))
        head = "" if number % 3 else f'---\ndescription: "{text}"\n---\n'
        if number % 5 == 2:
            head = "---\ndescription: |\n  One\n  of several\n  lines\n---\n"
        path.write_text(f"{head}# {text}\n\nText.\n")
    for name, text in {
        "empty.md": "",
        "capital.MD": "No command",
        "one/SKILL.md": "One",
        "one/x.md": "x",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def write_plugin(home: Path) -> None:
    """Write a plugin as Claude Code installs it, with skills and commands."""
    folder = home / ".claude" / "plugins" / "cache" / "market" / "plug" / "1.0.0"
    for name in ("skills/first/SKILL.md", "skills/other/SKILL.md", "commands/third.md"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(f"---\nname: x\ndescription: {'What it is for. ' * 9}\n---\nText.\n")
    (folder / ".claude-plugin").mkdir()
    (folder / ".claude-plugin" / "plugin.json").write_text('{"name": "plug", "version": "1.0.0"}')
    entry = {"scope": "user", "installPath": str(folder), "version": "1.0.0"}
    record = {"version": 2, "plugins": {"plug@market": [entry], "off@market": [entry]}}
    (home / ".claude" / "plugins" / "installed_plugins.json").write_text(json.dumps(record))
    market = home / "market"
    (market / ".claude-plugin").mkdir(parents=True)
    (market / "plug").symlink_to(folder)
    plugins = [{"name": "plug", "source": "./plug", "description": "x"}]
    text = json.dumps({"name": "market", "owner": {"name": "x"}, "plugins": plugins})
    (market / ".claude-plugin" / "marketplace.json").write_text(text)
    source = {"source": {"source": "directory", "path": str(market)}, "installLocation": str(market)}
    source["lastUpdated"] = "2026-11-19T18:14:52.772Z"
    (home / ".claude" / "plugins" / "known_marketplaces.json").write_text(json.dumps({"market": source}))
    enabled = {"plug@market": True, "off@market": False}
    (home / ".claude" / "settings.json").write_text(json.dumps({"enabledPlugins": enabled}))


def predict(agent: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> AgentListing:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return list_agents(str(home / "work"), agent, WINDOWS[agent]).agents[0]
