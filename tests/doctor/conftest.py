"""Real git repositories for the tests of this room, and a world whose commands run in this process."""

import pytest

from tests.conftest import World
from tests.support.git import origin, server, template
from tests.support.inprocess import NearWorld

__all__ = ["origin", "server", "template"]


@pytest.fixture
def world(world: World) -> NearWorld:
    """The world of this test; its commands run in this process."""
    return NearWorld.of(world)
