"""Real servers for the tests of this room."""

from tests.support.http import stub
from tests.support.team import team

__all__ = ["stub", "team"]
