"""Run the code flow of OpenID Connect with PKCE: lead a browser to the issuer, and read what it brings back.

State, nonce and verifier of a sign-in are made of one random text, which is in a cookie of the browser. So
the server keeps nothing, any of its processes can go on, and no other browser can.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from skillc.errors import IssuerUnavailable, RegistryRefused, require_extra
from skillc.registry.model import Identity
from skillc.server.settings import OidcSettings
from skillc.server.signin.claims import read_identity

if TYPE_CHECKING:  # joserfc comes with an extra
    from skillc.server.signin.issuers import Issuer

CALLBACK = "/login/callback"


class Directory:
    """The issuers of one server process, which keep their keys."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._issuers: dict[str, Issuer] = {}  # by URL: as many as are configured

    def get(self, url: str) -> Issuer:
        """Return an issuer of the configuration, and of nothing else; raises MissingExtra."""
        with require_extra("sso"):
            from skillc.server.signin.issuers import Issuer  # here, because it needs the extra
        if url not in self._issuers:
            self._issuers[url] = Issuer(url, self._clock)
        return self._issuers[url]


def create_attempt() -> str:
    return secrets.token_urlsafe(32)


class Flow:
    """Sign-in with one issuer for the server at `url`."""

    def __init__(self, settings: OidcSettings, directory: Directory, url: str) -> None:
        self.settings = settings
        self._issuer = directory.get(settings.issuer)
        self._redirect = f"{url}{CALLBACK}"

    async def begin(self, attempt: str) -> str:
        """Return the address at the issuer that a browser is led to."""
        endpoint = (await self._issuer.metadata()).authorization_endpoint
        if not endpoint:
            raise IssuerUnavailable(self.settings.issuer, "people can't sign in there")
        query = {
            "response_type": "code",
            "client_id": self.settings.client_id,
            "redirect_uri": self._redirect,
            "scope": " ".join(self.settings.scopes),
            "state": derive(attempt, "state"),
            "nonce": derive(attempt, "nonce"),
            "code_challenge": _encode(hashlib.sha256(derive(attempt, "verifier").encode()).digest()),
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def check(self, attempt: str, query: Mapping[str, str]) -> None:
        """Raise RegistryRefused for a browser that comes back from a sign-in that it did not begin."""
        state = query.get("state", "").encode()
        if not attempt or not hmac.compare_digest(derive(attempt, "state").encode(), state):
            raise RegistryRefused("this sign-in was not begun in this browser, or too long ago", _AGAIN)

    async def finish(self, attempt: str, query: Mapping[str, str]) -> Identity:
        """Return the person that a browser came back as; raises RegistryRefused.

        The details of a refusal say what the person can do.
        """
        self.check(attempt, query)
        default = "" if (await self._issuer.metadata()).names_itself else self.settings.issuer
        if query.get("iss", default) != self.settings.issuer:
            raise RegistryRefused("the answer is of another issuer than the one that was asked", _TELL)
        if not query.get("code"):
            raise RegistryRefused(f"the issuer did not sign you in{_error(query)}", _DENIED)
        answer = await self._exchange(attempt, query["code"])
        claims = await self._verify(str(answer["id_token"]))
        nonce = str(claims.get("nonce", ""))
        if not hmac.compare_digest(derive(attempt, "nonce").encode(), nonce.encode("utf-8", "replace")):
            raise RegistryRefused("the ID token is of another sign-in", _TELL)
        return read_identity(await self._complete(claims, answer), self.settings)

    async def _exchange(self, attempt: str, code: str) -> Mapping[str, Any]:
        """Return the issuer's answer to a code, with an ID token."""
        metadata = await self._issuer.metadata()
        client_id, secret = self.settings.client_id, self.settings.client_secret
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect,
            "code_verifier": derive(attempt, "verifier"),
        }
        authorization = ""
        if not secret:
            form["client_id"] = client_id
        elif metadata.auth_methods and "client_secret_basic" not in metadata.auth_methods:
            form |= {"client_id": client_id, "client_secret": secret}
        else:
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
            authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
        answer = await self._issuer.exchange(form, authorization)
        if not isinstance(answer.get("id_token"), str):
            raise RegistryRefused(f"the issuer gave no ID token{_error(answer)}", _TELL)
        return answer

    async def _verify(self, id_token: str) -> Mapping[str, Any]:
        try:
            return await self._issuer.verify(id_token, self.settings.client_id)
        except RegistryRefused as error:
            error.details = _TELL
            raise

    async def _complete(self, claims: Mapping[str, Any], answer: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add what the issuer says of a person elsewhere, where the ID token lacks what decides here."""
        token = answer.get("access_token")
        if self._has_needs(claims) or not isinstance(token, str) or not token.isascii():
            return claims
        more = await self._issuer.read_person(token)
        if more.get("sub") != claims["sub"]:
            return claims
        if "email" not in claims:  # what the ID token says is verified is no other address
            claims = {name: value for name, value in claims.items() if name != "email_verified"}
        return {**more, **claims}

    def _has_needs(self, claims: Mapping[str, Any]) -> bool:
        """Return whether claims have the account's name and, where these decide, its address and groups."""
        settings = self.settings
        names = [settings.subject, "email" if settings.domains else "sub"]
        names.append(settings.groups if settings.groups_allowed else "sub")
        return all(claims.get(name) for name in names)


def derive(attempt: str, purpose: str) -> str:
    """Return one of the texts of a sign-in; none of them tells another."""
    return _encode(hmac.digest(attempt.encode(), purpose.encode(), "sha256"))


_AGAIN = "Sign in again from here, and finish within ten minutes. If you are signed in already, go on."
_DENIED = "It was cancelled, or your account may not use this registry. Try again, or ask its operators."
_TELL = "Sign in again. If it happens again, tell the operators of this server: the issuer's answer is wrong."


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _error(values: Mapping[str, Any]) -> str:
    """Return the code of OAuth's error, such as access_denied; its description may hold anything."""
    code = values.get("error")
    is_code = isinstance(code, str) and len(code) <= 40 and code.isascii() and code.replace("_", "").isalpha()
    return f" ({code})" if is_code else ""
