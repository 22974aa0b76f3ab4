"""Real servers for the tests of this room."""

from tests.support.git import origin, server, template
from tests.support.http import stub

__all__ = ["origin", "server", "stub", "template"]
