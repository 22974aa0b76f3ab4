"""Fixtures from tests.support: a folder of skills, and npm's installer of skills."""

from __future__ import annotations

from tests.support.npm import installer
from tests.support.skills import shelf

__all__ = ["installer", "shelf"]
