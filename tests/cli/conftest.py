"""Fixtures from tests.support: `skc serve` over another library, a registry."""

from __future__ import annotations

from tests.support.http import stub
from tests.support.servers import served
from tests.support.team import ada, team

__all__ = ["ada", "served", "stub", "team"]
