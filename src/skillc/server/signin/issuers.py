"""Verify the ID tokens of an OpenID Connect issuer, by the keys that it publishes.

    issuer = Issuer("https://login.example.com", clock)
    claims = await issuer.verify(text, audience="skillc")

The address of an issuer comes from the configuration, and from nowhere else. RS256 and ES256 alone are
accepted, whatever a token or a key set says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode, urlsplit

from joserfc import errors as jose, jwt
from joserfc.jwk import ECKey, Key, KeySet, RSAKey
from joserfc.jws import JWSRegistry
from starlette.concurrency import run_in_threadpool

from skillc.errors import IssuerUnavailable, RegistryRefused
from skillc.remotes import Failure
from skillc.remotes.http import JSON, Session
from skillc.server.settings import is_secure, parse_issuer

TIME_OUT = 10.0  # seconds for an answer as a whole
MAX_ANSWER = 1 << 20  # bytes
ALGORITHMS = ("RS256", "ES256")
MIN_RSA = 2048  # bits
MAX_TOKEN = 16 << 10  # characters
MAX_HEADER = 4 << 10  # bytes; some send certificates
MAX_KEYS = 100  # of a key set
SKEW = 60  # seconds that two clocks may differ
KEEP = 3600.0  # seconds after which metadata and keys are asked for again
KEEP_STALE = 24 * 3600.0  # seconds that old keys are good for while the issuer does not answer
PAUSE = 10.0  # seconds between two requests for keys: unknown key IDs and outages cause no storm
Claims = Mapping[str, Any]
T = TypeVar("T")
_CLAIMS = {
    "iss": "is of another issuer",
    "aud": "is for another audience",
    "nbf": "is not valid yet",
    "iat": "was issued in the future",
}


async def request_json(
    url: str, form: Mapping[str, str] | None = None, authorization: str = ""
) -> dict[str, Any]:
    """GET a URL, or POST a form to it, and return the JSON; raises IssuerUnavailable without what was sent.

    An answer with an error (4xx) that is JSON is returned, too: OAuth says there what went wrong.
    """
    session = Session(url, time_out=TIME_OUT, whole=TIME_OUT, redirects=0)
    headers = {"Accept-Encoding": "identity"}  # else the text of an error may be packed, and is not read
    headers |= {"Authorization": authorization} if authorization else {}
    headers |= {} if form is None else {"Content-Type": "application/x-www-form-urlencoded"}
    content = None if form is None else urlencode(form).encode()
    method = "GET" if form is None else "POST"
    try:
        response = await run_in_threadpool(
            session.send, method, url, MAX_ANSWER, JSON, headers=headers, content=content
        )
    except Failure as error:
        raise _unavailable(url, str(error)) from None
    value = response.json() if response.status < 500 else None
    if not isinstance(value, dict) or (response.status != 200 and form is None):
        raise _unavailable(url, f"status {response.status}, and no JSON object that can be used")
    return value


def _unavailable(url: str, reason: str) -> IssuerUnavailable:
    return IssuerUnavailable(urlsplit(url).netloc, reason)


@dataclass(frozen=True, slots=True)
class Metadata:
    """What the discovery document of an issuer says. Issuers for CI have no endpoints for people."""

    jwks_uri: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    userinfo_endpoint: str = ""
    auth_methods: tuple[str, ...] = ()
    names_itself: bool = False  # in every answer to a browser (RFC 9207)


class Issuer:
    """An issuer with its metadata and keys, which are kept for an hour.

    A key ID that is not among the keys asks for them once more, as issuers change their keys at any time.
    """

    def __init__(self, url: str, clock: Callable[[], datetime]) -> None:
        self.url = parse_issuer(url)
        self._clock = clock
        self._metadata = _Kept(url, self._fetch_metadata)
        self._keys = _Kept(url, self._fetch_keys)

    async def metadata(self) -> Metadata:
        return await self._metadata.get()

    async def count_keys(self) -> int:
        """Return how many keys it publishes that ID tokens may be signed with."""
        return len((await self._keys.get()).keys)

    async def verify(self, text: str, audience: str) -> Claims:
        """Return the claims of an ID token for this audience; raises RegistryRefused with the reason."""
        if len(text) > MAX_TOKEN:
            raise refuse("is too long")
        claims = _decode(text, await self._keys.get())
        if claims is None:
            claims = _decode(text, await self._keys.get(again=True))
        if claims is None:
            raise refuse("is signed with an unknown key")
        self._check(claims, audience)
        return claims

    async def exchange(self, form: Mapping[str, str], authorization: str) -> Claims:
        """Return the answer of the token endpoint, which may be an error of OAuth."""
        endpoint = (await self.metadata()).token_endpoint
        if not endpoint:
            raise IssuerUnavailable(self.url, "it has no token endpoint")
        return await request_json(endpoint, form, authorization)

    async def read_person(self, access_token: str) -> Claims:
        """Return the claims of the userinfo endpoint; none where the issuer has no such."""
        endpoint = (await self.metadata()).userinfo_endpoint
        return await request_json(endpoint, authorization=f"Bearer {access_token}") if endpoint else {}

    def _check(self, claims: Claims, audience: str) -> None:
        requests = jwt.JWTClaimsRegistry(
            now=int(self._clock().timestamp()),
            leeway=SKEW,
            iss={"essential": True, "value": self.url},
            aud={"essential": True, "value": audience},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
        )
        try:
            requests.validate(dict(claims))
        except jose.ExpiredTokenError:
            raise refuse("is expired") from None
        except jose.MissingClaimError:
            raise refuse("lacks one of iss, aud, sub, exp and iat") from None
        except jose.InvalidClaimError as error:
            raise refuse(_CLAIMS.get(error.claim, "has a wrong claim")) from None
        if isinstance(claims["aud"], list) and claims["aud"] != [audience] and claims.get("azp") != audience:
            raise refuse(_CLAIMS["aud"])

    async def _fetch_metadata(self) -> Metadata:
        document = await request_json(f"{self.url.rstrip('/')}/.well-known/openid-configuration")
        if document.get("issuer") != self.url:
            raise IssuerUnavailable(self.url, "its discovery document names another issuer")
        methods = document.get("token_endpoint_auth_methods_supported")
        return Metadata(
            jwks_uri=self._endpoint(document, "jwks_uri"),
            authorization_endpoint=self._endpoint(document, "authorization_endpoint", optional=True),
            token_endpoint=self._endpoint(document, "token_endpoint", optional=True),
            userinfo_endpoint=self._endpoint(document, "userinfo_endpoint", optional=True),
            auth_methods=tuple(methods) if isinstance(methods, list) else (),
            names_itself=document.get("authorization_response_iss_parameter_supported") is True,
        )

    def _endpoint(self, document: Mapping[str, Any], name: str, optional: bool = False) -> str:
        url = document.get(name, "")
        if optional and not url:
            return ""
        if not isinstance(url, str) or not is_secure(url, loopback=self.url.startswith("http:")):
            raise IssuerUnavailable(self.url, f"'{name}' of its discovery document is no https URL")
        return url

    async def _fetch_keys(self) -> KeySet:
        metadata = await self.metadata()
        values = (await request_json(metadata.jwks_uri)).get("keys")
        values = values[:MAX_KEYS] if isinstance(values, list) else []
        keys: list[Key] = [key for value in values if (key := _import_key(value))]
        if not keys:
            raise IssuerUnavailable(self.url, "it publishes no key for RS256 or ES256")
        return KeySet(keys)


class _Kept(Generic[T]):
    """A value that is fetched when it is first needed, and again when it is old; by one task at a time."""

    def __init__(self, name: str, fetch: Callable[[], Awaitable[T]]) -> None:
        self._name = name
        self._fetch = fetch
        self._lock = asyncio.Lock()
        self._value: T | None = None
        self._fetched = self._asked = float("-inf")
        self._reason = "it was asked a moment ago"

    async def get(self, *, again: bool = False) -> T:
        """Return the value, also an old one while there is no answer; `again` wants a newer one."""
        if self._value is not None and not again and time.monotonic() - self._fetched <= KEEP:
            return self._value  # also while another task waits for an issuer that is slow
        async with self._lock:
            now = time.monotonic()
            if (again or self._value is None or now - self._fetched > KEEP) and now - self._asked >= PAUSE:
                await self._refresh(now)
            if self._value is None or now - self._fetched > KEEP_STALE:
                raise IssuerUnavailable(self._name, self._reason)
            return self._value

    async def _refresh(self, now: float) -> None:
        self._asked = now
        try:
            self._value, self._fetched = await self._fetch(), now
        except IssuerUnavailable as error:
            self._reason = error.reason


def refuse(reason: str) -> RegistryRefused:
    return RegistryRefused(f"the ID token {reason}")


def _decode(text: str, keys: KeySet) -> Claims | None:
    """Return the claims of a token whose signature is right; None for one of an unknown key."""
    registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    registry.max_header_length = MAX_HEADER
    try:
        return jwt.decode(text, keys, ALGORITHMS, registry).claims
    except jose.InvalidKeyIdError:
        return None
    except Exception as error:  # whatever the text holds, it is the sender's
        raise refuse(_explain(error)) from None


def _explain(error: Exception) -> str:
    """Return a reason in our own words: those of libraries may hold what was sent."""
    if isinstance(error, jose.UnsupportedAlgorithmError | jose.MissingAlgorithmError):
        return "is not signed with RS256 or ES256"
    if isinstance(error, jose.BadSignatureError):
        return "has a wrong signature"
    return "can't be read"


def _import_key(value: Any) -> RSAKey | ECKey | None:
    """Return a public key for signatures; None for any other, which others of the set do not suffer from."""
    try:
        if value.get("use", "sig") != "sig":
            return None
        if value["kty"] == "RSA":
            key = RSAKey.import_key(value)
            return key if key.public_key.key_size >= MIN_RSA else None
        return ECKey.import_key(value) if value["kty"] == "EC" and value["crv"] == "P-256" else None
    except Exception:
        return None
