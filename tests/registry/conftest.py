"""A registry on each store: SQLite, and a real PostgreSQL where it can be had."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillc.registry import SYSTEM, Package, Registry, make_package
from skillc.registry.blobs import open_blobs
from skillc.registry.model import Version
from skillc.registry.store import open_store
from tests.support.git import origin, server, template
from tests.support.postgres import Cluster
from tests.support.s3 import s3

__all__ = ["origin", "s3", "server", "template"]


class Clock:
    """A time that moves when a test says so."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def move(self, **interval: float) -> None:
        self.now += timedelta(**interval)


def package(
    skill_id: str = "payments/refunds", text: str = "Text.", version: str = "", **files: bytes
) -> Package:
    """A skill to publish; `files` are further ones, `__` for the dot."""
    metadata = f"metadata:\n  version: {version}\n" if version else ""
    name = skill_id.rpartition("/")[2]
    main = f"---\nname: {name}\ndescription: What {name} is for\n{metadata}---\n# {name}\n\n{text}\n"
    more = {name.replace("__", "."): data for name, data in files.items()}
    return make_package(skill_id, {"SKILL.md": main.encode(), **more})


class Team(Registry):
    """A registry with short ways to publish as the operator."""

    def release(self, version: str = "", skill_id: str = "payments/refunds", **options: Any) -> Version:
        text = options.pop("text", f"Text of {version or 'the next one'}.")
        return self.publish(SYSTEM, package(skill_id, text), version=version, **options)


@pytest.fixture(params=["sqlite", "postgresql"])
def store_cluster(request: pytest.FixtureRequest) -> Cluster | None:
    """Where PostgreSQL keeps the store of a test; None for SQLite."""
    return request.getfixturevalue("cluster") if request.param == "postgresql" else None


@pytest.fixture
def store_url(store_cluster: Cluster | None, tmp_path: Path) -> str:
    """The address of an empty store."""
    return store_cluster.empty_store() if store_cluster else f"sqlite://{tmp_path}/registry.db"


@pytest.fixture
def new_url(store_cluster: Cluster | None, tmp_path: Path) -> str:
    """The address of a store whose tables are to be made."""
    return store_cluster.create_schema() if store_cluster else f"sqlite://{tmp_path}/registry.db"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def registry(store_url: str, tmp_path: Path, clock: Clock) -> Iterator[Team]:
    """An empty registry."""
    with Team(open_store(store_url), open_blobs(str(tmp_path / "blobs")), clock) as made:
        yield made
