"""Finding skills of a registry, and turns, over HTTP."""

from __future__ import annotations

import pytest

from skillc.registry import Registry, Role
from tests.conftest import World
from tests.support.registry import Client, body, fault


@pytest.fixture(autouse=True)
def _home(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(world.root))  # of indexes


def test_search(client: Client, registry: Registry) -> None:
    """[SURFACES: Registry] what `skc find` prints, over what the caller may read."""
    client.post("/skills", json=body("payments/refunds", "Pay money back to a customer."))
    client.post("/skills", json=body("docs/pdf", "Fill in a form of a PDF file."))
    value = client.get("/search", params={"q": "what is a pdf for"}).json()
    assert value["query"] == "what is a pdf for"
    assert value["results"][0]["id"] == "docs/pdf"
    own = Client(registry, Role.READER, "payments")
    results = own.get("/search", params={"q": "refunds or a pdf"}).json()["results"]
    assert [result["id"] for result in results] == ["payments/refunds"]
    assert fault(client.get("/search")) == (400, "E004")
    assert fault(client.get("/search", params={"q": "x", "limit": "0"})) == (400, "E100")


def test_turn(client: Client) -> None:
    """[SURFACES: Registry] a turn over the registry; a preload that is not found is 422."""
    client.post("/skills", json=body("payments/refunds", "Pay money back."))
    value = client.post("/turns", json={"message": "/payments/refunds Please."}).json()
    assert "payments/refunds" in value["system"]
    assert value["message"].endswith("Please.")
    assert value["events"][0]["skills"] == ["payments/refunds"]
    missing = client.post("/turns", json={"message": "/nothing x"}).json()
    assert missing["events"][0]["type"] == "SkillResolutionFailed"
    assert fault(client.post("/turns", json={"message": "x", "preload_skills": ["nothing"]})) == (422, "E001")
    assert fault(client.post("/turns", json={})) == (422, "E100")
