"""Real servers, npm's installer, and a world whose commands run in this process."""

import pytest

from tests.conftest import World
from tests.support.git import origin, server, template
from tests.support.http import stub
from tests.support.inprocess import NearWorld
from tests.support.npm import installer
from tests.support.team import ada, team

__all__ = ["ada", "installer", "origin", "server", "stub", "team", "template"]


@pytest.fixture
def world(world: World) -> NearWorld:
    """The world of this test; its commands run in this process."""
    return NearWorld.of(world)
