"""Sessions of browsers: cookies, and requests that other sites make a browser send."""

from __future__ import annotations

import pytest

from skillc.registry import SYSTEM, Registry, Role, make_package
from skillc.registry.model import Grant
from skillc.server import ServerSettings, create_registry_app
from skillc.server.signin.sessions import FIELD, HEADER, local_path, make_form_token
from tests.support.cases import each
from tests.support.client import AppClient
from tests.support.registry import body, fault

URL = "https://skills.example.com"
SKILL_MD = b"---\nname: refunds\ndescription: Pay money back\n---\n# Refunds\n"


@pytest.fixture(autouse=True)
def _fill(registry: Registry) -> None:
    registry.publish(SYSTEM, make_package("payments/refunds", {"SKILL.md": SKILL_MD}))
    registry.accounts.create_first_admin()
    registry.accounts.grant(SYSTEM, Grant("ana", Role.ADMIN))


def make_token(registry: Registry, role: Role = Role.ADMIN) -> str:
    return registry.accounts.create_token(SYSTEM, role, owner="ana").secret


class Browser(AppClient):
    """A browser at the server's address, which keeps cookies and sends the Origin of the page."""

    def __init__(self, registry: Registry, url: str = URL, public_read: bool = False) -> None:
        app = create_registry_app(registry, ServerSettings(url, public_read))
        super().__init__(app, base_url=url, headers={"Origin": url}, follow_redirects=False)

    def sign_in(self, token: str) -> str:
        """Sign in with a token, and return the session."""
        response = self.post("/login", data={"token": token, "next": "/s/payments"})
        assert (response.status_code, response.headers["Location"]) == (303, "/s/payments")
        return self.session

    @property
    def session(self) -> str:
        return next((text for name, text in self.cookies.items() if name.endswith("skillc-session")), "")

    def form(self) -> dict[str, str]:
        return {FIELD: make_form_token(self.session)}


def test_cookies(registry: Registry) -> None:
    """[SURFACES: Sign-in] HttpOnly and SameSite=Lax; with https also Secure and `__Host-`."""
    token = make_token(registry)
    header = Browser(registry).post("/login", data={"token": token}).headers["Set-Cookie"]
    name, _, attributes = header.partition("=")
    assert name == "__Host-skillc-session"
    assert {*attributes.split("; ")[1:]} == {"HttpOnly", "Max-Age=604800", "Path=/", "SameSite=lax", "Secure"}
    plain = Browser(registry, "http://127.0.0.1:8080").post("/login", data={"token": token})
    assert plain.headers["Set-Cookie"].startswith("skillc-session=")
    assert "Secure" not in plain.headers["Set-Cookie"]
    assert "no-store" in plain.headers["Cache-Control"]
    assert token not in header + str(plain.headers)


def test_callers_by_session(registry: Registry) -> None:
    """[SURFACES: Sign-in] a session is a caller, a token beside it alone; no session has no form token."""
    browser = Browser(registry)
    browser.sign_in(make_token(registry))
    assert browser.get("/whoami").json()["subject"] == "ana"
    assert browser.get("/skills/payments/refunds/versions").status_code == 200
    bearer = {"Authorization": "Bearer skc_wrong"}
    assert browser.get("/whoami", headers=bearer).status_code == 401
    browser.cookies.clear()
    assert browser.get("/whoami").status_code == 401
    public = Browser(registry, public_read=True)
    assert public.get("/skills/payments/refunds/versions").status_code == 200
    for cookie in ("", "__Host-skillc-session=", "__Host-skillc-session=wrong"):
        headers = {"Cookie": cookie, HEADER: make_form_token("")}
        assert public.post("/skills", json=body("a/b"), headers=headers).status_code in (401, 403)


def test_cookie_without_its_prefix(registry: Registry) -> None:
    """[SURFACES: Sign-in] with https, a cookie that another host of the domain can set is none."""
    browser = Browser(registry)
    session = browser.sign_in(make_token(registry))
    browser.cookies.clear()
    assert browser.get("/whoami", headers={"Cookie": f"skillc-session={session}"}).status_code == 401
    assert browser.get("/whoami", headers={"Cookie": f"__Host-skillc-session={session}"}).status_code == 200


ORIGINS = {
    "another site": {"Origin": "https://evil.example"},
    "another scheme": {"Origin": "http://skills.example.com"},
    "another port": {"Origin": f"{URL}:8443"},
    "a similar name": {"Origin": f"{URL}.evil.example"},
    "a page without an origin": {"Origin": "null"},
    "no origin": {"Origin": ""},
    "a request across sites": {"Sec-Fetch-Site": "cross-site"},
    "a request of a subdomain": {"Sec-Fetch-Site": "same-site"},
}


