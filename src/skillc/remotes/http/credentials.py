"""Credentials: tokens for registries, as `skc login` stored them, and what is sent in a header.

    <home>/.skillc/credentials.json     for its owner alone (mode 600)
        {"version": 2, "sha256": "…", "tokens":
         [{"registry": "https://skills.example.com", "token": "…", "subject": "ada"}]}

A token is sent to the address it was stored for alone. A registry is an address without user, query or
fragment: https, or http on this machine. A project can name a registry, but it can't have a token sent
anywhere else. In CI, SKILLC_TOKEN is the token for the registry in
SKILLC_REGISTRY, or, without that, for the one that a command is told to write to.
"""

from __future__ import annotations

import base64
import os
import re
import string
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from skillc.errors import InvalidConfiguration, InvalidOption
from skillc.records import Record
from skillc.remotes.http.addresses import LOOPBACK, is_plain
from skillc.remotes.protocol import require_text

RECORD = Record(
    "credentials.json",
    2,
    "tokens",
    "damaged; delete it and log in again",
    unsealed=1,
    closed=0o077,
    closed_advice="others can read or write it; check it, then 'chmod 600' it",
)
MAX_TOKEN = 4096  # characters
TOKEN, REGISTRY = "SKILLC_TOKEN", "SKILLC_REGISTRY"
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_.])?|[0-9a-f:]+(?:\.[0-9.]+)?")
_PATH = re.compile(r"(?:/[A-Za-z0-9._~-]+)*")
_PORTS = {"https": 443, "http": 80}
_HEADER_NAME = frozenset("!#$%&'*+-.^_`|~" + string.ascii_letters + string.digits)


@dataclass(frozen=True, slots=True)
class Credential:
    """A registry's address and the token for it; `subject` is the name that the registry knows it by."""

    registry: str
    token: str = field(default="", repr=False)
    subject: str = ""


def parse_registry(address: str) -> str:
    """Return a registry's address in the one form that is stored and compared; raises InvalidOption.

    >>> parse_registry("HTTPS://Skills.Example.com:443/team/")
    'https://skills.example.com/team'
    """
    if not address.isprintable() or not address.isascii() or " " in address or "\\" in address:
        raise InvalidOption("the address of a registry is ASCII, without spaces or control characters")
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        raise InvalidOption("the address of the registry is not a valid URL") from None
    scheme, path = parts.scheme.lower(), parts.path.rstrip("/")
    if scheme not in _PORTS or not _HOST.fullmatch(host):
        form = "https://host, with a port or path if it has one"
        raise InvalidOption(f"the address of a registry is {form}, not '{address}'")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidOption("the address of a registry has no user, query or fragment")
    if scheme == "http" and host not in LOOPBACK:
        raise InvalidOption("http is for this machine alone: tokens would travel in the clear; use https")
    if not _PATH.fullmatch(path) or {".", ".."} & set(path.split("/")):
        raise InvalidOption("the path of a registry has letters, digits, '.', '_', '~' and '-' alone")
    place = f"[{host}]" if ":" in host else host
    return f"{scheme}://{place}{f':{port}' if port and port != _PORTS[scheme] else ''}{path}"


def check_token(token: str) -> str:
    """Return a token that can be sent; raises InvalidOption, which does not repeat it, for any other."""
    token = token.strip()
    if not token or len(token) > MAX_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InvalidOption("that is no token: it is empty, very long, or has characters that none has")
    return token


def read_credentials() -> list[Credential]:
    """Return what is stored, by address; raises InvalidConfiguration for a file that can't be trusted."""
    return RECORD.read(_parse_tokens, [])


def _parse_tokens(entries: list[dict[str, str]]) -> list[Credential]:
    rows = [(each["registry"], each["token"], each.get("subject", "")) for each in entries]
    credentials = (Credential(parse_registry(r), check_token(t), str(s)) for r, t, s in rows)
    return sorted(credentials, key=lambda each: each.registry)


def store_credential(credential: Credential) -> None:
    """Store a token in place of the one that its registry had."""
    _change({credential.registry}, [credential])


def forget_credential(registry: str) -> bool:
    """Remove the token for a registry; return whether there was one."""
    if not any(each.registry == registry for each in read_credentials()):
        return False
    _change({registry}, [])
    return True


