"""Say how a registry is served: sign-in, addresses and limits, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from skillc.errors import InvalidParameter
from skillc.origins import Trust
from skillc.registry import Role
from skillc.server.access import LOOPBACK

GITHUB = "https://token.actions.githubusercontent.com"
GITLAB = "https://gitlab.com"


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


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """The issuer that people sign in with. `subject` and `groups` are names of claims.

    Where `domains` or `groups_allowed` are given, a person needs a verified address in one of the domains,
    and one of the groups. `role` below `prefix` is what new people get.
    """

    issuer: str
    client_id: str
    client_secret: str = field(default="", repr=False)
    subject: str = "email"
    groups: str = "groups"
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    domains: tuple[str, ...] = ()
    groups_allowed: tuple[str, ...] = ()
    needs_verified_email: bool = True
    role: Role | None = None
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class PublishingSettings:
    """The issuers of CI, by the kind of their claims, and the audience of their ID tokens."""

    github: tuple[str, ...] = (GITHUB,)
    gitlab: tuple[str, ...] = (GITLAB,)
    audience: str = ""

    def kind(self, issuer: str) -> str:
        """Return `github` or `gitlab`; empty for an issuer that is not configured."""
        return "github" if issuer in self.github else "gitlab" if issuer in self.gitlab else ""


@dataclass(frozen=True, slots=True)
class SignInSettings:
    oidc: OidcSettings | None = None
    publishing: PublishingSettings = PublishingSettings()


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a registry is served; `url` is its address as clients know it, without a slash at the end."""

    url: str = ""
    public_read: bool = False  # requests without a token may read everything
    index: str = ""  # the folder of the skill index; a temporary one without it
    work: str = ""  # the folder for what is unpacked and audited; the system's temporary one without it
    rate_limit: int = 0  # requests of a token, or of an address without one, in a minute; 0 is no limit
    trusted_proxies: tuple[str, ...] = ()  # addresses and networks whose X-Forwarded-For counts
    metrics: str = ""  # the folder in which the processes of a server put their numbers together
    sign_in: SignInSettings = field(default_factory=SignInSettings)
    trust: Trust = field(default_factory=Trust)  # of whose signatures versions are taken
    keys: tuple[str, ...] = ()  # files of keys that publications are attested with; the first signs
