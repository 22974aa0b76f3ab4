"""Real git repositories for the tests of this room."""

from tests.support.git import origin, server, template

__all__ = ["origin", "server", "template"]
