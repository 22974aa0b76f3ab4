"""Credentials as headers, and the address of a server without those that it holds."""

from __future__ import annotations

import base64
import string
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from skillc.remotes.addresses import is_plain
from skillc.remotes.protocol import require_text

_HEADER_NAME = frozenset("!#$%&'*+-.^_`|~" + string.ascii_letters + string.digits)


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
