"""An empty registry with a client for it, other fixtures from tests.support, and one event loop for all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient

from skillc.registry import Registry, open_registry
from tests.support.issuer import issuer
from tests.support.npm import installer
from tests.support.registry import Client
from tests.support.s3 import s3
from tests.support.skills import shelf
from tests.support.team_process import Team

__all__ = ["installer", "issuer", "s3", "shelf"]


@pytest.fixture(scope="session", autouse=True)
def event_loop() -> Iterator[None]:
    """One event loop for all requests of test clients, which else start a thread with one for each."""
    with start_blocking_portal("asyncio") as portal:
        TestClient.portal = portal
        yield
        TestClient.portal = None


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with open_registry(str(tmp_path / "registry.db")) as registry:
        yield registry


@pytest.fixture
def team(registry: Registry) -> Team:
    return Team(registry)


@pytest.fixture
def client(registry: Registry) -> Client:
    """A client with an admin's token."""
    return Client(registry)
