"""Trusted publishers, sessions and people over HTTP, with an issuer of our own."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from skillc.registry import SYSTEM, Registry, Role
from skillc.registry.model import Grant, Identity
from skillc.server import ServerSettings, create_registry_app
from skillc.server.settings import OidcSettings, PublishingSettings, SignInSettings
from tests.support.cases import each
from tests.support.client import AppClient
from tests.support.issuer import AUDIENCE, Issuer, Token, issuer, now, running_issuer, signed
from tests.support.registry import body, fault, token

__all__ = ["issuer"]

WORKFLOW = {"repository": "acme/skills", "workflow": "release.yml", "prefix": "payments"}


@pytest.fixture
def client(registry: Registry, issuer: Issuer) -> AppClient:
    """An admin, at a server that knows the issuer as GitHub's."""
    return make_client(registry, PublishingSettings(github=(issuer.url,)))


def make_client(registry: Registry, publishing: PublishingSettings, url: str = AUDIENCE) -> AppClient:
    settings = ServerSettings(url, sign_in=SignInSettings(publishing=publishing))
    headers = {"Authorization": f"Bearer {token(registry)}"}
    return AppClient(create_registry_app(registry, settings), headers=headers)


def trust(client: AppClient, issuer: Issuer, **changes: str) -> Any:
    response = client.post("/trusted-publishers", json={"issuer": issuer.url} | WORKFLOW | changes)
    assert response.status_code == 201, response.text
    return response.json()


def mint(client: AppClient, text: str, **fields: str) -> Any:
    headers = {"Authorization": ""}  # a job has no token yet
    return client.post("/_/oidc/mint-token", json={"token": text, **fields}, headers=headers)


def test_a_job_publishes(client: AppClient, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] an ID token gives a token for 15 minutes, which publishes below the prefix."""
    assert client.get("/_/oidc/audience", headers={"Authorization": ""}).json() == {"audience": AUDIENCE}
    trust(client, issuer)
    response = mint(client, issuer.sign(issuer.claims()))
    assert response.headers["Cache-Control"] == "no-store"
    made = response.json()
    end = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(minutes=14) < end <= timedelta(minutes=15)
    host = issuer.url.partition("://")[2]
    assert (made["success"], made["prefix"], made["subject"]) == (True, "payments", f"ci:{host}/acme/skills")
    headers = {"Authorization": f"Bearer {made['token']}"}
    assert client.post("/skills", json=body("payments/refunds"), headers=headers).status_code == 201
    assert fault(client.post("/skills", json=body("other/skill"), headers=headers)) == (403, "E090")
    whoami = client.get("/whoami", headers=headers).json()
    assert whoami["permissions"] == [{"role": "publisher", "prefix": "payments"}]


def test_gitlab(registry: Registry, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] jobs of GitLab are known by project and configuration."""
    host = issuer.url.partition("://")[2]
    client = make_client(registry, PublishingSettings(gitlab=(issuer.url,)))
    trust(client, issuer, repository="acme/tools/skills", workflow=".gitlab-ci.yml", ref="refs/tags/v*")
    file = f"{host}/acme/tools/skills//.gitlab-ci.yml@refs/tags/v1"
    good = {"ci_config_ref_uri": file, "ref": "v1", "ref_type": "tag"}
    assert mint(client, issuer.sign(issuer.gitlab_claims(**good))).status_code == 200
    for change in (
        {"project_path": "acme/tools/skills2"},
        {"ref": "main", "ref_type": "branch"},
        {"ref": "v1", "ref_type": "branch"},
        {"pipeline_source": "merge_request_event"},
        {"pipeline_source": "external_pull_request_event"},
        {"pipeline_source": None},
        {"ci_config_ref_uri": f"{host}/acme/evil//.gitlab-ci.yml@refs/tags/v1"},
        {"ci_config_ref_uri": None},
        {"project_id": "23"},
        {"project_id": None},
    ):
        assert fault(mint(client, issuer.sign(issuer.gitlab_claims(**good | change)))) == (403, "E090")


