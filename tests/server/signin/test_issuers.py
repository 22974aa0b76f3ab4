"""ID tokens of an issuer of our own, good ones and bad ones of every kind."""

from __future__ import annotations

import asyncio
import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from joserfc.errors import SecurityWarning
from joserfc.jwk import RSAKey

from skillc.errors import InvalidParameter, RegistryRefused, RegistryUnavailable
from skillc.server.settings import parse_issuer
from skillc.server.signin import issuers
from tests.support.cases import each
from tests.support.issuer import AUDIENCE, EC, RSA, Issuer, Token, now, signed

STRANGER = RSAKey.generate_key(2048, {"kid": "rsa-0"})


def verifier_of(issuer: Issuer) -> issuers.Issuer:
    return issuers.Issuer(issuer.url, lambda: datetime.now(UTC))


@pytest.fixture
def verifier(issuer: Issuer) -> issuers.Issuer:
    return verifier_of(issuer)


def verify(verifier: issuers.Issuer, text: str) -> issuers.Claims:
    return asyncio.run(verifier.verify(text, AUDIENCE))


@pytest.mark.parametrize("key", [RSA[0], EC], ids=["RS256", "ES256"])
def test_good_tokens(issuer: Issuer, verifier: issuers.Issuer, key: Any) -> None:
    """[SURFACES: Sign-in] tokens by RS256 and ES256 are verified by the keys that the issuer publishes."""
    issuer.keys = [RSA[1], key]
    text = issuer.sign(issuer.claims(), key, x5t="a header that is no matter")
    assert verify(verifier, text)["repository"] == "acme/skills"
    verify(verifier, issuer.sign(issuer.claims(aud=[AUDIENCE]), key))
    assert issuer.requests == ["/.well-known/openid-configuration", "/jwks"]


def test_clock_skew(issuer: Issuer, verifier: issuers.Issuer) -> None:
    """[SURFACES: Sign-in] clocks may differ by a minute; an ID of two keys makes no wrong signature right."""
    early = issuer.claims(iat=now(50), nbf=now(50))
    late = issuer.claims(exp=now(-50))
    assert [verify(verifier, issuer.sign(claims))["aud"] for claims in (early, late)] == [AUDIENCE] * 2
    issuer.keys = [RSA[0], RSAKey.import_key(RSA[1].as_dict(private=True) | {"kid": "rsa-0"})]
    assert verify(verifier, issuer.sign(issuer.claims(), issuer.keys[0]))["aud"] == AUDIENCE
    for key in (STRANGER, issuer.keys[1]):
        with pytest.raises(RegistryRefused, match="wrong signature"):
            verify(verifier, issuer.sign(issuer.claims(), key))


