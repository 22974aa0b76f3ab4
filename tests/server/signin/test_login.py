"""Sign-in of people with an issuer of our own: the whole flow, and everything that can be wrong in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from starlette.testclient import TestClient

from skillc.errors import InvalidOption
from skillc.registry import SYSTEM, Grant, Registry, Role, open_registry
from skillc.server import ServerSettings, create_registry_app
from skillc.server.oidc.configuration import OidcSettings, SignInSettings
from tests.support.issuer import CLIENT_ID, CLIENT_SECRET, RSA, Issuer

URL = "http://testserver"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with open_registry(str(tmp_path / "registry.db")) as registry:
        registry.accounts.create_first_admin()
        yield registry


@pytest.fixture
def oidc(issuer: Issuer) -> OidcSettings:
    return OidcSettings(issuer.url, CLIENT_ID, CLIENT_SECRET)


class Browser(TestClient):
    def __init__(self, registry: Registry, oidc: OidcSettings, url: str = URL) -> None:
        app = create_registry_app(registry, ServerSettings(url, sign_in=SignInSettings(oidc)))
        super().__init__(app, base_url=url, follow_redirects=False)

    def begin(self, target: str = "/s/payments") -> str:
        """Go to the issuer and sign in there; return the address that it leads back to."""
        response = self.get("/login", params={"next": target})
        assert response.status_code == 303, response.text
        back = httpx2.get(response.headers["Location"], trust_env=False)
        assert back.status_code == 302, back.text
        return back.headers["Location"]

    def sign_in(self) -> Any:
        return self.get(self.begin())


def subject(browser: Browser) -> str | None:
    response = browser.get("/whoami")
    return response.json()["subject"] if response.status_code == 200 else None


@pytest.fixture
def browser(registry: Registry, oidc: OidcSettings) -> Browser:
    registry.accounts.grant(SYSTEM, Grant("ana@example.com", Role.READER))
    return Browser(registry, oidc)


def test_sign_in(registry: Registry, browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] GET /login leads to the issuer, and back to where the person wanted to go."""
    response = browser.sign_in()
    assert (response.status_code, response.headers["Location"]) == (303, "/s/payments")
    assert subject(browser) == "ana@example.com"
    assert [*browser.cookies] == ["skillc-session"]  # that of the attempt is gone
    assert browser.get("/login", params={"next": "/x"}).headers["Location"] == "/x"
    (person,) = registry.sessions.people(SYSTEM)
    assert (person.issuer, person.identity, person.name) == (issuer.url, "248289761001", "Ana Example")


def test_what_is_sent_to_the_issuer(browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] state, nonce and PKCE, each of them another and new in each sign-in."""
    queries = []
    for _ in range(2):
        location = browser.get("/login").headers["Location"]
        assert location.startswith(f"{issuer.url}/authorize?")
        queries.append({name: value for name, (value,) in parse_qs(urlsplit(location).query).items()})
    assert (queries[0]["redirect_uri"], queries[0]["code_challenge_method"]) == (
        f"{URL}/login/callback",
        "S256",
    )
    secrets = {query[name] for query in queries for name in ("state", "nonce", "code_challenge")}
    assert len(secrets) == 6
    assert all(len(text) == 43 for text in secrets)
    assert issuer.requests.count("/.well-known/openid-configuration") == 1
    assert not secrets.intersection(browser.cookies.values())


def test_new_people(registry: Registry, oidc: OidcSettings) -> None:
    """[SURFACES: Sign-in] new people may do nothing, or what `default_role` says."""
    browser = Browser(registry, oidc)
    browser.sign_in()
    assert browser.get("/whoami").status_code == 403
    registry.sessions.remove_person(SYSTEM, "ana@example.com")
    browser = Browser(registry, replace(oidc, role=Role.READER, prefix="docs"))
    browser.sign_in()
    assert browser.get("/whoami").json()["permissions"] == [{"role": "reader", "prefix": "docs"}]


def test_groups(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] the groups claim gives the grants of `group:NAME`."""
    registry.accounts.grant(SYSTEM, Grant("group:platform", Role.MAINTAINER, "payments"))
    issuer.person["roles"] = ["platform", 7, "all", "platform"]
    browser = Browser(registry, replace(oidc, groups="roles"))
    browser.sign_in()
    assert browser.get("/whoami").json()["permissions"] == [{"role": "maintainer", "prefix": "payments"}]
    (person,) = registry.sessions.people(SYSTEM)
    assert person.groups == ("platform", "all")


