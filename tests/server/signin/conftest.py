"""Fixtures from tests.support: an issuer on loopback."""

from __future__ import annotations

from tests.support.issuer import issuer

__all__ = ["issuer"]
