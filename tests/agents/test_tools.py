"""Real agents have the tools of `skc mcp` in the first request to their model."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.agents.programs import ask, new_home
from tests.support.examples import sample

SERVER = (sys.executable, "-I", "-m", "skillc", "mcp")

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_first_session_has_the_tools(agent: str) -> None:
    """[D78] setup rehearses it: the agent has never started the server before."""
    with new_home(agent) as home:
        (home / f".{agent}").mkdir()
        env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "CLAUDE_CONFIG_DIR": f"{home}/.claude"}
        subprocess.run([*SERVER[:-1], "setup", agent, "--yes"], env=env, cwd=home, check=True)
        for _ in sample(range(3), 3):
            assert "skc_find" in json.dumps(ask(agent, home, server=SERVER)[0]["tools"])
