"""Real servers for the tests of this room, and npm's installer."""

from tests.support.git import origin, server, template
from tests.support.http import stub
from tests.support.npm import installer

__all__ = ["installer", "origin", "server", "stub", "template"]
