"""Fixtures from tests.support: a folder of skills."""

from __future__ import annotations

from tests.support.skills import shelf

__all__ = ["shelf"]
