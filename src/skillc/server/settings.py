"""Say how a registry is served: what the command line and the environment give, and what registry.toml has.

    [oidc]
    issuer = "https://login.example.com"
    client_id = "skillc"

The file says how people sign in, and which CI may publish. What it does not know, it refuses: a misspelled
limit must not be no limit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from skillc import paths
from skillc.errors import InvalidConfiguration, InvalidOption, InvalidParameter, SkillcError
from skillc.registry import RegistryConfig, ReviewRules, Role
from skillc.server.access import LOOPBACK
from skillc.settings import MAX_FILE, parse_toml
from skillc.skills import SkillId

SECRET = "SKILLC_OIDC_SECRET"  # noqa: S105 -- the variable that holds it
GITHUB = "https://token.actions.githubusercontent.com"
GITLAB = "https://gitlab.com"
REGISTRY_TABLES = ("policy", "review", "mirror")  # that RegistryConfig reads
# Keys of registry.toml with their types and, where it is another, the name of the setting.
_OIDC: dict[str, tuple[type, str]] = {
    "issuer": (str, ""),
    "client_id": (str, ""),
    "subject": (str, ""),
    "groups": (str, ""),
    "scopes": (list, ""),
    "allowed_domains": (list, "domains"),
    "allowed_groups": (list, "groups_allowed"),
    "require_verified_email": (bool, "needs_verified_email"),
    "default_role": (str, "role"),
    "default_prefix": (str, "prefix"),
    "client_secret_env": (str, "client_secret"),
}
_PUBLISHING: dict[str, tuple[type, str]] = {"github": (list, ""), "gitlab": (list, ""), "audience": (str, "")}


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


def read_configuration(path: str, others: Collection[str] = ()) -> SignInSettings:
    """Return the settings in a registry.toml; raises InvalidConfiguration.

    `others` are tables that are read elsewhere. A table that nothing reads is a mistake.
    """
    try:
        data = parse_toml(paths.read_regular(path, MAX_FILE).decode())
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidConfiguration(path, getattr(error, "strerror", None) or str(error)) from None
    try:
        return parse_configuration({key: value for key, value in data.items() if key not in others})
    except _Fault as error:
        raise InvalidConfiguration(path, str(error)) from None


def parse_configuration(data: Mapping[str, Any]) -> SignInSettings:
    _check_keys(data, ("oidc", "publishing"), "")
    oidc = _parse_table(data, "oidc", _OIDC)
    publishing = PublishingSettings(**_parse_table(data, "publishing", _PUBLISHING))
    for name in ("github", "gitlab"):
        for url in getattr(publishing, name):
            _parse(parse_issuer, url, f"[publishing] {name}")
    return SignInSettings(_parse_oidc(oidc) if "oidc" in data else None, publishing)


class _Fault(Exception):
    """What is wrong with a configuration."""


def _parse_oidc(values: dict[str, Any]) -> OidcSettings:
    for key in ("issuer", "client_id"):
        if not values.get(key):
            raise _Fault(f"[oidc] needs '{key}'")
    # Taken out of the environment: processes that we start don't need it.
    values["client_secret"] = os.environ.pop(values.get("client_secret") or SECRET, "")
    values["issuer"] = _parse(parse_issuer, values["issuer"], "[oidc] issuer")
    values["role"] = _parse(Role.parse, values.get("role"), "[oidc] default_role") or None
    values["prefix"] = _parse(SkillId, values.get("prefix"), "[oidc] default_prefix")
    values["domains"] = tuple(domain.lower().lstrip("@") for domain in values.get("domains", ()))
    if "openid" not in values.get("scopes", ("openid",)):
        raise _Fault("[oidc] scopes: 'openid' is one of them")
    return OidcSettings(**values)


def _parse(parse: Callable[[str], Any], text: str | None, name: str) -> Any:
    """Parse a text, if there is any; what is wrong with it is said with its name."""
    try:
        return parse(text) if text else ""
    except SkillcError as error:
        raise _Fault(f"{name}: {error.message}") from None


def _parse_table(data: Mapping[str, Any], name: str, keys: Mapping[str, tuple[type, str]]) -> dict[str, Any]:
    table = data.get(name, {})
    if not isinstance(table, dict):
        raise _Fault(f"'{name}' must be a table")
    _check_keys(table, keys, f"[{name}] ")
    values: dict[str, Any] = {}
    for key, value in table.items():
        kind, setting = keys[key]
        is_list = kind is list and isinstance(value, list) and all(isinstance(item, str) for item in value)
        if not is_list and (kind is list or not isinstance(value, kind)):
            words = {str: "text", bool: "true or false", list: "a list of texts"}
            raise _Fault(f"[{name}] '{key}' must be {words[kind]}")
        values[setting or key] = tuple(value) if is_list else value
    return values


def _check_keys(table: Mapping[str, Any], keys: Any, where: str) -> None:
    for key in table:
        if key not in keys:
            raise _Fault(f"{where}unknown key '{key}'; it is one of {', '.join(keys)}")


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
        settings = replace(_read_settings(self.options), metrics=self.settings.metrics)
        before, oidc = self.settings.sign_in.oidc, settings.sign_in.oidc
        if before is not None and oidc is not None and not oidc.client_secret:
            oidc = replace(oidc, client_secret=before.client_secret)
            settings = replace(settings, sign_in=replace(settings.sign_in, oidc=oidc))
        return replace(self, config=_read_config(self.options), settings=settings)


def make_launch(options: ServeOptions, mounts: Callable[[Any], Mapping[str, Any]]) -> Launch:
    """Return what `serve_registry` needs; raises InvalidOption and InvalidConfiguration."""
    # Variables are taken out of the environment: processes that we start don't need them.
    store = options.store or os.environ.pop("SKILLC_STORE", "")
    blobs = options.blobs or os.environ.pop("SKILLC_BLOBS", "")
    config, settings = _read_config(options), _read_settings(options)
    return Launch(replace(options, store=store, blobs=blobs), mounts, config, settings)


def _read_settings(options: ServeOptions) -> ServerSettings:
    url = _read_url(options.url)
    sign_in = read_configuration(options.config, REGISTRY_TABLES) if options.config else SignInSettings()
    if sign_in.oidc is not None and not url:
        raise InvalidOption("with [oidc], --url is needed: the issuer leads people back there")
    return ServerSettings(
        url=url,
        public_read=options.public_read,
        rate_limit=options.rate_limit,
        trusted_proxies=tuple(map(_read_network, options.trusted_proxies)),
        sign_in=sign_in,
    )


def _read_config(options: ServeOptions) -> RegistryConfig:
    """Return the policies, reviews and mirrors of the configuration, with the reviews of the options."""
    config = RegistryConfig.load(options.config) if options.config else RegistryConfig()
    prefixes = (*config.review.prefixes, *(str(SkillId(prefix)) for prefix in options.reviews))
    return replace(config, review=ReviewRules(prefixes, options.review_findings or config.review.findings))


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
