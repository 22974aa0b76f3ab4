"""The application of a registry: callers by their tokens, and errors as responses."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from skillc.registry import SYSTEM, Registry, Role, make_package
from skillc.server import ServerSettings, create_registry_app
from tests.support.client import AppClient

SKILL_MD = b"---\nname: refunds\ndescription: Pay money back\n---\n# Refunds\n"


@pytest.fixture(autouse=True)
def _publish(registry: Registry) -> None:
    registry.publish(SYSTEM, make_package("payments/refunds", {"SKILL.md": SKILL_MD}))


def test_callers_by_token(registry: Registry) -> None:
    """[SURFACES: Registry] no token is 401, a small one 403; `--public-read` lets all read."""
    admin = registry.accounts.create_first_admin()
    assert admin is not None
    caller = registry.accounts.authenticate(admin.secret)
    small = registry.accounts.create_token(caller, Role.READER, "other")
    client = AppClient(create_registry_app(registry))
    path = "/skills/payments/refunds/versions"
    bearer = {"Authorization": f"Bearer {admin.secret}"}
    assert client.get(path).status_code == 401
    assert client.get(path).headers["WWW-Authenticate"] == "Bearer"
    assert client.get(path, headers={"Authorization": "Bearer skc_wrong"}).status_code == 401
    assert client.get(path, headers={"Authorization": f"Bearer {small.secret}"}).status_code == 403
    assert client.get(path, headers=bearer).json()["versions"][0]["version"] == "0.1.0"
    assert client.get("/skills/nothing/versions", headers=bearer).status_code == 404
    assert client.get("/whoami", headers=bearer).json()["subject"] == "admin"
    public = AppClient(create_registry_app(registry, ServerSettings(public_read=True)))
    assert public.get(path).status_code == 200


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
