"""Every route of a registry, whatever it speaks, with no, a wrong, an expired, a revoked and a small token.

The routes are those of the application itself, so that none can be left out: its API, the protocols of
others, pages, forms, git and MCP. A skill that a caller may not read must not be told from one that is not
there.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.routing import Route

from skillc.mcp.registry import create_registry_endpoint
from skillc.registry import SYSTEM, Registry, Role, make_package, open_registry
from skillc.registry.model import Grant
from skillc.server import ServerSettings, create_registry_app
from skillc.server.api import OPERATIONS
from tests.support.client import AppClient
from tests.support.examples import sample
from tests.support.registry import serving, skill_md

HIDDEN, MISSING = "secret/kestrel", "secret/buzzard"  # of the same length
ORIGIN = "http://testserver"
HTML = {"Accept": "text/html", "Origin": ORIGIN}
OWN = ("x-request-id", "etag")  # of a request, and of a text with the name in it
CALL = {"jsonrpc": "2.0", "id": 1, "method": "resources/read"}
# What is answered without a token, and says nothing of any skill.
OPEN = {"/healthz", "/readyz", "/openapi.json", "/static/{name}", "/.well-known/clawhub.json"}
OPEN |= {"/.well-known/skillc-keys.json"}  # public keys
OPEN |= {"/login", "/login/callback", "/logout", "/_/oidc/audience", "/_/oidc/mint-token"}
OPEN |= {"/api/v1/{path:path}"}  # what no client of ours asks for: 404, whatever it is


def routes_of(app: Any) -> list[tuple[str, str]]:
    """All methods and paths of an application."""
    found = [route for route in app.routes if isinstance(route, Route)]
    # An application at a path has no methods: of MCP, POST alone has something to say of a skill.
    methods = {(method, route.path) for route in found for method in route.methods or {"POST"}}
    return sorted((method, path) for method, path in methods if method != "HEAD" and path not in OPEN)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with open_registry(str(tmp_path_factory.mktemp("registry") / "registry.db")) as registry:
        for skill_id in (HIDDEN, "own/skill"):
            name = skill_id.rpartition("/")[2]
            package = make_package(skill_id, {"SKILL.md": skill_md(name, "Hush.").encode()})
            registry.publish(SYSTEM, package)
        registry.accounts.create_first_admin()
        yield registry


@pytest.fixture(scope="module")
def app(registry: Registry) -> Any:
    mounts = lambda service: {"/mcp": create_registry_endpoint(service)}  # noqa: E731
    return create_registry_app(registry, ServerSettings(), mounts=mounts)


@pytest.fixture(scope="module")
def client(app: Any) -> Iterator[AppClient]:
    with AppClient(app, follow_redirects=False) as client:
        yield client


@pytest.fixture(scope="module")
def tokens(registry: Registry) -> dict[str, str]:
    """Tokens that are no good, by what is wrong with them."""
    accounts = registry.accounts
    past = datetime.now(UTC) - timedelta(seconds=1)
    revoked = accounts.create_token(SYSTEM, Role.ADMIN, owner="admin")
    accounts.revoke_token(SYSTEM, revoked.token.id)
    good = accounts.create_token(SYSTEM, Role.ADMIN, owner="admin").secret
    return {
        "nonsense": "x",
        "wrong": good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB"),
        "unknown": f"skc_{'0' * 16}_{'A' * 43}",
        "expired": accounts.create_token(SYSTEM, Role.ADMIN, owner="admin", expires_at=past).secret,
        "revoked": revoked.secret,
    }


@pytest.fixture(scope="module")
def small(registry: Registry) -> dict[str, str]:
    """Tokens for elsewhere, and without anything."""
    accounts = registry.accounts
    accounts.grant(SYSTEM, Grant("former", Role.ADMIN))
    former = accounts.create_token(SYSTEM, Role.ADMIN, owner="former").secret
    accounts.remove_grant(SYSTEM, "former")
    for name in ("reader", "admin"):
        accounts.grant(SYSTEM, Grant(f"own-{name}", Role.parse(name), "own"))
    return {
        "former": former,
        "reader": accounts.create_token(SYSTEM, Role.READER, "own", owner="own-reader").secret,
        "admin": accounts.create_token(SYSTEM, Role.ADMIN, "own", owner="own-admin").secret,
    }


def fill(path: str, skill_id: str) -> str:
    """Return the path of a route for one skill."""
    values = {"slug": skill_id.replace("/", "."), "version": "0.1.0", "tag": "latest", "path": "SKILL.md"}
    values |= {"rest": f"{skill_id}@0.1.0/SKILL.md" if path.startswith("/raw/") else skill_id}
    values |= {"id": skill_id, "prefix": skill_id, "name": "style.css", "digest": "0" * 64}
    if path.startswith("/c/"):
        values["path"] = skill_id
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda match: values.get(match[1], "0" * 16), path)


def send(
    client: AppClient, method: str, path: str, skill_id: str, headers: dict[str, str]
) -> httpx2.Response:
    """Send what a client of this route sends about a skill."""
    slug = skill_id.replace("/", ".")
    query = {"slug": slug, "path": "SKILL.md", "q": skill_id, "service": "git-upload-pack", "hash": "0" * 64}
    query |= {
        "prefix": slug if path.startswith("/api/") else skill_id,
        "skill": skill_id,
        "collection": skill_id,
    }
    query |= {"subject": "admin", "next": f"/s/{skill_id}"}
    options: dict[str, Any] = {"params": query, "headers": headers}
    if path == "/mcp":
        uri = f"skill://{skill_id}/SKILL.md"
        options["json"] = CALL | {"params": {"uri": uri}}
        options["headers"] = headers | {"Accept": "application/json, text/event-stream"}
    elif path.endswith("git-upload-pack"):
        options["content"] = f"0032want {'0' * 40}\n00000009done\n"
    elif method in ("POST", "PUT") and "form_token" in headers:
        token = headers.pop("form_token")
        fields = {"id": skill_id, "version": "0.1.0", "reason": "x", "decision": "approve"}
        options["data"] = fields | {"form_token": token, "subject": "x", "role": "reader", "prefix": skill_id}
    elif method in ("POST", "PUT"):
        fields = {"reason": "x", "version": "0.1.0", "message": "x", "subject": "x", "role": "reader"}
        fields |= {"id": skill_id, "slug": slug, "skill_md": skill_md(), "sha256": "0" * 64}
        publisher = {
            "issuer": "https://gitlab.com",
            "repository": "a/b",
            "workflow": "c.yml",
            "prefix": skill_id,
        }
        rows = [{"skill": skill_id, "command": "show", "count": 1, "target": "x"}]
        days = {"machine": "0" * 32, "days": {"2026-01-01": rows}, "day": "2026-01-01", "rows": rows}
        options["json"] = fields | publisher | days | {"approve": True, "preload_skills": [skill_id]}
        options["json"] |= {"size": 1} if path.endswith("upload-url") else {}
    response: httpx2.Response = client.request(method, fill(path, skill_id), **options)
    return response


def erase(response: httpx2.Response, skill_id: str) -> tuple[int, str, list[tuple[str, str]]]:
    """All of a response but the skill that was asked for and the ID of the request."""
    names = {skill_id: "…", skill_id.replace("/", "."): "…", skill_id.replace("/", "%2F"): "…"}
    names |= {skill_id.rpartition("/")[2]: "…"}

    def hide(text: str) -> str:
        for name, mark in names.items():
            text = text.replace(name, mark)
        text = re.sub(r"[0-9a-f]{40} ", "commit ", text)  # of a marketplace, which has its prefix as its name
        return re.sub(r"\d{4}-\d\d-\d\dT[\d:.+]+", "time", text)

    kept = [(name, hide(text)) for name, text in response.headers.items() if name not in OWN]
    return response.status_code, hide(response.text), kept


def compare(client: AppClient, method: str, path: str, headers: dict[str, str]) -> httpx2.Response:
    """Ask about the skill and about one that is not there; the answers must not differ. Return the first."""
    first, second = (send(client, method, path, each, {**headers}) for each in (HIDDEN, MISSING))
    if path != "/metrics" or first.status_code != 200:  # which count the first request
        assert erase(first, HIDDEN) == erase(second, MISSING), f"{method} {path}"
    assert "Hush" not in first.text, f"{method} {path}"
    return first


def test_all_routes_are_here(app: Any) -> None:
    """[SURFACES: Registry] the tests below see all routes; what needs no token is this and no more."""
    paths = {path for _, path in routes_of(app)}
    assert {"/mcp", "/skills", "/s/{rest:path}", "/yank", "/marketplace.git/info/refs"} <= paths
    assert {"/.well-known/agent-skills/index.json", "/api/v1/download", "/find"} <= paths
    assert {"/{prefix:path}/marketplace.git/git-upload-pack", "/plugins/{id:path}.git/info/refs"} <= paths
    assert len(paths) > 60
    opened = {operation.path for operation in OPERATIONS if operation.role is None}
    assert opened - {"/_/oidc/audience", "/_/oidc/mint-token"} == {"/healthz", "/readyz", "/openapi.json"}


@pytest.mark.slow
def test_no_valid_token(app: Any, client: AppClient, tokens: dict[str, str]) -> None:
    """[SURFACES: Registry] [SURFACES: Registry protocols] 401, or the way to sign in, for all alike.

    At the gate each route gets one of the bad tokens, in turn.
    """
    client.cookies.clear()
    for count, (method, path) in enumerate(routes_of(app)):
        response = compare(client, method, path, {})
        is_page = "text/html" in response.headers.get("Content-Type", "") or response.status_code == 303
        place = f"{method} {path}: {response.status_code}"
        if response.status_code == 303:
            assert response.headers["Location"].startswith("/login?"), place
        else:
            assert response.status_code == (403 if is_page else 401), place
            assert is_page or response.headers["WWW-Authenticate"].startswith(("Bearer", "Basic")), place
        for kind, token in sample(tokens.items(), 5, start=count % 5):
            skill_id = (HIDDEN, MISSING)[count % 2]
            other = send(client, method, path, skill_id, {"Authorization": f"Bearer {token}"})
            assert erase(response, HIDDEN) == erase(other, skill_id), f"{place}: the answer tells of {kind}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["former", "reader", "admin"])
def test_elsewhere(app: Any, client: AppClient, small: dict[str, str], kind: str) -> None:
    """[SURFACES: Registry] [SURFACES: Registry protocols] a token for elsewhere learns of no skill."""
    client.cookies.clear()
    for method, path in routes_of(app):
        response = compare(client, method, path, {"Authorization": f"Bearer {small[kind]}"})
        assert response.status_code < 500, f"{method} {path}: {response.text}"
        about = "{id" in path or "{slug" in path or path in ("/api/v1/download", "/api/v1/resolve")
        if about:
            assert response.status_code in (403, 404), f"{method} {path}: {response.text}"


def test_smaller_roles(client: AppClient, registry: Registry) -> None:
    """[SURFACES: Registry] a token of a smaller role than an operation needs is 403, and learns nothing."""
    client.cookies.clear()
    for operation in OPERATIONS:
        if operation.role is not None and operation.role > Role.READER:
            smaller = Role.of_rank(operation.role.rank - 1)
            token = registry.accounts.create_token(SYSTEM, smaller, owner="admin").secret
            response = compare(client, operation.method, operation.path, {"Authorization": f"Bearer {token}"})
            assert response.status_code == 403, f"{operation.method} {operation.path}: {response.text}"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["former", "reader", "admin"])
def test_browsers_elsewhere(app: Any, client: AppClient, small: dict[str, str], kind: str) -> None:
    """[SURFACES: Registry] the same for a person who signed in: pages and forms tell of no skill."""
    client.cookies.clear()
    signed_in = client.post("/login", data={"token": small[kind], "next": "/"}, headers=HTML)
    if kind == "former":
        assert signed_in.status_code in (303, 401, 403)
    else:
        assert signed_in.status_code == 303
    match = re.search(r'name="form_token" value="(\w+)"', client.get("/account", headers=HTML).text)
    form = {"form_token": match[1]} if match else {}
    assert bool(form) or kind == "former"
    for method, path in routes_of(app):
        response = compare(client, method, path, HTML | (form if method == "POST" else {}))
        assert response.status_code < 500, f"{method} {path}: {response.text}"


@pytest.mark.slow
def test_basic_is_no_way_around(app: Any, client: AppClient, tokens: dict[str, str]) -> None:
    """[SURFACES: Registry protocols] a token as a password, as git sends it, is checked in the same way."""
    client.cookies.clear()
    for method, path in routes_of(app):
        for kind, skill_id in (("nonsense", HIDDEN), ("expired", MISSING), ("revoked", HIDDEN)):
            pair = base64.b64encode(f"token:{tokens[kind]}".encode()).decode()
            response = send(client, method, path, skill_id, {"Authorization": f"Basic {pair}"})
            assert response.status_code in (303, 401, 403), f"{method} {path}: {response.status_code}"
            assert "Hush" not in response.text


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
