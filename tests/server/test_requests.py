"""The bodies of requests: what does not fit is told in one plain sentence, with the name of its place."""

from __future__ import annotations

from typing import Any

from tests.support.cases import each
from tests.support.registry import Client, fault

YANK, REVIEW = (f"/skills/a/versions/1.0.0/{word}" for word in ("yank", "review"))
ROLES = "'reader', 'publisher', 'maintainer' or 'admin'"
FAULTS: list[tuple[str, Any, str]] = [
    (YANK, {}, "'reason' is missing"),
    (YANK, {"reason": 1}, "'reason' must be text"),
    (YANK, {"reason": None}, "'reason' must be text"),
    (YANK, [], "the request must be a JSON object"),
    (REVIEW, {"approve": 1}, "'approve' must be true or false"),
    ("/tokens", {"role": "owner"}, f"'role' must be one of {ROLES}"),
    ("/tokens", {"expires_in": "60"}, "'expires_in' must be a whole number"),
    ("/tokens", {"expires_in": True}, "'expires_in' must be a whole number"),
    ("/tokens", {"expires_in": 1.5}, "'expires_in' must be a whole number"),
    ("/skills", {"id": "a", "skill_md": "", "files": []}, "'files' must be an object"),
    ("/skills", {"id": "a", "skill_md": "", "files": {"b/c": 1}}, "'files/b/c' must be text"),
    ("/skills", {"id": "a", "skill_md": "", "executable": "x"}, "'executable' must be a list"),
    (
        "/turns",
        {"message": "x", "capabilities": ["a"] * 101},
        "'capabilities' must not hold more than 100 entries",
    ),
    ("/usage", {"machine": "0" * 32, "counts": [1]}, "'counts' must be an object"),
]


@each(("path", "value", "message"), FAULTS)
def test_faults(client: Client, path: str, value: Any, message: str) -> None:
    """[SURFACES: Registry] a body that does not fit is 422 and says what is wrong where."""
    response = client.post(path, json=value)
    assert fault(response) == (422, "E100")
    assert response.json()["detail"] == message


def test_further_keys(client: Client) -> None:
    """[SURFACES: Registry] keys that an endpoint does not know are ignored; what is no JSON is 400."""
    made = client.post("/tokens", json={"label": "ci", "expires_in": None, "other": [1]})
    assert (made.status_code, made.json()["label"]) == (201, "ci")
    assert fault(client.post("/tokens", content=b"{")) == (400, "E100")