@pytest.mark.parametrize(
    ("person", "settings"),
    [
        ({"email_verified": False}, {}),
        ({"email_verified": None}, {}),
        ({"email": None}, {}),
        ({"email": ["ana@example.com"]}, {}),
        ({"email": "ana@example.com@evil.example"}, {"domains": ("evil.example",)}),
        ({}, {"domains": ("acme.example",)}),
        ({"email": "ana@evil-example.com"}, {"domains": ("example.com",)}),
        ({"email_verified": False, "sub": "7"}, {"subject": "sub", "domains": ("example.com",)}),
        ({}, {"groups_allowed": ("staff",)}),
        ({"groups": "staff"}, {"groups_allowed": ("staff",)}),
        ({"preferred_username": "admin"}, {"subject": "preferred_username"}),
        ({"preferred_username": "group:platform"}, {"subject": "preferred_username"}),
        ({"preferred_username": "ci:github.com/acme/skills"}, {"subject": "preferred_username"}),
        ({"preferred_username": {"a": 1}}, {"subject": "preferred_username"}),
        ({"name": "x", "sub": "a\nb"}, {}),
    ],
    ids=str,
)
def test_people_that_may_not_sign_in(
    registry: Registry, oidc: OidcSettings, issuer: Issuer, person: Any, settings: Any
) -> None:
    """[SURFACES: Sign-in] without a verified address, the right domain, group or name there is no session."""
    issuer.person |= person
    browser = Browser(registry, replace(oidc, **settings))
    response = browser.sign_in()
    assert response.status_code == 403
    assert "skillc-session" not in response.headers.get("Set-Cookie", "")
    assert registry.sessions.people(SYSTEM) == []


def test_people_that_may_sign_in(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] domains and groups that are allowed; names by another claim."""
    issuer.person |= {"email": "Ana@Example.COM", "groups": ["staff"], "email_verified": "true"}
    changes: Any = {"domains": ("example.com",), "groups_allowed": ("staff", "board"), "role": Role.READER}
    browser = Browser(registry, replace(oidc, **changes))
    browser.sign_in()
    assert subject(browser) == "ana@example.com"
    issuer.person |= {"sub": "2", "oid": "00aa", "email_verified": None, "name": "A\x1b[31m" + "x" * 500}
    browser = Browser(registry, replace(oidc, subject="oid", role=Role.READER))
    browser.sign_in()
    assert subject(browser) == "00aa"
    issuer.person |= {"sub": "3", "email": "eva@example.com"}
    browser = Browser(registry, replace(oidc, needs_verified_email=False, role=Role.READER))
    browser.sign_in()
    assert subject(browser) == "eva@example.com"
    assert max(len(person.name) for person in registry.sessions.people(SYSTEM)) == 200


def test_userinfo(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] what the ID token lacks comes from the userinfo endpoint, for the same person."""
    oidc = replace(oidc, role=Role.READER)
    issuer.token_claims = {"email": None, "email_verified": None}
    assert Browser(registry, oidc).sign_in().status_code == 403
    issuer.changes = {"userinfo_endpoint": f"{issuer.url}/userinfo"}
    browser = Browser(registry, oidc)
    browser.sign_in()
    assert subject(browser) == "ana@example.com"
    issuer.token_claims |= {"sub": "another"}
    assert Browser(registry, oidc).sign_in().status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another"},
        {"iss": "https://evil.example"},
        {"exp": 1},
        {"iat": 10**11},
        {"sub": None},
        {"aud": [CLIENT_ID, "another"]},
    ],
    ids=str,
)
def test_wrong_id_tokens(browser: Browser, issuer: Issuer, claims: Any) -> None:
    """[SURFACES: Sign-in] an ID token of another sign-in, issuer, client or time makes no session."""
    issuer.token_claims = claims
    assert browser.sign_in().status_code == 403
    assert subject(browser) is None