@each("name", ORIGINS)
def test_requests_of_other_sites(registry: Registry, name: str) -> None:
    """[SURFACES: Sign-in] with a session, what may change something comes from a page of this server."""
    browser = Browser(registry)
    browser.sign_in(make_token(registry))
    headers = {HEADER: make_form_token(browser.session)} | ORIGINS[name]
    assert fault(browser.post("/skills", json=body("a/b"), headers=headers)) == (403, "E090")
    assert browser.post("/logout", data=browser.form(), headers=ORIGINS[name]).status_code == 403
    assert browser.post("/login", data={"token": "x"}, headers=ORIGINS[name]).status_code == 403
    assert browser.get("/whoami", headers=ORIGINS[name]).status_code == 200


@each("text", ["", "wrong", "é", make_form_token("0" * 16 + "." + "A" * 43)])
def test_requests_without_the_form_token(registry: Registry, text: str) -> None:
    """[SURFACES: Sign-in] and it holds the token of this session's forms, in a header or a field."""
    browser = Browser(registry)
    browser.sign_in(make_token(registry))
    headers = {HEADER.encode(): text.encode()}
    assert fault(browser.post("/skills", json=body("a/b"), headers=headers)) == (403, "E090")
    assert fault(browser.delete("/skills/payments/refunds", headers=headers)) == (403, "E090")
    assert browser.post("/logout", data={FIELD: text}).status_code == 403


def test_the_form_token(registry: Registry) -> None:
    """[SURFACES: Sign-in] what holds it may change something; without a session there is none."""
    browser = Browser(registry)
    browser.sign_in(make_token(registry))
    good = {HEADER: make_form_token(browser.session)}
    assert browser.post("/skills", json=body("a/b"), headers=good).status_code == 201
    assert len(make_form_token(browser.session)) == 64
    assert make_form_token("") == ""


def test_fixation(registry: Registry) -> None:
    """[SURFACES: Sign-in] a sign-in makes a new session, and ends the one that the browser had."""
    browser = Browser(registry)
    attacker = browser.sign_in(make_token(registry, Role.READER))
    victim = browser.sign_in(make_token(registry))
    assert victim != attacker
    for session, status in ((attacker, 401), (victim, 200)):
        browser.cookies.clear()
        headers = {"Cookie": f"__Host-skillc-session={session}"}
        assert browser.get("/whoami", headers=headers).status_code == status
    planted = f"{'0' * 16}.{'A' * 43}"
    browser.cookies.set("__Host-skillc-session", planted, domain="skills.example.com")
    assert browser.sign_in(make_token(registry)) not in (planted, "")


def test_sign_out(registry: Registry) -> None:
    """[SURFACES: Sign-in] signing out ends the session itself, not the cookie alone."""
    browser = Browser(registry)
    session = browser.sign_in(make_token(registry))
    assert make_form_token(session) in browser.get("/logout").text
    response = browser.post("/logout", data=browser.form())
    assert (response.status_code, response.headers["Location"]) == (303, "/")
    assert browser.session == ""
    headers = {"Cookie": f"__Host-skillc-session={session}"}
    assert browser.get("/whoami", headers=headers).status_code == 401
    for method in ("GET", "POST"):
        assert browser.request(method, "/logout", headers=headers).headers["Location"] == "/"


def test_revoked_tokens(registry: Registry) -> None:
    """[SURFACES: Sign-in] a session ends with the token that it was made by."""
    browser = Browser(registry)
    browser.sign_in(make_token(registry))
    for token in registry.accounts.tokens(SYSTEM):
        registry.accounts.revoke_token(SYSTEM, token.id)
    assert browser.get("/whoami").status_code == 401
    assert browser.get("/login").status_code == 200


def test_wrong_tokens(registry: Registry) -> None:
    """[SURFACES: Sign-in] a wrong token gets the form again, which does not repeat it."""
    browser = Browser(registry)
    for text in ("skc_wrong", "", '"><script>', "\udce9"):
        data = f"token={text}&next=/a%22%3E".encode("utf-8", "surrogateescape")
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        response = browser.post("/login", content=data, headers=headers)
        assert response.status_code in (400, 401)
        assert "Set-Cookie" not in response.headers
        assert "<script>" not in response.text
        assert 'value="/a"' not in response.text
    assert browser.post("/login", content=b"x" * 20_000).status_code == 413
    assert browser.post("/login", content=b"a=1&" * 100, headers=headers).status_code == 400


@each(
    "text",
    [
        *("https://evil.example", "//evil.example", "/\\evil.example", "\\/evil", "javascript:alert(1)"),
        *("/\r\nA: b", "evil.example", "", "/é"),
        "/" + "a" * 1001,
    ],
)
def test_paths_of_other_servers(registry: Registry, text: str) -> None:
    """[SURFACES: Sign-in] `next` leads to this server alone."""
    assert local_path(text) == "/"
    browser = Browser(registry)
    response = browser.post("/login", data={"token": make_token(registry), "next": text})
    assert response.headers["Location"] == "/"
    assert browser.get("/login", params={"next": text}).headers["Location"] == "/"