BAD: dict[str, tuple[Token, str]] = {
    "expired": (signed(exp=now(-120)), "is expired"),
    "without an end": (signed(exp=None), "lacks one of"),
    "an end that is no number": (signed(exp="never"), "has a wrong claim"),
    "an end that is NaN": (signed(exp=float("nan")), "has a wrong claim"),
    "from the future": (signed(iat=now(86_400)), "was issued in the future"),
    "not valid yet": (signed(nbf=now(86_400)), "is not valid yet"),
    "another audience": (signed(aud="https://pypi.org"), "is for another audience"),
    "a similar audience": (signed(aud=f"{AUDIENCE}/"), "is for another audience"),
    "no audience": (signed(aud=None), "lacks one of"),
    "several audiences": (signed(aud=[AUDIENCE, "https://pypi.org"]), "is for another audience"),
    "several audiences, for another": (signed(aud=[AUDIENCE, "x"], azp="x"), "is for another audience"),
    "another issuer": (signed(iss="https://gitlab.com"), "is of another issuer"),
    "a similar issuer": (lambda i: i.sign(i.claims(iss=f"{i.url}/")), "is of another issuer"),
    "no subject": (signed(sub=None), "lacks one of"),
    "alg none": (lambda i: i.unsigned(i.claims()), "is not signed with"),
    "alg none with a signature": (lambda i: i.unsigned(i.claims(), "AAAA"), "is not signed with"),
    "HS256 with the public key": (lambda i: i.sign_with_public_key(i.claims()), "is not signed with"),
    "RS512": (lambda i: i.sign(i.claims(), alg="RS512"), "is not signed with"),
    "ES256 with an RSA key": (lambda i: i.sign(i.claims(), EC, kid=RSA[0].kid), "can't be read"),
    "an unknown key": (lambda i: i.sign(i.claims(), EC), "is signed with an unknown key"),
    "a known ID and another key": (lambda i: i.sign(i.claims(), STRANGER), "has a wrong signature"),
    "a critical header": (lambda i: i.sign(i.claims(), crit=["exp"], exp=1), "can't be read"),
    "its own key": (lambda i: i.sign(i.claims(), STRANGER, jwk=STRANGER.as_dict()), "wrong signature"),
    "a changed payload": (lambda i: _swap(i.sign(i.claims()), i.sign(i.claims())), "wrong signature"),
    "no token": (lambda i: "hello", "can't be read"),
    "empty": (lambda i: "", "can't be read"),
    "a list as header": (lambda i: "W10.e30.AAAA", "is not signed with"),
    "a text as header": (lambda i: "ImFsZyI.e30.AAAA", "can't be read"),
    "not Unicode": (lambda i: "\udce9.\udce9.", "can't be read"),
    "an audience that is no text": (signed(aud={"a": 1}), "is for another audience"),
    "an audience among others that are none": (signed(aud=[7, None]), "is for another audience"),
    "a subject that is no text": (signed(sub=7), "has a wrong claim"),
    "an end that is a list": (signed(exp=[now(60)]), "has a wrong claim"),
    "an end that is true": (signed(exp=True), "has a wrong claim"),
    "a beginning that is no number": (signed(nbf="now"), "is not valid yet"),
    "a key ID that is no text": (lambda i: i.sign(i.claims(), kid=["rsa-0"]), "unknown key|can't be read"),
    "a key by address": (
        lambda i: i.sign(i.claims(), STRANGER, jku="https://evil.example/keys", x5u="https://evil.example"),
        "wrong signature",
    ),
    "a nested header": (lambda i: f"{_nest()}.e30.AAAA", "can't be read|not signed with"),
    "encrypted": (lambda i: "e30.e30.e30.e30.e30", "can't be read|not signed with"),
    "too long": (lambda i: i.sign(i.claims(filler="x" * 20_000)), "is too long"),
}


def _nest() -> str:
    return base64.urlsafe_b64encode(b'{"alg":' + b"[" * 2000 + b"]" * 2000 + b"}").decode().rstrip("=")


def _swap(one: str, other: str) -> str:
    return ".".join([*one.split(".")[:2], other.split(".")[2]])


@pytest.mark.slow
@each("name", BAD)
def test_bad_tokens(issuer: Issuer, verifier: issuers.Issuer, name: str) -> None:
    """[SURFACES: Sign-in] a token that is wrong in any way is refused, in words that don't repeat it."""
    make, reason = BAD[name]
    text = make(issuer)
    with pytest.raises(RegistryRefused, match=reason) as caught:
        verify(verifier, text)
    assert caught.value.code == "E090"
    assert not text or text not in str(caught.value)


def test_changed_keys(issuer: Issuer, verifier: issuers.Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] a new key is found, an old one is dropped; unknown keys cause no storm."""
    old = issuer.sign(issuer.claims())
    verify(verifier, old)
    issuer.keys = [RSA[1]]
    new = issuer.sign(issuer.claims())
    with pytest.raises(RegistryRefused, match="unknown key"):  # the keys were asked for a moment ago
        verify(verifier, new)
    assert issuer.requests.count("/jwks") == 1
    monkeypatch.setattr(issuers, "PAUSE", 0.0)
    verify(verifier, new)
    with pytest.raises(RegistryRefused, match="unknown key"):
        verify(verifier, old)
    assert issuer.requests.count("/.well-known/openid-configuration") == 1


def test_many_unknown_keys(issuer: Issuer, verifier: issuers.Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] many tokens with unknown keys at once ask the issuer once."""

    stranger = issuer.sign(issuer.claims(), EC)

    async def verify_all() -> list[Any]:
        await verifier.verify(issuer.sign(issuer.claims()), AUDIENCE)
        monkeypatch.setattr(issuers, "PAUSE", 0.0)
        issuer.slow.clear()
        tasks = [asyncio.create_task(verifier.verify(stranger, AUDIENCE)) for _ in range(50)]
        while issuer.requests.count("/jwks") < 2:
            await asyncio.sleep(0.01)
        monkeypatch.setattr(issuers, "PAUSE", 600.0)
        issuer.slow.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = asyncio.run(verify_all())
    assert {str(result) for result in results} == {
        "the registry refused: the ID token is signed with an unknown key"
    }
    assert issuer.requests.count("/jwks") == 2


