"""Real servers, a folder of an agent's, and npm's installer."""

from pathlib import Path

import pytest

from tests.conftest import World
from tests.support.git import origin, server, template
from tests.support.http import stub
from tests.support.npm import installer
from tests.support.team import ada, team

__all__ = ["ada", "installer", "origin", "server", "stub", "team", "template"]


@pytest.fixture
def claude(world: World) -> Path:
    """The folder of skills that Claude reads."""
    folder = world.home / ".claude" / "skills"
    folder.mkdir(parents=True)
    return folder
