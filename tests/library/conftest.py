"""Fixtures from tests.support: git repositories, an HTTP server, a folder of skills."""

from __future__ import annotations

from tests.support.git import cache, origin, server, template
from tests.support.http import stub
from tests.support.skills import shelf
from tests.support.team import ada, team

__all__ = ["ada", "cache", "origin", "server", "shelf", "stub", "team", "template"]