BAD: dict[str, Token] = {
    "expired": signed(exp=now(-120)),
    "another audience": signed(aud="https://pypi.org"),
    "another issuer": signed(iss="https://token.actions.githubusercontent.com"),
    "no issuer": signed(iss=None),
    "alg none": lambda i: i.unsigned(i.claims()),
    "no ID": signed(jti=None),
    "an ID that is no text": signed(jti=7),
    "another repository": signed(repository="evil/skills"),
    "a similar repository": signed(
        repository="acme/skills-evil",
        workflow_ref="acme/skills-evil/.github/workflows/release.yml@refs/heads/main",
    ),
    "a similar owner": signed(
        repository="acme-evil/skills",
        workflow_ref="acme-evil/skills/.github/workflows/release.yml@refs/heads/main",
    ),
    "a workflow of another repository": signed(
        workflow_ref="evil/acme/skills/.github/workflows/release.yml@refs/heads/main"
    ),
    "another workflow": signed(workflow_ref="acme/skills/.github/workflows/test.yml@refs/heads/main"),
    "a workflow in a folder": signed(
        workflow_ref="acme/skills/.github/workflows/x/release.yml@refs/heads/main"
    ),
    "a branch named as the workflow": signed(
        workflow_ref="acme/skills/.github/workflows/x.yml@release.yml@refs/heads/main"
    ),
    "no workflow": signed(workflow_ref=None),
    "a pull request": signed(event_name="pull_request", ref="refs/pull/7/merge"),
    "a pull request with secrets": signed(event_name="pull_request_target"),
    "a run after one of a fork": signed(event_name="workflow_run"),
    "a comment": signed(event_name="issue_comment"),
    "no event": signed(event_name=None),
    "no ID of the repository": signed(repository_id=None),
    "an end that is no time": signed(exp=10**30),
    "no token": lambda i: "hello",
    "no claims": lambda i: "e30.e30.AAAA",
    "a list of claims": lambda i: "e30.W10.AAAA",
}


def test_bad_tokens(client: AppClient, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] whatever is wrong with an ID token, it is 403, and no token is made."""
    trust(client, issuer)
    tokens = len(client.get("/tokens").json()["tokens"])
    for name, make in BAD.items():
        text = make(issuer)
        response = mint(client, text)
        assert fault(response) == (403, "E090"), name
        assert text not in response.text or len(text) < 10, name
        assert "payments" not in response.text, name
    assert len(client.get("/tokens").json()["tokens"]) == tokens
    assert mint(client, issuer.sign(issuer.claims())).status_code == 200


def test_id_tokens_of_people(registry: Registry, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] an issuer of people and CI: a person's ID token publishes nothing."""
    publishing = PublishingSettings(github=(issuer.url,), gitlab=(), audience="skillc")
    people = OidcSettings(issuer.url, "skillc")
    settings = ServerSettings(AUDIENCE, sign_in=SignInSettings(people, publishing))
    registry.publishers.trust(SYSTEM, issuer.url, **WORKFLOW)
    person = {name: None for name in issuer.claims() if name not in ("iss", "iat", "exp", "jti")}
    text = issuer.sign(issuer.claims(**person | {"aud": "skillc", "sub": "7", "email": "ana@example.com"}))
    response = mint(AppClient(create_registry_app(registry, settings)), text)
    assert fault(response) == (403, "E090")
    assert "jobs started by '' may not publish" in response.text


def test_once(client: AppClient, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] an ID token is good for one token, also one that ends with time itself."""
    trust(client, issuer)
    for changes in ({}, {"exp": 253402300799}):
        text = issuer.sign(issuer.claims(**changes))
        assert mint(client, text).status_code == 200
        assert fault(mint(client, text)) == (403, "E090")


def test_only_configured_issuers_are_asked(registry: Registry, client: AppClient, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] no request makes the server ask an issuer that is not configured and trusted."""
    with running_issuer() as other:
        claims = other.claims()
        assert fault(mint(client, other.sign(claims))) == (403, "E090")
        trusted = {"issuer": other.url} | WORKFLOW
        response = client.post("/trusted-publishers", json=trusted)
        assert (response.status_code, issuer.url in response.text) == (422, True)
        registry.publishers.trust(SYSTEM, **trusted)  # one that was configured once
        assert fault(mint(client, other.sign(claims))) == (403, "E090")
        assert other.requests == []
    assert fault(mint(client, issuer.sign(issuer.claims()))) == (403, "E090")
    assert issuer.requests == []  # nothing of it is trusted
    inner = base64.urlsafe_b64encode(json.dumps({"iss": "http://169.254.169.254"}).encode()).decode()
    assert fault(mint(client, f"e30.{inner}.AAAA")) == (403, "E090")


