"""Where a repository is: an address taken apart, and what of it is secret."""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from skillc.library.git.refs import invalid
from skillc.skills import to_segment

TIME_OUT = 60.0  # seconds in which something must come
MAX_BYTES = 1 << 30  # of what is sent, and of the files
SCHEMES = ("https", "http", "ssh", "file")


@dataclass(frozen=True, slots=True)
class Remote:
    """An address taken apart. `url` is without credentials: it is shown, hashed and stored."""

    url: str
    scheme: str
    path: str
    host: str = ""
    port: int | None = None
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    key: str | None = None
    passphrase: str | None = field(default=None, repr=False)
    time_out: float = TIME_OUT
    max_bytes: int = MAX_BYTES

    @property
    def name(self) -> str:
        """The last part of the address, as a segment of an ID: that of a repository that is one skill."""
        last = re.split(r"[/\\:]", self.path.rstrip("/\\"))[-1]
        return to_segment(last.removesuffix(".git")) or "skills"

    def hide(self, text: str) -> str:
        """`text` without the secrets that are in it."""
        secrets = [self.password, self.passphrase]
        if self.scheme in ("http", "https"):
            pair = f"{self.username or ''}:{self.password or ''}"
            secrets.append(base64.b64encode(pair.encode()).decode())
            if not self.password and len(self.username or "") > 7:
                secrets.append(self.username)  # a token can stand there, too
        for secret in filter(None, secrets):
            text = text.replace(secret, "***").replace(quote(secret, safe=""), "***")
        return text


def remote_of(address: str) -> Remote:
    """Take an address apart; raises InvalidConfiguration, without what may be secret in it."""
    if not address or not address.isprintable() or address.startswith("-"):
        raise invalid("the address of the repository is empty or has control characters, or is an option")
    if re.match(r"[A-Za-z0-9][A-Za-z0-9+.-]*::", address):
        raise invalid("remote helpers ('name::address') are not supported")
    scheme, separator, _ = address.partition("://")
    if separator:
        return _from_url(address, scheme.lower())
    windows_path = os.name == "nt" and re.match(r"[A-Za-z]:[\\/]", address)
    host, colon, path = address.partition(":")
    if colon and "/" not in host and not windows_path:
        user, _, host = host.rpartition("@")
        return _checked_ssh(Remote(address, "ssh", path, host, None, user or None))
    path = os.path.abspath(os.path.expanduser(address))
    return Remote(path, "file", path)


def _from_url(address: str, scheme: str) -> Remote:
    if scheme not in SCHEMES:
        raise invalid(f"addresses are {', '.join(f'{s}://' for s in SCHEMES)}, git@host:path or a path")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise invalid("the address of the repository is not a valid URL") from None
    if parts.query or parts.fragment:
        raise invalid("the address of a repository has no query and no fragment")
    if scheme == "file":
        path = unquote(parts.path)
        if host not in ("", "localhost") or not path.startswith("/"):
            raise invalid("a file:// address is file:///and/a/path")
        return Remote(f"file://{path}", "file", path.lstrip("/") if os.name == "nt" else path)
    user = unquote(parts.username) if parts.username else None
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    if scheme == "ssh":
        shown = f"{parts.username}@{place}" if user else place
        return _checked_ssh(Remote(f"ssh://{shown}{parts.path}", "ssh", parts.path, host, port, user))
    if not host:
        raise invalid("the address of the repository has no host")
    password = unquote(parts.password) if parts.password else None
    return Remote(f"{scheme}://{place}{parts.path}", scheme, parts.path, host, port, user, password)


def _checked_ssh(remote: Remote) -> Remote:
    """Nothing in it may be taken for an option, here by ssh or there by git."""
    plain = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9_.:%\[\]-]*")
    names = [remote.host] + ([remote.username] if remote.username else [])
    if not all(plain.fullmatch(name) for name in names) or not remote.path or remote.path.startswith("-"):
        raise invalid("the address of the repository is not a valid SSH address")
    return remote
