"""Who we are to a server, and where it is: credentials as headers, and its address taken apart."""

from __future__ import annotations

import base64
import string
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

_TOKEN = frozenset("!#$%&'*+-.^_`|~" + string.ascii_letters + string.digits)  # a header's name


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """Sends `Authorization: Bearer {token}`."""

    token: str = field(repr=False)

    def header(self) -> tuple[str, str]:
        return "Authorization", f"Bearer {self.token.strip()}"


@dataclass(frozen=True, slots=True)
class HeaderAuth:
    """Sends `{name}: {value}`, such as `X-API-Key`."""

    name: str
    value: str = field(repr=False)

    def header(self) -> tuple[str, str]:
        return self.name, self.value.strip()


def taken_apart(base_url: str) -> tuple[str, dict[str, str], str | None]:
    """The API's root without a slash at its end, its user as credentials, and what is wrong with it."""
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", {}, "the URL can't be read"
    where = f"[{host}]" if ":" in host else host
    clean = f"{parts.scheme}://{where}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
    if parts.scheme not in ("http", "https") or not host:
        return clean, {}, "the URL must start with http:// or https:// and name a host"
    if parts.query or parts.fragment:
        return clean, {}, "the URL must not have a query or a fragment"
    if parts.username is None:
        return clean, {}, None
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return clean, {"Authorization": f"Basic {base64.b64encode(user).decode()}"}, None


def sendable(name: str, value: str) -> bool:
    """Whether a header can be sent; seen to here, because the libraries' errors and logs show its value."""
    whole = value == value.strip() and not any(char < " " or char == "\x7f" for char in value)
    return bool(name and value) and whole and _TOKEN.issuperset(name)
