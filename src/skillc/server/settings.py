"""Say how a registry is served: what the command line and the environment give, and what registry.toml has.

    [oidc]
    issuer = "https://login.example.com"
    client_id = "skillc"

The file says how people sign in, and which CI may publish. What it does not know, it refuses: a misspelled
limit must not be no limit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from skillc.errors import InvalidOption, InvalidParameter
from skillc.registry import RegistryConfig, ReviewRules, Role, SettingsTable, open_settings
from skillc.server.access import LOOPBACK
from skillc.skills import SkillId

SECRET = "SKILLC_OIDC_SECRET"  # noqa: S105 -- the variable that holds it
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


def read_configuration(path: str) -> tuple[RegistryConfig, SignInSettings]:
    """Return what a registry.toml says, or what holds without a path; raises InvalidConfiguration."""
    if not path:
        return RegistryConfig(), SignInSettings()
    with open_settings(path) as root:
        config = RegistryConfig.read(root)
        oidc = _read_oidc(root.table("oidc")) if "oidc" in root else None
        return config, SignInSettings(oidc, _read_publishing(root.table("publishing")))


def _read_oidc(table: SettingsTable) -> OidcSettings:
    issuer, client_id = table.text("issuer"), table.text("client_id")
    for key, text in (("issuer", issuer), ("client_id", client_id)):
        if not text:
            raise table.fault(key, "it is missing")
    role, prefix = table.text("default_role"), table.text("default_prefix")
    settings = OidcSettings(
        table.convert("issuer", issuer, parse_issuer),
        client_id,
        # Taken out of the environment: processes that we start don't need it.
        os.environ.pop(table.text("client_secret_env") or SECRET, ""),
        table.text("subject", "email"),
        table.text("groups", "groups"),
        table.texts("scopes", ("openid", "email", "profile")),
        tuple(domain.lower().lstrip("@") for domain in table.texts("allowed_domains")),
        table.texts("allowed_groups"),
        table.take("require_verified_email", True, bool),
        table.convert("default_role", role, Role.parse) if role else None,
        table.convert("default_prefix", prefix, SkillId) if prefix else "",
    )
    if "openid" not in settings.scopes:
        raise table.fault("scopes", "'openid' is one of them")
    table.finish()
    return settings


def _read_publishing(table: SettingsTable) -> PublishingSettings:
    def issuers(key: str, default: str) -> tuple[str, ...]:
        return tuple(table.convert(key, url, parse_issuer) for url in table.texts(key, (default,)))

    settings = PublishingSettings(
        issuers("github", GITHUB), issuers("gitlab", GITLAB), table.text("audience")
    )
    table.finish()
    return settings


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of a registry, as they are typed; the command's help says what each means."""

    host: str
    port: int
    workers: int
    rate_limit: int
    store: str = field(default="", repr=False)  # may have a password
    blobs: str = field(default="", repr=False)
    url: str = ""
    config: str = ""
    token_file: str = ""
    public_read: bool = False
    names: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()
    review_findings: str = ""


@dataclass(frozen=True, slots=True)
class Launch:
    """What to serve and how; `mounts` returns applications of other surfaces, by path, for a `Service`."""

    options: ServeOptions
    mounts: Callable[[Any], Mapping[str, Any]]
    config: RegistryConfig  # policies, reviews and mirrors
    settings: ServerSettings

    def reload(self) -> Launch:
        """Return the launch with its file read again; the secret of sign-in stays, it is read once."""
        config, settings = _read(self.options)
        before, oidc = self.settings.sign_in.oidc, settings.sign_in.oidc
        if before is not None and oidc is not None and not oidc.client_secret:
            oidc = replace(oidc, client_secret=before.client_secret)
            settings = replace(settings, sign_in=replace(settings.sign_in, oidc=oidc))
        return replace(self, config=config, settings=replace(settings, metrics=self.settings.metrics))


def make_launch(options: ServeOptions, mounts: Callable[[Any], Mapping[str, Any]]) -> Launch:
    """Return what `serve_registry` needs; raises InvalidOption and InvalidConfiguration."""
    # Variables are taken out of the environment: processes that we start don't need them.
    store = options.store or os.environ.pop("SKILLC_STORE", "")
    blobs = options.blobs or os.environ.pop("SKILLC_BLOBS", "")
    return Launch(replace(options, store=store, blobs=blobs), mounts, *_read(options))


def _read(options: ServeOptions) -> tuple[RegistryConfig, ServerSettings]:
    """Return what the options and their file say: policies, reviews and mirrors, and how it is served."""
    url = _read_url(options.url)
    config, sign_in = read_configuration(options.config)
    if sign_in.oidc is not None and not url:
        raise InvalidOption("with [oidc], --url is needed: the issuer leads people back there")
    prefixes = (*config.review.prefixes, *(str(SkillId(prefix)) for prefix in options.reviews))
    review = ReviewRules(prefixes, options.review_findings or config.review.findings)
    settings = ServerSettings(
        url=url,
        public_read=options.public_read,
        rate_limit=options.rate_limit,
        trusted_proxies=tuple(map(_read_network, options.trusted_proxies)),
        sign_in=sign_in,
    )
    return replace(config, review=review), settings


def _read_network(name: str) -> str:
    try:
        return str(ip_network(name, strict=False))
    except ValueError:
        raise InvalidOption(f"--trusted-proxy takes an address or a network, not '{name}'") from None


def _read_url(text: str) -> str:
    """Return the address that clients use, without a slash at its end."""
    parts = urlsplit(text)
    if text and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment):
        raise InvalidOption("--url takes an address such as https://skills.example.com")
    if parts.username is not None or parts.path.strip("/"):
        raise InvalidOption("--url takes an address without a user and a path")
    return text.rstrip("/")
