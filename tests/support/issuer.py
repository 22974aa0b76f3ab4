"""An OpenID Connect issuer of our own on loopback: discovery, keys, sign-in of people, and tokens of CI."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, KeySet, RSAKey
from joserfc.jws import JWSRegistry

CLIENT_ID = "skillc"
CLIENT_SECRET = "client/secret+of the issuer"
ACCESS_TOKEN = "access-4f8d2c"
AUDIENCE = "http://testserver"
RSA = [RSAKey.generate_key(2048, {"kid": f"rsa-{number}", "use": "sig"}) for number in range(2)]
EC = ECKey.generate_key("P-256", {"kid": "ec", "use": "sig"})


class _Unchecked(JWSRegistry):
    """What signs any header: tests send wrong ones."""

    def check_header(self, header: dict[str, Any]) -> None:
        pass


class Issuer:
    """An issuer: `keys` are published, the first one signs.

    `person` signs in without being asked or, where it `asks`, with a button, and then has a session.
    """

    def __init__(self) -> None:
        self.keys: list[RSAKey | ECKey] = [RSA[0]]
        self.person: dict[str, Any] = {
            "sub": "248289761001",
            "email": "ana@example.com",
            "email_verified": True,
            "name": "Ana Example",
        }
        self.requests: list[str] = []
        self.failure = 0  # a status that every request gets
        self.changes: dict[str, Any] = {}  # of the discovery document
        self.token_claims: dict[str, Any] = {}  # over those of the next ID tokens of people
        self.codes: dict[str, dict[str, str]] = {}
        self.asks = False
        self.has_session = False
        self.answers: dict[str, dict[str, Any]] = {}  # what paths are answered with instead
        self.slow = threading.Event()  # until it is set, what asks for keys waits
        self.slow.set()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.0"

            def do_GET(self) -> None:
                issuer._serve(self, {})

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                issuer._serve(self, {name: values[0] for name, values in parse_qs(body).items()})

            def log_message(self, *values: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    # Tokens

    def claims(self, **changes: Any) -> dict[str, Any]:
        """The claims of a job of GitHub Actions; a change to None removes one."""
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": "repo:acme/skills:ref:refs/heads/main",
            "iat": now,
            "nbf": now - 300,
            "exp": now + 300,
            "jti": secrets.token_hex(8),
            "repository": "acme/skills",
            "repository_id": "74",
            "repository_owner": "acme",
            "repository_owner_id": "65",
            "workflow_ref": "acme/skills/.github/workflows/release.yml@refs/heads/main",
            "ref": "refs/heads/main",
            "event_name": "push",
        }
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def gitlab_claims(self, **changes: Any) -> dict[str, Any]:
        """The claims of a job of GitLab CI."""
        claims = self.claims(
            sub="project_path:acme/tools/skills:ref_type:branch:ref:main",
            **dict.fromkeys(("repository", "repository_id", "repository_owner", "repository_owner_id")),
            **dict.fromkeys(("workflow_ref", "event_name")),
        )
        claims |= {
            "project_path": "acme/tools/skills",
            "project_id": "22",
            "namespace_id": "72",
            "ref": "main",
            "ref_type": "branch",
            "ref_path": "refs/heads/main",
            "pipeline_source": "push",
            "ci_config_ref_uri": "gitlab.example.com/acme/tools/skills//.gitlab-ci.yml@refs/heads/main",
        }
        return {name: value for name, value in (claims | changes).items() if value is not None}

    def sign(self, claims: dict[str, Any], key: RSAKey | ECKey | None = None, **header: Any) -> str:
        key = key or self.keys[0]
        algorithm = "RS256" if isinstance(key, RSAKey) else "ES256"
        header = {"alg": algorithm, "kid": key.kid, **header}
        return jwt.encode(header, claims, key, registry=_Unchecked(algorithms=[header["alg"]]))

    def sign_with_public_key(self, claims: dict[str, Any]) -> str:
        """A token by HS256 whose secret is the public key, which an unwary verifier takes for right."""
        message = f"{_encode({'alg': 'HS256', 'kid': self.keys[0].kid})}.{_encode(claims)}"
        secret = self.keys[0].as_pem(private=False)
        signature = hmac.digest(secret, message.encode(), "sha256")
        return f"{message}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"

    def unsigned(self, claims: dict[str, Any], signature: str = "") -> str:
        header = {"alg": "none", "typ": "JWT", "kid": self.keys[0].kid}
        return f"{_encode(header)}.{_encode(claims)}.{signature}"

    # Requests

    def _serve(self, handler: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        parts = urlsplit(handler.path)
        self.requests.append(parts.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if self.failure:
            return _send(handler, self.failure, {"error": "down"})
        if parts.path in self.answers:
            return _send(handler, 200, self.answers[parts.path])
        if parts.path == "/.well-known/openid-configuration":
            return _send(handler, 200, self._document())
        if parts.path == "/jwks":
            self.slow.wait(60)
            return _send(handler, 200, dict(KeySet([*self.keys]).as_dict(private=False)))
        if parts.path == "/authorize":
            return self._authorize(handler, query)
        if parts.path == "/answer":
            return self._answer(handler, query)
        if parts.path == "/token":
            return self._exchange(handler, form)
        if parts.path == "/userinfo" and handler.headers["Authorization"] == f"Bearer {ACCESS_TOKEN}":
            return _send(handler, 200, self.person)
        return _send(handler, 404, {})

    def _document(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
        } | self.changes

    def _authorize(self, handler: BaseHTTPRequestHandler, query: dict[str, str]) -> None:
        required = {"response_type": "code", "client_id": CLIENT_ID, "code_challenge_method": "S256"}
        assert all(query.get(name) == value for name, value in required.items()), query
        assert "openid" in query["scope"].split()
        code = secrets.token_hex(8)
        self.codes[code] = query
        if self.asks and not self.has_session:
            return _ask(handler, code)
        return self._lead(handler, query["redirect_uri"], {"code": code, "state": query["state"]})

    def _answer(self, handler: BaseHTTPRequestHandler, answer: dict[str, str]) -> None:
        query = self.codes[answer["code"]]
        self.has_session = answer["answer"] == "yes"
        result = {"code": answer["code"]} if self.has_session else {"error": "access_denied"}
        self._lead(handler, query["redirect_uri"], result | {"state": query["state"]})

    def _lead(self, handler: BaseHTTPRequestHandler, url: str, query: dict[str, str]) -> None:
        handler.send_response(302)
        handler.send_header("Location", f"{url}?{urlencode(query)}")
        handler.end_headers()

    def _exchange(self, handler: BaseHTTPRequestHandler, form: dict[str, str]) -> None:
        query = self.codes.pop(form.get("code", ""), None)
        if not self._is_client(handler, form):
            return _send(handler, 401, {"error": "invalid_client"})
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if (
            query is None
            or query["code_challenge"] != challenge.decode().rstrip("=")
            or query["redirect_uri"] != form["redirect_uri"]
            or form["grant_type"] != "authorization_code"
        ):
            return _send(handler, 400, {"error": "invalid_grant", "error_description": "<b>bad</b> code"})
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": query["nonce"]}
        claims = {k: v for k, v in (claims | self.person | self.token_claims).items() if v is not None}
        answer = {"access_token": ACCESS_TOKEN, "token_type": "Bearer", "id_token": self.sign(claims)}
        return _send(handler, 200, answer)

    def _is_client(self, handler: BaseHTTPRequestHandler, form: dict[str, str]) -> bool:
        """By HTTP Basic with both parts percent-encoded, as OAuth says, or by the form."""
        scheme, _, encoded = handler.headers.get("Authorization", "").partition(" ")
        if scheme != "Basic":
            return (form.get("client_id"), form.get("client_secret")) == (CLIENT_ID, CLIENT_SECRET)
        name, _, secret = base64.b64decode(encoded).decode().partition(":")
        return (unquote(name), unquote(secret)) == (CLIENT_ID, CLIENT_SECRET)


def _send(handler: BaseHTTPRequestHandler, status: int, value: dict[str, Any]) -> None:
    body = json.dumps(value).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _ask(handler: BaseHTTPRequestHandler, code: str) -> None:
    """Show a page with a question, and a button for each answer."""
    form = f'<input type="hidden" name="code" value="{code}">'
    form += "".join(f'<button name="answer" value="{answer}">{answer}</button>' for answer in ("yes", "no"))
    icon = '<link rel="icon" href="data:,">'  # browsers would ask for one
    body = f'{icon}<h1>Sign in to skillc?</h1><form action="/answer">{form}</form>'.encode()
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _encode(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    try:
        yield issuer
    finally:
        issuer.close()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with running_issuer() as made:
        yield made


Token = Callable[[Issuer], str]


def signed(**changes: Any) -> Token:
    """What makes a token of an issuer, with other claims."""
    return lambda issuer: issuer.sign(issuer.claims(**changes))


def now(seconds: int) -> int:
    """The time of a claim, some seconds from now."""
    return int(time.time()) + seconds
