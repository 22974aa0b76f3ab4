"""Sign-in of people with an issuer of our own: the whole flow, and everything that can be wrong in it."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from skillc.errors import InvalidOption
from skillc.registry import SYSTEM, Registry, Role
from skillc.registry.model import Grant
from skillc.server import ServerSettings, create_registry_app
from skillc.server.settings import OidcSettings, SignInSettings
from tests.support.cases import each
from tests.support.client import AppClient
from tests.support.issuer import CLIENT_ID, CLIENT_SECRET, Issuer

URL = "http://testserver"


@pytest.fixture(autouse=True)
def _make_admin(registry: Registry) -> None:
    registry.accounts.create_first_admin()


@pytest.fixture
def oidc(issuer: Issuer) -> OidcSettings:
    return OidcSettings(issuer.url, CLIENT_ID, CLIENT_SECRET)


class Browser(AppClient):
    def __init__(self, registry: Registry, oidc: OidcSettings, url: str = URL) -> None:
        app = create_registry_app(registry, ServerSettings(url, sign_in=SignInSettings(oidc)))
        super().__init__(app, base_url=url, follow_redirects=False)

    def begin(self, target: str = "/s/payments") -> str:
        """Go to the issuer and sign in there; return the address that it leads back to."""
        response = self.get("/login", params={"next": target})
        assert response.status_code == 303, response.text
        back = httpx2.get(response.headers["Location"], trust_env=False, verify=False)
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


@pytest.mark.slow
@each(
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
        ({"sub": 7}, {}),
        ({"sub": ["a"]}, {}),
        ({"sub": ""}, {}),
        ({"email_verified": 1}, {}),
        ({"email_verified": "false"}, {}),
        ({"email_verified": "True"}, {}),
        ({"email_verified": ["true"]}, {}),
        ({"email": "@example.com"}, {}),
        ({"email": "ana@"}, {}),
        ({"email": " ana@example.com"}, {}),
        ({"email": "ana@example.com\u202e"}, {}),
        ({"email": "ana@tool\u212ait.com"}, {"domains": ("toolkit.com",)}),
        ({"email": "a" * 300 + "@example.com"}, {}),
        ({"groups": {"staff": True}}, {"groups_allowed": ("staff",)}),
        ({"groups": [["staff"]]}, {"groups_allowed": ("staff",)}),
        ({"groups": "staff board"}, {"groups_allowed": ("staff",)}),
        ({"groups": ["Staff", "staff "]}, {"groups_allowed": ("staff",)}),
        ({"groups": [f"g{number}" for number in range(501)]}, {}),
        ({"preferred_username": "Admin"}, {"subject": "preferred_username"}),
        ({"preferred_username": "admin "}, {"subject": "preferred_username"}),
        ({"preferred_username": "Group:platform"}, {"subject": "preferred_username"}),
        ({"preferred_username": "CI:github.com/acme/skills"}, {"subject": "preferred_username"}),
    ],
)
def test_people_that_may_not_sign_in(
    registry: Registry, oidc: OidcSettings, issuer: Issuer, person: Any, settings: Any
) -> None:
    """[SURFACES: Sign-in] without a verified address, the right domain, group or name there is no session."""
    before, issuer.person = issuer.person, issuer.person | person
    response = Browser(registry, replace(oidc, **settings)).sign_in()
    issuer.person = before
    assert response.status_code == 403
    assert "skillc-session" not in response.headers.get("Set-Cookie", "")
    assert registry.sessions.people(SYSTEM) == []


def test_letters_that_look_alike(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] an address with the Kelvin sign is not that with a k, whatever lower case says."""
    registry.accounts.grant(SYSTEM, Grant("kate@example.com", Role.ADMIN))
    issuer.person["email"] = "\u212aate@example.com"
    browser = Browser(registry, replace(oidc, role=Role.READER))
    assert browser.sign_in().status_code == 303
    assert subject(browser) == "\u212aate@example.com"
    assert [grant["role"] for grant in browser.get("/whoami").json()["permissions"]] == ["reader"]


def test_odd_groups(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] groups that no grant can name are left out; the others count."""
    issuer.person["groups"] = ["platform", None, "", " ", "a\nb", "x" * 5000, {"a": 1}, ["b"], 7]
    browser = Browser(registry, replace(oidc, groups_allowed=("platform",)))
    assert browser.sign_in().status_code == 303
    (person,) = registry.sessions.people(SYSTEM)
    assert person.groups == ("platform",)
    odd = {"sub": issuer.person["sub"], "groups": ["\udce9", "platform"], "name": "\udce9Ana"}
    issuer.answers["/userinfo"] = odd
    issuer.changes = {"userinfo_endpoint": f"{issuer.url}/userinfo"}
    issuer.token_claims = {"groups": None, "name": None}
    browser = Browser(registry, replace(oidc, groups_allowed=("platform",)))
    assert browser.sign_in().status_code == 303
    (person,) = registry.sessions.people(SYSTEM)
    assert (person.groups, person.name) == (("platform",), "Ana")


def test_names_as_text(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] what an issuer says of a person is text on pages, and nothing else."""
    issuer.person["name"] = "<img src=x onerror=alert(1)>"
    browser = Browser(registry, replace(oidc, role=Role.READER))
    browser.sign_in()
    html = browser.get("/account").text
    assert "&lt;img src=x" in html
    assert "<img src=x" not in html


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


