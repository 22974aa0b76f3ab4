"""Homes with agents."""

import pytest

from tests.support.agents import here

__all__ = ["here"]


@pytest.fixture(autouse=True)
def no_rehearsal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no server for each agent that is set up, which takes seconds; tests/mcp does that."""
    monkeypatch.setattr("skillc.mcp.rehearsal.SESSIONS", {})
