"""Every operation with no, a wrong, an expired, a revoked and a too small token, from the declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from skillc.registry import SYSTEM, Grant, Registry, Role, make_package, open_registry
from skillc.server.api import OPERATIONS
from skillc.server.api.declaration import Operation
from tests.support.registry import Client, serving, skill_md

HIDDEN, MISSING = "secret/present", "secret/missing"  # of the same length
PROTECTED = [operation for operation in OPERATIONS if operation.role is not None]
VALUES = {"version": "0.1.0", "path": "SKILL.md", "tag": "latest", "token": "0123456789abcdef"}
BODIES: dict[str, Any] = {"reason": "x", "version": "0.1.0", "message": "x", "subject": "x", "role": "reader"}


def label(operation: Operation) -> str:
    return f"{operation.method} {operation.path}"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_registry(str(tmp_path_factory.mktemp("registry") / "registry.db")) as registry:
        for skill_id in (HIDDEN, "own/skill"):
            name = skill_id.rpartition("/")[2]
            registry.publish(SYSTEM, make_package(skill_id, {"SKILL.md": skill_md(name, "Hush.").encode()}))
        yield registry


@pytest.fixture(scope="module")
def tokens(registry: Registry) -> dict[str, str]:
    """Tokens that are no good, by what is wrong with them."""
    accounts = registry.accounts
    first = accounts.create_first_admin()
    assert first is not None
    past = datetime.now(UTC) - timedelta(seconds=1)
    revoked = accounts.create_token(SYSTEM, Role.ADMIN, owner="admin")
    accounts.revoke_token(SYSTEM, revoked.token.id)
    accounts.grant(SYSTEM, Grant("former", Role.ADMIN))
    former = accounts.create_token(SYSTEM, Role.ADMIN, owner="former")
    accounts.remove_grant(SYSTEM, "former")
    return {
        "none": "",
        "nonsense": "x",
        "wrong": first.secret[:-4] + ("AAAA" if first.secret[-4:] != "AAAA" else "BBBB"),
        "unknown": f"skc_{'0' * 16}_{'A' * 43}",
        "expired": accounts.create_token(SYSTEM, Role.ADMIN, owner="admin", expires_at=past).secret,
        "revoked": revoked.secret,
        "without grants": former.secret,
    }


@pytest.fixture(scope="module")
def client(registry: Registry) -> Client:
    return Client(registry, None)


def send(client: Client, operation: Operation, token: str, skill_id: str = HIDDEN) -> httpx2.Response:
    values = VALUES | {"id": skill_id.replace("/", "%2F")}
    path = re.sub(r"\{(\w+)(?::\w+)?\}", lambda match: values.get(match[1], "x"), operation.path)
    content: dict[str, Any] = (
        {"json": BODIES | {"id": skill_id, "skill_md": skill_md()}} if operation.body else {}
    )
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return client.request(operation.method, path, headers=headers, **content)


def erase(response: httpx2.Response, skill_id: str) -> tuple[int, str, list[tuple[str, str]]]:
    """All of a response but the ID of the skill and that of the request."""
    headers = [(name, text) for name, text in response.headers.items() if name != "x-request-id"]
    return response.status_code, response.text.replace(skill_id, "…"), headers


@pytest.mark.parametrize("kind", ["none", "nonsense", "wrong", "unknown", "expired", "revoked"])
@pytest.mark.parametrize("operation", PROTECTED, ids=label)
def test_no_valid_token(client: Client, tokens: dict[str, str], operation: Operation, kind: str) -> None:
    """[SURFACES: Registry] no valid token is 401, and one answer for all, whatever there is."""
    response = send(client, operation, tokens[kind])
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert erase(response, HIDDEN) == erase(send(client, operation, tokens[kind], MISSING), MISSING)
    assert response.content == send(client, operation, tokens["none"]).content
    assert "Hush" not in response.text


@pytest.mark.parametrize("operation", PROTECTED, ids=label)
def test_too_small(client: Client, registry: Registry, tokens: dict[str, str], operation: Operation) -> None:
    """[SURFACES: Registry] a token for elsewhere, or of a smaller role, is 403 and learns nothing."""
    assert operation.role is not None
    cases = [tokens["without grants"]]
    if "{id:skill}" in operation.path:
        cases.append(registry.accounts.create_token(SYSTEM, Role.ADMIN, "own", owner="admin").secret)
    if operation.role > Role.READER:
        smaller = Role.of_rank(operation.role.rank - 1)
        cases.append(registry.accounts.create_token(SYSTEM, smaller, owner="admin").secret)
    for token in cases:
        response = send(client, operation, token)
        assert response.status_code == 403, response.text
        assert erase(response, HIDDEN) == erase(send(client, operation, token, MISSING), MISSING)
        assert "Hush" not in response.text


@pytest.mark.parametrize("operation", [each for each in PROTECTED if "{id" not in each.path], ids=label)
def test_elsewhere(client: Client, registry: Registry, operation: Operation) -> None:
    """[SURFACES: Registry] operations on everything tell a token for elsewhere nothing of other skills."""
    token = registry.accounts.create_token(SYSTEM, Role.ADMIN, "own", owner="small").secret
    registry.accounts.grant(SYSTEM, Grant("small", Role.ADMIN, "own"))
    response = send(client, operation, token)
    assert HIDDEN not in response.text or response.status_code == 403
    assert "Hush" not in response.text


def test_open_operations() -> None:
    """[SURFACES: Registry] what needs no token is this and no more."""
    paths = {operation.path for operation in OPERATIONS if operation.role is None}
    assert paths - {"/_/oidc/audience", "/_/oidc/mint-token"} == {"/healthz", "/readyz", "/openapi.json"}


@pytest.mark.slow
def test_secrets_are_never_printed(tmp_path: Path) -> None:
    """[SURFACES: Registry] nothing that a server printed or answered has a token, but the one it made."""
    with serving(tmp_path) as server, server.client() as client:
        made = client.post("/tokens", json={"role": "publisher"}).json()["token"]
        client.get(f"/skills/{made}")
        client.get("/search", params={"q": f"hidden {made}"})
        client.post("/skills", content=made.encode())
        client.get("/whoami", headers={"Authorization": f"Basic {made}"})
        client.get("/whoami", headers={"Authorization": f"Bearer {made}x"})
        client.get(f"/{made}/{server.token}")
        texts = [
            client.get(path).text for path in ("/tokens", "/audit-log", "/metrics", "/whoami", "/grants")
        ]
        assert server.stop() == 0
        assert server.process.stdout is not None
        printed = server.log.read_text() + server.process.stdout.read()
    for secret in (made, server.token):
        assert secret.split("_", 2)[2] not in printed
        assert not any(secret.split("_", 2)[2] in text for text in texts)
    assert "hidden" not in printed
