"""Say which addresses of issuers may be asked: https, and http on this machine alone."""

from __future__ import annotations

from urllib.parse import urlsplit

from skillc.errors import InvalidParameter
from skillc.server.access import LOOPBACK


def is_secure(url: str, *, loopback: bool) -> bool:
    """Return whether a URL is https or, where `loopback` is allowed, http on this machine."""
    try:
        parts = urlsplit(url)
        is_plain = parts.username is None and not parts.fragment and parts.hostname and parts.port != 0
    except ValueError:
        return False
    if not is_plain or not url.isascii() or not url.isprintable() or " " in url:
        return False
    return parts.scheme == "https" or (loopback and parts.scheme == "http" and parts.hostname in LOOPBACK)


def parse_issuer(url: str, name: str = "issuer") -> str:
    """Return the address of an issuer; raises InvalidParameter for one that can't be asked safely."""
    if not is_secure(url, loopback=True) or urlsplit(url).query or "?" in url:
        raise InvalidParameter(name, "it is an https URL without a query (http on this machine alone)")
    return url
