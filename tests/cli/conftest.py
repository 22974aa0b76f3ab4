"""Fixtures from tests.support: `skc serve` over another library."""

from __future__ import annotations

from tests.support.http import stub
from tests.support.servers import served

__all__ = ["served", "stub"]
