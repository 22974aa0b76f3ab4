"""An HTTP server that answers as a test says."""

from __future__ import annotations

from tests.support.http import stub

__all__ = ["stub"]
