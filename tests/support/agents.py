"""A home with agents, and their files that `skc setup` changes."""

from __future__ import annotations

import pytest

from tests.conftest import World

FILES = {  # of an agent, below the home
    "claude": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
    "gemini": (".gemini/settings.json",),
    "opencode": (".config/opencode/opencode.json",),
    "cursor": (".cursor/mcp.json",),
}


@pytest.fixture
def here(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A home in which agents are, with a login shell whose PATH has no skc."""
    for path in (path for paths in FILES.values() for path in paths):
        (world.home / path).parent.mkdir(parents=True, exist_ok=True)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "SHELL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    world.env["PATH"] = "/usr/bin:/bin"
    return world