def test_slow_issuer(issuer: Issuer, verifier: issuers.Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Sign-in] while an issuer is slow to say what an unknown key is, known ones are verified."""
    monkeypatch.setattr(issuers, "PAUSE", 0.0)
    text = issuer.sign(issuer.claims())

    async def verify_both() -> None:
        await verifier.verify(text, AUDIENCE)
        issuer.slow.clear()
        unknown = asyncio.create_task(verifier.verify(issuer.sign(issuer.claims(), EC), AUDIENCE))
        while issuer.requests.count("/jwks") < 2:
            await asyncio.sleep(0.01)
        try:
            assert (await verifier.verify(text, AUDIENCE))["aud"] == AUDIENCE
            assert not unknown.done()
        finally:
            issuer.slow.set()
        with pytest.raises(RegistryRefused, match="unknown key"):
            await unknown

    asyncio.run(verify_both())


@each(
    "keys",
    [
        {},
        {"keys": None},
        {"keys": "rsa"},
        {"keys": [1, None, [], {}]},
        {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "rsa-0"}]},
        {"keys": [{"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "rsa-0"}]},
        {"keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]},
        {"keys": [{"kty": "RSA"}] * 5000},
        {"filler": "x" * (1 << 21)},
    ],
)
def test_hostile_keys(issuer: Issuer, keys: dict[str, Any]) -> None:
    """[SURFACES: Sign-in] a key set without a usable key is E092; symmetric ones never count."""
    issuer.answers["/jwks"] = keys
    with pytest.raises(RegistryUnavailable):
        verify(verifier_of(issuer), issuer.sign(issuer.claims()))


def test_issuer_that_is_down(
    issuer: Issuer, verifier: issuers.Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[SURFACES: Sign-in] keys are kept for a day while their issuer is down; without any it is E092."""
    text = issuer.sign(issuer.claims())
    issuer.failure = 500
    for _ in range(2):
        with pytest.raises(RegistryUnavailable, match="status 500"):
            verify(verifier, text)
    assert len(issuer.requests) == 1
    monkeypatch.setattr(issuers, "PAUSE", 0.0)
    issuer.failure = 0
    verify(verifier, text)
    monkeypatch.setattr(issuers, "KEEP", 0.0)
    issuer.failure = 503
    verify(verifier, text)
    monkeypatch.setattr(issuers, "KEEP_STALE", 0.0)
    with pytest.raises(RegistryUnavailable):
        verify(verifier, text)


@each(
    "changes",
    [
        {"issuer": "https://token.actions.githubusercontent.com"},
        {"issuer": None},
        {"jwks_uri": "http://169.254.169.254/latest/meta-data"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": None},
        {"jwks_uri": ["https://example.com"]},
        {"token_endpoint": "http://10.0.0.1/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
def test_hostile_discovery(issuer: Issuer, changes: dict[str, Any]) -> None:
    """[SURFACES: Sign-in] a discovery document names its own issuer, and https endpoints."""
    issuer.changes = changes
    issuer.requests.clear()
    with pytest.raises(RegistryUnavailable):
        verify(verifier_of(issuer), issuer.sign(issuer.claims()))
    assert issuer.requests == ["/.well-known/openid-configuration"]


def test_useless_keys(issuer: Issuer, verifier: issuers.Issuer) -> None:
    """[SURFACES: Sign-in] keys that are short, broken or for encryption are not used."""
    with pytest.warns(SecurityWarning):
        short = RSAKey.generate_key(1024, {"kid": "short"})
    issuer.keys = [short, RSAKey.import_key(RSA[0].as_dict(private=True) | {"use": "enc"})]
    text = issuer.sign(issuer.claims(), RSA[0])
    with pytest.raises(RegistryUnavailable, match="no key for RS256 or ES256"):
        verify(verifier, text)


@each(
    "url",
    [
        *("http://example.com", "http://127.0.0.1.example.com", "https://me:secret@example.com"),
        *("https://example.com?x=1", "https://example.com#x", "ftp://example.com", "https://", "https://["),
        *("https://exa mple.com", "//example.com", ""),
    ],
)
def test_addresses_of_issuers(url: str) -> None:
    """[SURFACES: Sign-in] an issuer is an https URL; http is for this machine alone."""
    with pytest.raises(InvalidParameter) as caught:
        parse_issuer(url)
    assert "secret" not in str(caught.value)
    for good in ("https://example.com", "https://example.com/realms/a/", "http://127.0.0.1:9/x"):
        assert parse_issuer(good) == good
