"""The first session of an agent finds its openings: what the SDK answered in a rehearsal."""

from __future__ import annotations

from contextlib import chdir
from typing import Any

import pytest

from skillc.mcp.rehearsal import SESSIONS, rehearse
from skillc.mcp.stdio import make_opening
from skillc.workspace import Workspace
from tests.conftest import World


def ask_first(world: World, agent: str, **client: str) -> list[dict[str, Any] | None]:
    """Return what an agent gets before the SDK is loaded, in a project where it never was."""
    with chdir(world.project):
        opening = make_opening(Workspace())
        messages = [dict(each) for each in SESSIONS[agent]]
        messages[0]["params"] = {**messages[0]["params"]}
        messages[0]["params"]["clientInfo"] = {**messages[0]["params"]["clientInfo"], **client}
        return [opening.ask({"jsonrpc": "2.0", **each}) for each in messages if "id" in each]


@pytest.mark.slow
def test_every_first_request_is_answered(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D78] of a known agent in any project and version; of another one, nothing is known."""
    monkeypatch.setenv("HOME", str(world.home))
    rehearse(["claude", "codex", "cursor"])
    for agent in SESSIONS:
        answers = ask_first(world, agent, version="99.0.0")
        assert None not in answers, agent
        tools = [tool["name"] for answer in answers if answer for tool in answer.get("tools", ())]
        assert "skc_find" in tools
        assert ask_first(world, agent, name="someone else")[0] is None


def test_setup_rehearses(world: World) -> None:
    """[SURFACES: What agents see] once, where it wrote the server; --dry-run and --no-mcp run nothing."""
    (world.home / ".codex").mkdir()
    openings = world.home / ".skillc" / "cache" / "openings"
    for options in (("--dry-run",), ("--no-mcp", "--yes")):
        world.ok("setup", "codex", *options)
        assert not openings.exists()
    world.ok("mcp", "--install", "codex")
    assert len([*openings.glob("*.json")]) == 2
