"""Whether a registry is ready to answer, and what it says while its store is away."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from skillc.registry import SYSTEM, Registry, make_package
from skillc.server import create_registry_app
from tests.support.client import AppClient

SKILL_MD = b"---\nname: refunds\ndescription: Pay money back\n---\n# Refunds\n"


@pytest.fixture(autouse=True)
def _publish(registry: Registry) -> None:
    registry.publish(SYSTEM, make_package("payments/refunds", {"SKILL.md": SKILL_MD}))


def test_health_and_outage(registry: Registry, tmp_path: Path) -> None:
    """[SURFACES: Registry] a store that can't be read is 503 with Retry-After; /healthz is the process."""
    client = AppClient(create_registry_app(registry))
    assert client.get("/readyz").json() == {"status": "ready"}
    for path in tmp_path.glob("registry.db*"):
        path.write_bytes(b"no database" * 1000)
    assert client.get("/healthz").status_code == 200
    response = client.get("/readyz")
    assert (response.status_code, response.json()["error"]["code"]) == (503, "E092")
    assert response.headers["Retry-After"] == "5"


def test_readiness_waits_for_nothing(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[SURFACES: Registry] a server says what it knows of its store, and asks it nothing for that."""
    with AppClient(create_registry_app(registry)) as client:
        assert registry.feed.wait(1, 10)
        monkeypatch.setattr(registry, "probe", lambda: pytest.fail("the store was asked"))
        assert client.get("/readyz").json() == {"status": "ready"}
        for path in tmp_path.glob("registry.db*"):
            path.write_bytes(b"no database" * 1000)
        is_known = threading.Event()
        while not registry.outage():
            is_known.wait(0.01)
        assert client.get("/readyz").status_code == 503
