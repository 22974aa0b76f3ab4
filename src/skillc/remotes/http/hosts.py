"""The hosts that may be asked: those that a person named, and no others.

A server can lead to another host by a redirect or by an address in an index. It is not asked before a
person named it.

>>> hosts = Hosts.around("https://example.com/skills", ["cdn.example.com"])
>>> hosts.refusal("https://cdn.example.com/pdf.zip")
''
>>> hosts.refusal("https://other.example.com/pdf.zip")
"'other.example.com' is another host, and asked only with --allow-host other.example.com"
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from errno import EHOSTUNREACH, ENETDOWN, ENETUNREACH
from socket import gaierror
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
UNREACHABLE = (ENETDOWN, ENETUNREACH, EHOSTUNREACH)
OPTION = "--allow-host {}"  # of a command
SETTING = 'allow_hosts = ["{}"]'  # of a repository in skills.toml
_HOST = re.compile(r"(?:[^\s/?#@:\[\]]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts that may be asked; `advice` says how a person names another one."""

    names: frozenset[str]
    advice: str = OPTION

    @classmethod
    def around(cls, url: str, others: Iterable[str] = (), advice: str = OPTION) -> Hosts:
        """Return the host of an address, and others."""
        return cls(frozenset((host_of(url), *others)), advice)

    def refusal(self, url: str) -> str:
        """Return why an address is not asked; an empty text if it may be."""
        host = host_of(url)
        if host in self.names:
            return ""
        return f"'{host}' is another host, and asked only with {self.advice.format(host)}"


def host_of(url: str) -> str:
    """Return the host of an address, with its port unless that is the usual one; empty if it has none.

    >>> host_of("https://Example.com:443/x"), host_of("http://127.0.0.1:8000/")
    ('example.com', '127.0.0.1:8000')
    >>> host_of("https://stra\u00dfe.de/")
    'xn--strae-oqa.de'
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return ""
    return _join(host, port if port != PORTS.get(parts.scheme) else None)


def explain_failure(error: OSError, host: str) -> str:
    """Return what the system says of a connection that failed; with the host where it can't be reached."""
    text = (error.strerror or str(error)) if isinstance(error, gaierror) else os.strerror(error.errno or 0)
    if isinstance(error, gaierror) or error.errno in UNREACHABLE:
        return f"can't reach {host or 'the host'} ({text}); is this computer online?"
    return text


def parse_host(text: str) -> str:
    """Return a host as `host_of` gives it, from `host`, `host:port` or an address; empty for what is none.

    >>> parse_host("CDN.example.com"), parse_host("https://cdn.example.com/x"), parse_host("a b")
    ('cdn.example.com', 'cdn.example.com', '')
    """
    if "://" in text:
        return host_of(text)
    return host_of(f"https://{text}") if _HOST.fullmatch(text) else ""


def _join(host: str, port: int | None) -> str:
    name = host.rstrip(".")
    if not name.isascii():
        import idna  # as the clients do: Python's own codec takes straße.de for strasse.de

        try:
            name = idna.encode(name).decode()
        except UnicodeError:
            pass  # no address leads there
    name = f"[{name}]" if ":" in name else name
    return f"{name}:{port}" if port is not None else name