def test_audience(registry: Registry, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] the audience is configured, and never the Host that a request names."""
    settings = PublishingSettings(github=(issuer.url,))
    client = make_client(registry, settings, "")
    trust(client, issuer)
    host = {"Host": "evil.example"}
    assert client.get("/_/oidc/audience", headers=host).status_code == 404
    assert mint(client, issuer.sign(issuer.claims())).status_code == 404
    client = make_client(registry, PublishingSettings(github=(issuer.url,), audience="skills"))
    assert client.get("/_/oidc/audience", headers=host).json() == {"audience": "skills"}
    assert fault(mint(client, issuer.sign(issuer.claims()))) == (403, "E090")
    assert mint(client, issuer.sign(issuer.claims(aud="skills"))).status_code == 200


def test_issuer_that_is_down(client: AppClient, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] without an issuer that answers it is 503 with Retry-After."""
    trust(client, issuer)
    issuer.failure = 500
    response = mint(client, issuer.sign(issuer.claims()))
    assert fault(response) == (503, "E092")
    assert response.headers["Retry-After"] == "5"


def test_trusted_publishers(client: AppClient, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] they are listed, and removed with their tokens."""
    made = trust(client, issuer, ref="refs/heads/main")
    assert client.get("/trusted-publishers").json() == {"publishers": [made]}
    minted = mint(client, issuer.sign(issuer.claims())).json()["token"]
    assert client.delete(f"/trusted-publishers/{made['id']}").status_code == 204
    assert client.get("/whoami", headers={"Authorization": f"Bearer {minted}"}).status_code == 401
    assert client.delete(f"/trusted-publishers/{made['id']}").status_code == 404
    assert client.get("/trusted-publishers").json() == {"publishers": []}


@each("change", [{"workflow": 1}, {"prefix": None}, {"repository": "x"}, {"ref": "main"}])
def test_wrong_publishers(client: AppClient, issuer: Issuer, change: Any) -> None:
    """[SURFACES: Sign-in] what can't be trusted is refused with the reason."""
    response = client.post("/trusted-publishers", json={"issuer": issuer.url} | WORKFLOW | change)
    assert response.status_code in (400, 422)
    (name,) = change
    assert name in response.json()["detail"]


@pytest.mark.parametrize("role", [None, Role.READER, Role.PUBLISHER, Role.MAINTAINER])
def test_roles(registry: Registry, client: AppClient, issuer: Issuer, role: Role | None) -> None:
    """[SURFACES: Sign-in] trusting is for admins of the prefix, people are for admins of the whole."""
    made = trust(client, issuer)
    words = f"Bearer {token(registry, role)}" if role else ""
    requests = [
        ("GET", "/trusted-publishers"),
        ("POST", "/trusted-publishers"),
        ("DELETE", f"/trusted-publishers/{made['id']}"),
        ("GET", "/people"),
        ("DELETE", "/people?subject=ana"),
    ]
    for method, path in requests:
        response = client.request(method, path, headers={"Authorization": words})
        assert fault(response) == (403 if role else 401, "E090")
    other = {"Authorization": f"Bearer {token(registry, Role.ADMIN, 'other')}"}
    assert client.get("/trusted-publishers", headers=other).json() == {"publishers": []}
    assert client.delete(f"/trusted-publishers/{made['id']}", headers=other).status_code == 404
    publisher = {"issuer": issuer.url} | WORKFLOW
    assert fault(client.post("/trusted-publishers", json=publisher, headers=other)) == (403, "E090")


def test_sessions_and_people(registry: Registry, client: AppClient) -> None:
    """[SURFACES: Sign-in] people see their sessions and can end them; admins forget people."""
    ana = Identity("https://login.example.com", "1", "ana@example.com", "Ana")
    registry.accounts.grant(SYSTEM, Grant("ana@example.com", Role.READER))
    new = registry.sessions.sign_in(ana)
    cookie = {"Cookie": f"skillc-session={new.secret}", "Authorization": ""}
    browser = AppClient(client.app)
    (own,) = browser.get("/sessions", headers={"Cookie": cookie["Cookie"]}).json()["sessions"]
    assert (own["id"], own["subject"]) == (new.session.id, "ana@example.com")
    assert [person["name"] for person in client.get("/people").json()["people"]] == ["Ana"]
    assert client.delete(f"/sessions/{own['id']}").status_code == 204
    assert client.delete("/sessions/unknown").status_code == 404
    assert client.get("/sessions").json() == {"sessions": []}
    assert client.delete("/people", params={"subject": "ana@example.com"}).status_code == 204
    assert client.get("/people").json() == {"people": []}
