"""An empty registry in a folder, and a client with an admin's token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skillc.registry import Registry, open_registry
from tests.support.registry import Client


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with open_registry(str(tmp_path / "registry.db")) as registry:
        yield registry


@pytest.fixture
def client(registry: Registry) -> Client:
    return Client(registry)
