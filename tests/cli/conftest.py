"""Fixtures from tests.support: `skc serve` over another library, a registry."""

from __future__ import annotations

import pytest

from tests.conftest import World
from tests.support.http import stub
from tests.support.servers import served
from tests.support.team import Team, ada, team

__all__ = ["ada", "served", "stub", "team"]


@pytest.fixture
def admin(world: World, team: Team) -> World:
    """A world that is logged in as the admin."""
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": team.secret})
    return world
