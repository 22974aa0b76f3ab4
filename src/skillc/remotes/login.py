"""Log in to a registry, with a token that is tried and kept; and log out of it.

A job of CI gets a token for itself, without one that is stored:

    GitHub Actions  ACTIONS_ID_TOKEN_REQUEST_URL is asked with ACTIONS_ID_TOKEN_REQUEST_TOKEN for an ID token;
                    the runner sets both where the job has `permissions: id-token: write`
    GitLab CI       SKILLC_ID_TOKEN is an ID token; `id_tokens:` of the job names it

The registry takes the ID token once, and gives a token for some minutes. An ID token says what it is for (its
audience), so that a registry can't use it elsewhere. That holds only if we ask for none with the audience of
another service, whatever a registry says: its audience is its own address, or SKILLC_AUDIENCE.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from skillc.contract import Result
from skillc.errors import InvalidOption, IssuerUnavailable, RegistryRefused
from skillc.remotes.http import (
    JSON,
    Credential,
    Session,
    check_token,
    forget_credential,
    is_secure,
    parse_registry,
    read_credentials,
    store_credential,
)
from skillc.remotes.protocol import Failure, table_of
from skillc.remotes.registry import RegistryApi
from skillc.spelling import near_miss
from skillc.text import cut, describe_roles, one_line

ID_TOKEN, AUDIENCE = "SKILLC_ID_TOKEN", "SKILLC_AUDIENCE"
GITHUB_URL, GITHUB_TOKEN = "ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"
MAX_ANSWER = 1 << 16  # bytes
MAX_TOKEN = 1 << 14  # characters of an ID token
WAITS = (1.0, 3.0)  # seconds before GitHub is asked again, which fails now and then


@dataclass(frozen=True, slots=True)
class LoginRole:
    """A role that a token has below a path; an empty one is the whole registry."""

    role: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Login(Result):
    """What a registry says of the token that is kept for it."""

    registry: str
    subject: str
    permissions: tuple[LoginRole, ...]
    expires_at: str | None

    def text(self) -> str:
        """Return it as a line for people."""
        roles = describe_roles([(each.role, each.prefix) for each in self.permissions])
        until = f"; the token is valid until {self.expires_at}" if self.expires_at else ""
        return f"Logged in to {self.registry} as {self.subject} ({roles}){until}"


@dataclass(frozen=True, slots=True)
class Logout(Result):
    """Whether there was a token to forget."""

    registry: str
    removed: bool

    def text(self) -> str:
        """Return it as a line for people, with the registry that was meant perhaps."""
        if self.removed:
            return f"Logged out of {self.registry}"
        near = near_miss(self.registry, [each.registry for each in read_credentials()])
        return f"You were not logged in to {self.registry}{near}"


def log_in(address: str, token: str, report: Callable[[str], None] = lambda text: None) -> Login:
    """Try a token at a registry and keep it; raises InvalidOption, or what the registry answers."""
    credential = Credential(parse_registry(address), check_token(token))
    with RegistryApi.connect(credential, report) as api:
        identity = api.whoami()
    store_credential(Credential(credential.registry, credential.token, identity.subject))
    roles = tuple(LoginRole(role, prefix) for role, prefix in identity.permissions)
    return Login(credential.registry, identity.subject, roles, identity.expires_at or None)


def log_out(address: str) -> Logout:
    """Forget the token for a registry; it stays valid there."""
    registry = parse_registry(address)
    return Logout(registry, forget_credential(registry))


def is_job() -> bool:
    """Return whether this is a job of CI that can get an ID token."""
    return bool(_variable(ID_TOKEN) or (_variable(GITHUB_URL) and _variable(GITHUB_TOKEN)))


def advise_job(registry: str) -> str:
    """Return what a job of CI that gets no ID token lacks; empty elsewhere."""
    if is_job():
        return ""
    if _variable("GITHUB_ACTIONS") == "true":
        return "hint: to publish without a stored token, the job needs 'permissions: id-token: write'"
    if _variable("GITLAB_CI") == "true":
        lines = f"'id_tokens: {{ {ID_TOKEN}: {{ aud: \"{registry}\" }} }}'"
        return f"hint: to publish without a stored token, the job needs {lines}"
    return ""


def mint_token(api: RegistryApi, path: str, tell_wait: Callable[[float], None] = lambda _: None) -> str:
    """Return a token that publishes at a path, for the job of CI that runs this program.

    Raises RegistryRefused where the registry does not trust the job.
    """
    id_token = _variable(ID_TOKEN)
    if not id_token:
        id_token = _ask_github(_variable(AUDIENCE) or _check_audience(api), tell_wait)
    elif not _is_token(id_token):
        raise InvalidOption(f"{ID_TOKEN} is no ID token; let 'id_tokens:' of the job set it")
    try:
        return api.mint(id_token, path)
    except RegistryRefused as error:
        error.details = (
            "hint: 'skc publisher list' shows the workflows that the registry trusts, to its admins"
        )
        raise


def _check_audience(api: RegistryApi) -> str:
    """Return the audience that a registry names, which must be its own address."""
    audience = api.audience()
    try:
        is_own = parse_registry(audience) == api.registry
    except InvalidOption:
        is_own = False
    if not is_own:
        shown = one_line(cut(audience, 200))
        error = RegistryRefused(f"it asks for an ID token for '{shown}', which is not its address")
        error.details = f"hint: if that is right, set {AUDIENCE} to it; else it could use the token there"
        raise error
    return audience


def _ask_github(audience: str, tell_wait: Callable[[float], None]) -> str:
    """Return an ID token of GitHub's runner; raises IssuerUnavailable."""
    url = _variable(GITHUB_URL)
    if not is_secure(url):
        raise InvalidOption(f"{GITHUB_URL} is no https address; leave it to GitHub's runner to set it")
    parts = urlsplit(url)
    query = urlencode({**dict(parse_qsl(parts.query)), "audience": audience})
    address = parts._replace(query=query, fragment="").geturl()
    credentials = {"Authorization": f"Bearer {_variable(GITHUB_TOKEN)}"}
    session = Session(address, credentials=credentials, redirects=0)
    for wait in (*WAITS, None):
        status, reason = 0, ""
        try:
            response = session.get(address, MAX_ANSWER, JSON)
            status, token = response.status, table_of(response.json()).get("value")
            if status == 200 and isinstance(token, str) and _is_token(token):
                return token
        except Failure as error:
            reason = str(error)
        if wait is None or (status and status < 500 and status != 429):
            break
        tell_wait(wait)
        time.sleep(wait)
    raise IssuerUnavailable(parts.hostname or "", reason or f"it gave no ID token (HTTP {status})")


def _is_token(text: str) -> bool:
    return 0 < len(text) <= MAX_TOKEN and text.isascii() and text.isprintable() and " " not in text


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()
