"""Counts of use over HTTP."""

from __future__ import annotations

from datetime import UTC, datetime

from skillc.registry import Registry, Role
from tests.support.registry import Client, body, fault


def test_usage(client: Client, registry: Registry) -> None:
    """[SURFACES: Registry] counts are taken once, and summed for those that may read the skill."""
    client.post("/skills", json=body("payments/refunds"))
    day = datetime.now(UTC).date().isoformat()
    count = {"day": day, "skill": "payments/refunds", "command": "show", "count": 3, "section": "Refunds"}
    batch = {"machine": "0" * 32, "counts": [count, count | {"skill": "other/skill"}]}
    for _ in range(2):
        assert client.post("/usage", json=batch).json() == {"rows": 1, "ignored": 1}
    value = client.get("/stats", params={"skill": "payments", "since": day, "limit": 5}).json()
    assert (value["count"], value["machines"]) == (3, 1)
    assert value["sections"][0] == {"skill": "payments/refunds", "file": "", "section": "Refunds", "count": 3}
    own = Client(registry, Role.READER, "elsewhere").get("/stats").json()
    assert (own["count"], own["skills"]) == (0, [])
    assert fault(client.get("/stats", params={"since": "yesterday"})) == (400, "E100")
    assert fault(client.post("/usage", json={"machine": "x"})) == (400, "E062")
    assert fault(client.post("/usage", json={"machine": 1})) == (422, "E100")
    assert fault(client.post("/usage", json=batch | {"counts": [{"day": day}]})) == (422, "E100")
