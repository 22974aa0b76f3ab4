"""Fixtures from tests.support: git repositories, an HTTP server, a folder of skills."""

from __future__ import annotations

from tests.support.git import cache, origin, server, template
from tests.support.http import stub
from tests.support.skills import shelf

__all__ = ["cache", "origin", "server", "shelf", "stub", "template"]
