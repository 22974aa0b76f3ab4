"""Secrets of sign-in: never in logs, errors, pages, the store's log, or the environment of processes."""

from __future__ import annotations

import logging
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from skillc.registry import SYSTEM, Registry, Role
from skillc.registry.model import Grant
from skillc.server import (
    OidcSettings,
    PublishingSettings,
    ServerSettings,
    SignInSettings,
    create_registry_app,
)
from tests.support.client import AppClient
from tests.support.issuer import ACCESS_TOKEN, CLIENT_ID, CLIENT_SECRET, Issuer
from tests.support.registry import serving

URL = "http://testserver"


@pytest.fixture(autouse=True)
def _make_admins(registry: Registry) -> None:
    registry.accounts.create_first_admin()
    registry.accounts.grant(SYSTEM, Grant("ana@example.com", Role.ADMIN))


def test_nowhere(
    registry: Registry, issuer: Issuer, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """[SURFACES: Sign-in] no log, error, page or list has a code, an ID token, a session or a secret."""
    caplog.set_level(logging.DEBUG)
    sign_in = SignInSettings(
        OidcSettings(issuer.url, CLIENT_ID, CLIENT_SECRET), PublishingSettings(github=(issuer.url,))
    )
    settings = ServerSettings(URL, sign_in=sign_in)
    client = AppClient(create_registry_app(registry, settings), base_url=URL, follow_redirects=False)
    secrets: set[str] = {CLIENT_SECRET, ACCESS_TOKEN}
    texts: list[str] = [repr(settings)]

    def begin() -> str:
        location = client.get("/login").headers["Location"]
        secrets.add(client.cookies["skillc-login"].partition(".")[0])
        logging.disable()  # what the test's own client logs is no matter
        try:
            back: str = httpx2.get(location, trust_env=False, verify=False).headers["Location"]
        finally:
            logging.disable(logging.NOTSET)
        secrets.add(parse_qs(urlsplit(back).query)["code"][0])
        return back

    client.get(begin())
    secrets.add(client.cookies["skillc-session"].partition(".")[2])
    texts += [client.get("/sessions").text, client.get("/people").text, client.get("/audit-log").text]
    registry.publishers.trust(SYSTEM, issuer.url, "acme/skills", "release.yml", "payments")
    good, bad = (issuer.sign(issuer.claims(aud=audience)) for audience in (URL, "another"))
    minted = client.post("/_/oidc/mint-token", json={"token": good}).json()["token"]
    secrets |= {good, bad, minted.split("_", 2)[2]}
    texts += [client.post("/_/oidc/mint-token", json={"token": text}).text for text in (good, bad)]
    client.cookies.delete("skillc-session")
    for failure in ({"nonce": "another"}, {"exp": 1}, {"email": None}):
        issuer.token_claims = failure
        texts.append(client.get(begin()).text)
    issuer.failure = 500
    texts.append(client.get("/login/callback?code=x&state=y").text)
    logs = [record.getMessage() for record in caplog.records]
    texts += [text for text in logs if not text.startswith("HTTP Request: GET http://testserver")]
    texts += [repr(registry.changes(SYSTEM)), repr(registry.sessions.sessions(SYSTEM))]
    assert len(secrets) == 14
    assert len(texts) > 10
    assert not [secret for secret in secrets for text in texts if secret in text]
    stored = b"".join(path.read_bytes() for path in tmp_path.glob("registry.db*") if path.is_file())
    assert not [secret for secret in secrets if secret.encode() in stored]


@pytest.mark.slow
def test_served(tmp_path: Path, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] `skc serve --config`: people sign in with any process; the log has no secret."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "registry.toml").write_text(
        f'[oidc]\nissuer = "{issuer.url}"\nclient_id = "{CLIENT_ID}"\ndefault_role = "reader"\n'
    )
    url = "http://skills.example.com"
    words = ("--url", url, "--config", "registry.toml", "--workers", "2")
    with serving(home, *words, SKILLC_OIDC_SECRET=CLIENT_SECRET) as server:
        headers = {"Host": "skills.example.com"}
        with httpx2.Client(base_url=server.url, headers=headers, trust_env=False, verify=False) as browser:
            response = browser.get("/login?next=/s/payments")
            cookie = response.headers["Set-Cookie"].partition(";")[0]
            back = httpx2.get(response.headers["Location"], trust_env=False, verify=False).headers["Location"]
            assert back.startswith(f"{url}/login/callback?")
            response = browser.get(back.removeprefix(url), headers={"Cookie": cookie})
            assert (response.status_code, response.headers["Location"]) == (303, "/s/payments")
            session = next(text for text in response.headers.get_list("Set-Cookie") if "-session=" in text)
            cookie = session.partition(";")[0]
            for _ in range(4):
                whoami = browser.get("/whoami", headers={"Cookie": cookie})
                assert whoami.json()["subject"] == "ana@example.com"
            refused = browser.post("/skills", headers={"Cookie": cookie, "Origin": "http://evil.example"})
            assert refused.status_code == 403
    code = parse_qs(urlsplit(back).query)["code"][0]
    log = server.log.read_text()
    assert not [text for text in (CLIENT_SECRET, code, cookie.partition(".")[2]) if text in log]