def test_changed_keys(browser: Browser, issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] people sign in after the issuer changed its keys."""
    monkeypatch.setattr("skillc.server.oidc.issuers.PAUSE", 0.0)
    assert browser.sign_in().status_code == 303
    browser.cookies.clear()
    issuer.keys = [RSA[1]]
    assert browser.sign_in().status_code == 303


def test_another_browser(registry: Registry, browser: Browser, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] what one browser began, no other finishes: nobody is signed in as an attacker."""
    back = browser.begin()
    victim = Browser(registry, oidc)
    assert victim.get(back).status_code == 403
    victim.get("/login")
    assert victim.get(back).status_code == 403
    assert "/token" not in issuer.requests
    assert browser.get(back).status_code == 303
    browser.cookies.clear()
    assert browser.get(back).status_code == 403  # twice


def test_code_of_another_sign_in(browser: Browser) -> None:
    """[SURFACES: Sign-in] a code that was asked for with another verifier is refused by the issuer."""
    stolen = parse_qs(urlsplit(browser.begin()).query)["code"][0]
    own = parse_qs(urlsplit(browser.begin()).query)["state"][0]
    response = browser.get("/login/callback", params={"code": stolen, "state": own})
    assert response.status_code == 403
    assert "invalid_grant" in response.text
    assert "bad" not in response.text  # the issuer's own words may hold anything


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"code": "x"},
        {"code": "x", "state": "x"},
        {"code": "x", "state": "é"},
        {"error": "access_denied"},
    ],
    ids=str,
)
def test_callbacks_that_nobody_asked_for(browser: Browser, issuer: Issuer, query: dict[str, str]) -> None:
    """[SURFACES: Sign-in] a callback without the state of this browser is refused, and not exchanged."""
    browser.get("/login")
    assert browser.get("/login/callback", params=query).status_code == 403
    assert "/token" not in issuer.requests


def test_refusals_of_the_issuer(browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] an error of the issuer is told by its code alone; another issuer is refused."""
    for change, text in (
        ({"error": "access_denied", "error_description": "<script>"}, "(access_denied)"),
        ({"error": "<script>alert(1)</script>"}, "did not sign you in<"),
        ({"iss": "https://evil.example", "code": "x"}, "of another issuer than the one that was asked"),
    ):
        state = parse_qs(urlsplit(browser.get("/login").headers["Location"]).query)["state"][0]
        response = browser.get("/login/callback", params={"state": state, **change})
        assert response.status_code == 403
        assert text in response.text
        assert "<script>" not in response.text
        assert "default-src 'none'" in response.headers["Content-Security-Policy"]


def test_issuer_that_names_itself(browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] an issuer that says it names itself in every answer does so, or it is another's."""
    issuer.changes = {"authorization_response_iss_parameter_supported": True}
    assert "of another issuer" in browser.sign_in().text
    assert browser.get(f"{browser.begin()}&iss={issuer.url}").status_code == 303


def test_an_attempt_is_good_once(browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] a sign-in that failed is over; it is begun anew."""
    issuer.token_claims = {"nonce": "another"}
    back = browser.begin()
    assert browser.get(back).status_code == 403
    assert [*browser.cookies] == []
    issuer.token_claims = {}
    assert "not begun in this browser" in browser.get(back).text


def test_issuer_that_is_down(browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] a page with 503 and Retry-After; tokens still work."""
    issuer.failure = 500
    response = browser.get("/login")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
    assert "Token" in browser.get("/login?token").text


def test_clients(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] the client's secret is sent as the issuer wants it; a wrong one is refused."""
    oidc = replace(oidc, role=Role.READER)
    issuer.changes = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert Browser(registry, oidc).sign_in().status_code == 303
    for secret in ("wrong", ""):
        response = Browser(registry, replace(oidc, client_secret=secret)).sign_in()
        assert response.status_code == 403
        assert "(invalid_client)" in response.text


def test_cookie_of_an_attempt(registry: Registry, oidc: OidcSettings) -> None:
    """[SURFACES: Sign-in] the cookie of a sign-in is as safe as that of a session."""
    browser = Browser(registry, oidc, "https://skills.example.com")
    header = browser.get("/login").headers["Set-Cookie"]
    assert header.startswith("__Host-skillc-login=")
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=600"} <= {*header.split("; ")}


def test_address_is_needed(registry: Registry, oidc: OidcSettings) -> None:
    """[SURFACES: Sign-in] an issuer needs to know where people are led back to."""
    with pytest.raises(InvalidOption, match="--url"):
        Browser(registry, oidc, "")
    with TestClient(create_registry_app(registry)) as client:
        assert client.get("/login/callback").status_code == 404
