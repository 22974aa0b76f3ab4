"""Sign-out at an issuer of our own, request by request: what is sent, and what must not work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from starlette.testclient import TestClient

from skillc.registry import SYSTEM, Grant, Registry, Role, open_registry
from skillc.server import OidcSettings, ServerSettings, SignInSettings, create_registry_app
from skillc.server.sessions import FIELD, make_form_token
from tests.support.issuer import CLIENT_ID, CLIENT_SECRET, Issuer

URL = "https://skills.example.com"
SESSION, HINT, ATTEMPT = "__Host-skillc-session", "__Secure-skillc-id", "__Secure-skillc-logout"


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    with open_registry(str(tmp_path / "registry.db")) as registry:
        registry.accounts.create_first_admin()
        registry.accounts.grant(SYSTEM, Grant("ana@example.com", Role.READER))
        yield registry


class Browser(TestClient):
    """A browser that signed in with the issuer."""

    def __init__(self, registry: Registry, issuer: Issuer, sign_out: str = "offer") -> None:
        oidc = OidcSettings(issuer.url, CLIENT_ID, CLIENT_SECRET, sign_out=sign_out)
        app = create_registry_app(registry, ServerSettings(URL, sign_in=SignInSettings(oidc)))
        super().__init__(app, base_url=URL, headers={"Origin": URL}, follow_redirects=False)
        location = self.get("/login").headers["Location"]
        self.entry = self.get(httpx2.get(location, trust_env=False).headers["Location"])
        assert self.entry.status_code == 303, self.entry.text

    def sign_out(self) -> Any:
        return self.post("/logout", data={FIELD: make_form_token(self.cookies[SESSION])})


@pytest.fixture
def browser(registry: Registry, issuer: Issuer) -> Browser:
    issuer.changes = {"end_session_endpoint": f"{issuer.url}/end-session?tenant=1"}
    return Browser(registry, issuer)


def test_cookies(browser: Browser) -> None:
    """[SURFACES: Sign-in] the ID token is in a cookie for /logout alone, which scripts can't read."""
    header = next(text for text in browser.entry.headers.get_list("Set-Cookie") if HINT in text)
    assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/logout"} <= {*header.split("; ")}
    sent = browser.get("/whoami").request.headers["Cookie"]
    assert SESSION in sent
    assert HINT not in sent


def test_id_tokens_of_others(browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] an ID token that is too long for a cookie is none, and that of another goes."""
    assert HINT in browser.cookies
    browser.cookies.delete(SESSION)
    issuer.person["groups"] = [f"group-{number:04}" for number in range(400)]
    location = browser.get("/login").headers["Location"]
    browser.get(httpx2.get(location, trust_env=False).headers["Location"])
    assert (SESSION in browser.cookies, HINT in browser.cookies) == (True, False)


def test_request_to_the_issuer(browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] client_id, id_token_hint, post_logout_redirect_uri and a new state are sent."""
    id_token = browser.cookies[HINT]
    response = browser.sign_out()
    assert response.status_code == 200
    assert "Refresh" not in response.headers
    assert (SESSION in browser.cookies, ATTEMPT in browser.cookies) == (False, True)
    location = browser.get("/logout/issuer").headers["Location"]
    assert location.startswith(f"{issuer.url}/end-session?tenant=1&")
    query = {name: value for name, (value,) in parse_qs(urlsplit(location).query).items()}
    state = query.pop("state")
    assert query == {
        "tenant": "1",
        "client_id": CLIENT_ID,
        "id_token_hint": id_token,
        "post_logout_redirect_uri": f"{URL}/logout/callback",
    }
    assert len(state) == 43
    assert state not in browser.cookies.values()
    assert HINT not in browser.cookies  # it was good once
    for wrong in ({}, {"state": "wrong"}, {"state": browser.cookies[ATTEMPT]}):
        assert browser.get("/logout/callback", params=wrong).headers["Location"] == "/"
    assert "Here, and at" in browser.get("/logout/callback", params={"state": state}).text
    assert browser.get("/logout/callback", params={"state": state}).headers["Location"] == "/"


def test_only_after_signing_out_here(browser: Browser, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] no one is led to the issuer's sign-out who did not sign out here."""
    assert browser.get("/logout/issuer").headers["Location"] == "/"
    browser.sign_out()
    attempt = browser.cookies[ATTEMPT]
    location = browser.get("/login").headers["Location"]
    browser.get(httpx2.get(location, trust_env=False).headers["Location"])
    assert (SESSION in browser.cookies, browser.cookies[ATTEMPT]) == (True, attempt)
    assert browser.get("/logout/issuer").headers["Location"] == "/"  # signed in again meanwhile


def test_by_itself(registry: Registry, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] `sign_out = "issuer"` needs no click."""
    issuer.changes = {"end_session_endpoint": f"{issuer.url}/end-session"}
    response = Browser(registry, issuer, "issuer").sign_out()
    assert response.headers["Refresh"] == "0; url=/logout/issuer"
    assert "no-store" in response.headers["Cache-Control"]


def test_here(registry: Registry, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] by default, signing out ends here, and no ID token is kept."""
    issuer.changes = {"end_session_endpoint": f"{issuer.url}/end-session"}
    browser = Browser(registry, issuer, "here")
    assert HINT not in browser.cookies
    assert browser.sign_out().headers["Location"] == "/"
    assert browser.get("/logout/issuer").headers["Location"] == "/"


def test_issuer_that_is_down(registry: Registry, issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] while the issuer is down, signing out here works all the same."""
    monkeypatch.setattr("skillc.server.oidc.issuers.PAUSE", 0.0)
    issuer.changes = {"end_session_endpoint": f"{issuer.url}/end-session"}
    browser = Browser(registry, issuer)
    monkeypatch.setattr("skillc.server.oidc.issuers.KEEP", -1.0)
    monkeypatch.setattr("skillc.server.oidc.issuers.KEEP_STALE", -1.0)
    issuer.failure = 503
    session = browser.cookies[SESSION]
    assert browser.sign_out().headers["Location"] == "/"
    assert browser.get("/whoami", headers={"Cookie": f"{SESSION}={session}"}).status_code == 401
    issuer.failure = 0
    issuer.changes = {}
    browser.cookies.set(ATTEMPT, "x", domain="skills.example.com", path="/logout")
    response = browser.get("/logout/issuer")
    assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
