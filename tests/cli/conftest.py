"""Fixtures from tests.support: `skc serve` over another library, a registry."""

from __future__ import annotations

from tests.support.http import stub
from tests.support.registry import ada, team
from tests.support.servers import served

__all__ = ["ada", "served", "stub", "team"]
