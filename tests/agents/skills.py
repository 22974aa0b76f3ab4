"""Skills of all kinds for real agents, and what `skc listing` says of them."""

from __future__ import annotations

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


def predict(agent: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> AgentListing:
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "COPILOT_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return list_agents(str(home / "work"), agent, WINDOWS[agent]).agents[0]