def test_userinfo_that_decides(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] groups and addresses that decide are asked for where the ID token lacks them."""
    issuer.changes = {"userinfo_endpoint": f"{issuer.url}/userinfo"}
    issuer.person |= {"groups": ["staff"], "oid": "7"}
    issuer.token_claims = {"groups": None}
    assert Browser(registry, replace(oidc, groups_allowed=("staff",))).sign_in().status_code == 303
    issuer.token_claims = {"email": None}
    by_domain = replace(oidc, subject="oid", domains=("example.com",))
    issuer.person["sub"] = "2"
    assert Browser(registry, by_domain).sign_in().status_code == 303
    assert issuer.requests.count("/userinfo") == 2
    assert Browser(registry, replace(oidc, subject="oid")).sign_in().status_code == 303
    assert issuer.requests.count("/userinfo") == 2  # nothing is lacking


def test_verified_address_of_elsewhere(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] `email_verified` of the ID token does not verify the address of userinfo."""
    issuer.answers["/userinfo"] = {"sub": issuer.person["sub"], "email": "boss@example.com"}
    issuer.changes = {"userinfo_endpoint": f"{issuer.url}/userinfo"}
    issuer.token_claims = {"email": None, "email_verified": True}
    assert Browser(registry, oidc).sign_in().status_code == 403
    issuer.answers["/userinfo"]["email_verified"] = True
    assert Browser(registry, oidc).sign_in().status_code == 303


@each(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"sub": None},
        {"aud": [CLIENT_ID, "another"]},
    ],
)
def test_wrong_id_tokens(browser: Browser, issuer: Issuer, claims: Any) -> None:
    """[SURFACES: Sign-in] an ID token of another sign-in, or one that is not verified, makes no session."""
    issuer.token_claims = claims
    assert browser.sign_in().status_code == 403
    assert subject(browser) is None


@each("path", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:x"])
def test_planted_paths(registry: Registry, oidc: OidcSettings, path: str) -> None:
    """[SURFACES: Sign-in] what a cookie says of where to go leads to this server alone, too."""
    browser = Browser(registry, oidc)
    back = browser.begin()
    attempt = browser.cookies["skillc-login"].partition(".")[0]
    encoded = base64.urlsafe_b64encode(path.encode()).decode().rstrip("=")
    browser.cookies.clear()
    response = browser.get(back, headers={"Cookie": f"skillc-login={attempt}.{encoded}"})
    assert (response.status_code, response.headers["Location"]) == (303, "/")


def test_addresses_that_look_like_others(registry: Registry, oidc: OidcSettings) -> None:
    """[SURFACES: Sign-in] sign-in leads back to no other server, whatever path a page was asked for by."""
    browser = Browser(registry, oidc)
    html = browser.get(f"{URL}//evil.example/x", headers={"Accept": "text/html"}).text
    (link,) = re.findall(r'href="(/login[^"]*)"', html)
    location = browser.get(link).headers["Location"]
    back = httpx2.get(location, trust_env=False, verify=False).headers["Location"]
    assert browser.get(back).headers["Location"] == "/"


def test_rate_limit(registry: Registry, oidc: OidcSettings) -> None:
    """[SURFACES: Sign-in] sign-in and tokens for CI are limited by address; the refusal is a page."""
    app = create_registry_app(registry, ServerSettings(URL, rate_limit=5, sign_in=SignInSettings(oidc)))
    for method, path in (
        ("GET", "/login"),
        ("POST", "/login"),
        ("GET", "/login/callback"),
        ("GET", "/logout"),
        ("POST", "/_/oidc/mint-token"),
    ):
        client = AppClient(app, base_url=URL, follow_redirects=False, client=(method + path, 1))
        responses = [client.request(method, path, headers={"Origin": URL}) for _ in range(6)]
        assert 429 not in [response.status_code for response in responses[:5]]
        assert responses[5].status_code == 429
        assert int(responses[5].headers["Retry-After"]) >= 1
        assert "mint" in path or "Wait a moment, then try again." in responses[5].text


@each("length", [1000, 20_000])
def test_long_codes(browser: Browser, issuer: Issuer, length: int) -> None:
    """[SURFACES: Sign-in] a code of any length is the issuer's to refuse."""
    state = parse_qs(urlsplit(browser.begin()).query)["state"][0]
    response = browser.get("/login/callback", params={"state": state, "code": "x" * length})
    assert response.status_code == 403
    assert "x" * 100 not in response.text


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


@each(
    "query",
    [
        {},
        {"code": "x"},
        {"code": "x", "state": "x"},
        {"code": "x", "state": "é"},
        {"error": "access_denied"},
    ],
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


def test_clients(registry: Registry, oidc: OidcSettings, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] the client's secret is sent as the issuer wants it; a wrong one is refused."""
    oidc = replace(oidc, role=Role.READER)
    issuer.changes = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    assert Browser(registry, oidc).sign_in().status_code == 303
    for secret in ("wrong", ""):
        response = Browser(registry, replace(oidc, client_secret=secret)).sign_in()
        assert response.status_code == 403
        assert "(invalid_client)" in response.text


def test_address_is_needed(registry: Registry, oidc: OidcSettings) -> None:
    """[SURFACES: Sign-in] people are led back; the cookie of a sign-in is as safe as a session's."""
    with pytest.raises(InvalidOption, match="--url"):
        Browser(registry, oidc, "")
    with AppClient(create_registry_app(registry)) as client:
        assert client.get("/login/callback").status_code == 404
    browser = Browser(registry, oidc, "https://skills.example.com")
    header = browser.get("/login").headers["Set-Cookie"]
    assert header.startswith("__Host-skillc-login=")
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/", "Max-Age=600"} <= {*header.split("; ")}
