"""Homes with agents, real servers, and npm's installer."""

from tests.support.agents import here
from tests.support.git import origin, server, template
from tests.support.http import stub
from tests.support.npm import installer
from tests.support.team import ada, team

__all__ = ["ada", "here", "installer", "origin", "server", "stub", "team", "template"]
