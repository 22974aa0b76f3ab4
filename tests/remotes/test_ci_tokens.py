"""Tokens for jobs of CI: GitHub's endpoint and registries that fail, and that want more than they should."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from skillc.errors import InvalidOption, IssuerUnavailable, RegistryRefused, RegistryUnavailable
from skillc.remotes import RegistryApi, advise_job, is_job, login, mint_token
from tests.support.cases import each
from tests.support.ci import Runner, running_runner
from tests.support.http import Request, Stub, page
from tests.support.issuer import Issuer, issuer

__all__ = ["issuer"]
TOKEN = "skc_0123456789abcdef_secret"


@pytest.fixture(autouse=True)
def no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests may run in CI themselves."""
    names = ("ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "GITHUB_ACTIONS", "GITLAB_CI")
    for name in (*names, "SKILLC_ID_TOKEN", "SKILLC_AUDIENCE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def runner(issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runner]:
    with running_runner(issuer) as made:
        for name, text in made.variables.items():
            monkeypatch.setenv(name, text)
        monkeypatch.setattr(login, "WAITS", (0.0, 0.0))
        yield made


class Registry(Stub):
    """What a registry may be: it names an audience, and answers a request for a token."""

    def __init__(self) -> None:
        super().__init__()
        self.audience: Any = self.url
        self.minted = page({"token": TOKEN})
        self.answer = self._answer

    def _answer(self, request: Request) -> list[bytes]:
        return [page({"audience": self.audience}) if request.method == "GET" else self.minted]

    def mint(self, path: str = "payments/refunds") -> str:
        with RegistryApi(self.url) as api:
            return mint_token(api, path)


@pytest.fixture
def registry() -> Iterator[Registry]:
    made = Registry()
    yield made
    made.close()


def test_a_token(registry: Registry, runner: Runner) -> None:
    """[SURFACES: Sign-in] GitHub is asked for a token of the registry, again after failures that may pass."""
    assert is_job()
    assert registry.mint() == TOKEN
    assert runner.audiences == [registry.url]
    assert registry.paths() == ["/_/oidc/audience", "/_/oidc/mint-token"]
    assert json.loads(registry.requests[1].body) == {"token": runner.tokens[0], "prefix": "payments/refunds"}
    assert runner.secret not in str([request.headers for request in registry.requests])
    runner.requests.clear()
    runner.failures = [page({}, 500), b""]  # the second one breaks off
    assert registry.mint() == TOKEN
    assert len(runner.requests) == 3
    runner.failures = [page({"value": "eyJ"}, 503)] * 3
    with pytest.raises(IssuerUnavailable, match=r"'127\.0\.0\.1' unavailable: .* \(HTTP 503\)"):
        registry.mint()


@each(
    "audience",
    [
        *("pypi", "sts.amazonaws.com", "https://evil.example", "http://127.0.0.1", "https://skills\nx", ""),
        *(7, None),
    ],
)
def test_audiences_of_others(registry: Registry, runner: Runner, audience: Any) -> None:
    """[SURFACES: Sign-in] a registry gets no ID token that another service would take."""
    registry.audience = audience
    with pytest.raises((RegistryRefused, RegistryUnavailable)) as caught:
        registry.mint()
    assert runner.requests == []
    assert "\n" not in caught.value.message
    if audience and isinstance(audience, str):
        assert "SKILLC_AUDIENCE" in caught.value.details


def test_audience_by_name(registry: Registry, runner: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] SKILLC_AUDIENCE names another audience; the registry is not asked then."""
    registry.audience = "evil"
    monkeypatch.setenv("SKILLC_AUDIENCE", "skills & more")
    registry.mint()
    assert runner.audiences == ["skills & more"]
    assert registry.paths() == ["/_/oidc/mint-token"]


@each(
    "answer",
    [
        page({"message": "Bad credentials"}, 403),
        page({}, 302, Location="http://127.0.0.1:1/steal"),
        page(b"<html>"),
        page([1]),
        page({"value": 7}),
        page({"value": ""}),
        page({"value": "a b"}),
        page({"value": "eyJ\r\nX: y"}),
        page({"value": "e" * 20_000}),
        page(b"[" * 100_000),
    ],
)
def test_answers_that_can_not_be_used(registry: Registry, runner: Runner, answer: bytes) -> None:
    """[SURFACES: Sign-in] what GitHub must not answer is E092, is not repeated, and leads nowhere."""
    runner.failures = [answer] * 3
    registry.requests.clear()
    with pytest.raises(IssuerUnavailable) as caught:
        registry.mint()
    assert "eyJ" not in str(caught.value)
    assert runner.secret not in str(caught.value)
    assert registry.paths() == ["/_/oidc/audience"]


@each("url", ["http://10.0.0.1/token", "ftp://x/y", "https://[", "token"])
def test_addresses_of_github(
    registry: Registry, runner: Runner, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """[SURFACES: Sign-in] the runner's secret is sent by https alone, or on this machine."""
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", url)
    with pytest.raises(InvalidOption, match="no https address"):
        registry.mint()
    assert runner.requests == []


def test_registry_that_repeats_the_id_token(registry: Registry, runner: Runner) -> None:
    """[SURFACES: Sign-in] an error that a registry answers with shows no ID token."""

    def repeat(request: Request) -> list[bytes]:
        if request.method == "GET":
            return [page({"audience": registry.url})]
        text = json.loads(request.body)["token"]
        return [page({"error": {"code": "E090", "message": f"no: {text}"}}, 403)]

    registry.answer = repeat
    with pytest.raises(RegistryRefused) as caught:
        registry.mint()
    assert "no: ***" in caught.value.message
    assert "skc publisher list" in caught.value.details


@each("answer", [{}, {"token": ""}, {"token": 7}, {"token": "a\r\nb"}, {"token": "x" * 5000}])
def test_tokens_that_can_not_be_sent(registry: Registry, runner: Runner, answer: Any) -> None:
    """[SURFACES: Sign-in] what is no token is E092."""
    registry.minted = page(answer)
    with pytest.raises(RegistryUnavailable, match="gave no token"):
        registry.mint()


def test_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] outside of CI, and with half of the variables, there is no ID token to get."""
    assert (is_job(), advise_job("https://x.org")) == (False, "")
    monkeypatch.setenv("ACTIONS_ID_TOKEN_REQUEST_URL", "https://x.org")
    assert not is_job()
    monkeypatch.setenv("SKILLC_ID_TOKEN", " ")
    assert not is_job()
