"""Why a level can't be tried on this machine."""

from __future__ import annotations

import pytest

from skillc.tools import sandbox


def works(level: str) -> None:
    """Skip the test, with the reason, where a level does not work."""
    for line in sandbox.explain():
        if line.startswith(f"{level}: "):
            pytest.skip(line)
