"""Real agents have the tools of `skc mcp` in the first request to their model."""

from __future__ import annotations

import json
import sys
import time

import pytest

from tests.agents.programs import ask, new_home

SERVER = (sys.executable, "-I", "-m", "skillc", "mcp")
SESSIONS = 3

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("agent", "count"), [("claude", 4), ("codex", 2)])
def test_the_first_prompt_has_the_tools(agent: str, count: int) -> None:
    """[D78] The server of an agent that was there before is ready in time."""
    with new_home() as home:
        openings = home / ".skillc" / "cache" / "openings"
        end = time.monotonic() + 60
        while (
            len([*openings.glob("*.json")]) < count and time.monotonic() < end
        ):  # some end before the SDK answers
            ask(agent, home, server=SERVER)
        requests = [ask(agent, home, server=SERVER)[0] for _ in range(SESSIONS)]
        assert ["skc_find" in json.dumps(request["tools"]) for request in requests] == [True] * SESSIONS
