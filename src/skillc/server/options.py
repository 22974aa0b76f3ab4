"""Turn what `skc serve` is told into a launch: options, variables of the environment, and registry.toml."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from skillc.errors import InvalidOption
from skillc.registry import RegistryConfig, ReviewRules
from skillc.server.service import Service
from skillc.server.settings import (
    REGISTRY_TABLES,
    Launch,
    ServerSettings,
    SignInSettings,
    read_configuration,
)
from skillc.skills import SkillId

Mounts = Callable[[Service], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of a registry, as they are typed; the command's help says what each means."""

    host: str
    port: int
    workers: int
    rate_limit: int
    store: str = ""
    blobs: str = ""
    url: str = ""
    config: str = ""
    token_file: str = ""
    public_read: bool = False
    names: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    reviews: tuple[str, ...] = ()
    review_findings: str = ""


def make_launch(options: ServeOptions, mounts: Mounts) -> Launch:
    """Return what `serve_registry` needs; `mounts` makes the applications of other surfaces."""
    return Launch(
        # Variables are taken out of the environment: processes that we start don't need them.
        store=options.store or os.environ.pop("SKILLC_STORE", ""),
        blobs=options.blobs or os.environ.pop("SKILLC_BLOBS", ""),
        host=options.host,
        port=options.port,
        workers=options.workers,
        names=options.names,
        token_file=options.token_file,
        config=_read_config(options),
        settings=_read_settings(options),
        mounts=mounts,
        reload=partial(_reload, options),
    )


def _reload(options: ServeOptions, launch: Launch) -> Launch:
    """Return the launch with its configuration read again; the secret of sign-in stays, it is read once."""
    settings = replace(_read_settings(options), metrics=launch.settings.metrics)
    before, oidc = launch.settings.sign_in.oidc, settings.sign_in.oidc
    if before is not None and oidc is not None and not oidc.client_secret:
        oidc = replace(oidc, client_secret=before.client_secret)
        settings = replace(settings, sign_in=replace(settings.sign_in, oidc=oidc))
    return replace(launch, config=_read_config(options), settings=settings)


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