def _change(registries: set[str], additions: list[Credential]) -> None:
    try:
        with RECORD.lock():
            tokens = [each for each in read_credentials() if each.registry not in registries] + additions
            entries = [{"registry": c.registry, "token": c.token, "subject": c.subject} for c in tokens]
            RECORD.write(sorted(entries, key=lambda entry: entry["registry"]))
    except OSError as error:
        reason = f"it can't be written ({error.strerror or error}); {REGISTRY} and {TOKEN} need no file"
        raise InvalidConfiguration(RECORD.path, reason) from None


def find_token(url: str) -> str:
    """Return the token for a request to an address; empty if no registry that covers it has one."""
    return _match(url, [*_of_environment(), *read_credentials()])


def choose_registry(address: str | None, configured: str = "") -> Credential:
    """Return the registry to write to, with its token.

    It is `address`, which a person gave, else SKILLC_REGISTRY, else the one `configured` in the home, else
    the only one that is logged in to. Raises InvalidOption where that leaves none, or a choice.
    """
    stored = read_credentials()
    variable = os.environ.get(REGISTRY, "")
    if address or variable or configured:
        registry = parse_registry(address or variable or configured)
    elif len(stored) == 1:
        registry = stored[0].registry
    else:
        names = ", ".join(each.registry for each in stored)
        logins = f"several registries: {names}" if stored else "no registry; 'skc login <url>' logs you in"
        raise InvalidOption(f"--to is missing, and you are logged in to {logins}")
    return Credential(registry, _match(registry, [*_of_environment(registry if address else ""), *stored]))


def _of_environment(named: str = "") -> list[Credential]:
    """Return the token in SKILLC_TOKEN, if SKILLC_REGISTRY says what it is for, or else a person did."""
    registry, token = os.environ.get(REGISTRY, "") or named, os.environ.get(TOKEN, "").strip()
    return [Credential(parse_registry(registry), check_token(token))] if registry and token else []


def _match(url: str, credentials: list[Credential]) -> str:
    """Return the token of the nearest registry at or above an address; of two alike, the first."""
    matches = [each for each in credentials if _is_below(url, each.registry)]
    best = max(matches, key=lambda each: len(each.registry), default=None)
    return best.token if best else ""


def _is_below(url: str, registry: str) -> bool:
    """Return whether a request to `url` goes to the registry's own origin, and to its path or below."""
    try:
        parts, own = urlsplit(url), urlsplit(registry)
        scheme = parts.scheme.lower()
        ports = parts.port or _PORTS.get(scheme), own.port or _PORTS.get(own.scheme)
    except ValueError:
        return False
    is_same = (scheme, (parts.hostname or "").lower()) == (own.scheme, own.hostname) and ports[0] == ports[1]
    path = unquote(parts.path)
    is_plain = "\\" not in path and not {".", ".."} & set(path.split("/"))
    return is_same and is_plain and f"{path}/".startswith(f"{own.path}/")


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """Sends `Authorization: Bearer {token}`."""

    token: str = field(repr=False)

    def __post_init__(self) -> None:
        require_text(self.token, "the token")

    def header(self) -> tuple[str, str]:
        return "Authorization", f"Bearer {self.token.strip()}"


class StoredAuth(BearerAuth):
    """A token that `skc login` stored: it is not sent after a redirect, wherever that leads."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class HeaderAuth:
    """Sends `{name}: {value}`, such as `X-API-Key`."""

    name: str
    value: str = field(repr=False)

    def __post_init__(self) -> None:
        require_text(self.name, "the name of a header")
        require_text(self.value, "the value of a header")

    def header(self) -> tuple[str, str]:
        return self.name, self.value.strip()


def parse_base_url(base_url: str) -> tuple[str, dict[str, str], str | None]:
    """Return the API's root without a final slash, its user as a header, and what is wrong with it."""
    if not is_plain(base_url.strip()):
        return "", {}, "the URL is empty or has control characters"
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", {}, "the URL can't be read"
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    root = f"{parts.scheme}://{place}{parts.path.rstrip('/')}"
    if parts.scheme not in ("http", "https") or not host:
        return root, {}, "the URL must start with http:// or https:// and name a host"
    problem = "the URL must not have a query or a fragment" if parts.query or parts.fragment else None
    if parts.username is None:
        return root, {}, problem
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return root, {"Authorization": f"Basic {base64.b64encode(user).decode()}"}, problem


def is_valid_header(name: str, value: str) -> bool:
    """Return whether a header can be sent; checked here, because httpx2's errors show its value."""
    clean = value == value.strip() and not any(char < " " or char == "\x7f" for char in value)
    return bool(name and value) and clean and _HEADER_NAME.issuperset(name)
