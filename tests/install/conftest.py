"""Homes with agents, real servers, and npm's installer."""

from pathlib import Path

import pytest

from tests.conftest import World
from tests.support.agents import here
from tests.support.git import origin, server, template
from tests.support.http import stub
from tests.support.npm import installer
from tests.support.team import ada, team

__all__ = ["ada", "here", "installer", "origin", "server", "stub", "team", "template"]


@pytest.fixture(autouse=True)
def no_rehearsal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no server for each agent that is set up, which takes seconds; tests/mcp does that."""
    monkeypatch.setattr("skillc.mcp.rehearsal.SESSIONS", {})


@pytest.fixture
def claude(world: World) -> Path:
    """The folder of skills that Claude reads."""
    folder = world.home / ".claude" / "skills"
    folder.mkdir(parents=True)
    return folder
