"""Say how a registry is served."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skillc.registry import RegistryConfig
from skillc.server.oidc.configuration import SignInSettings

if TYPE_CHECKING:
    from skillc.server.service import Service

    Mounts = Callable[[Service], Mapping[str, Any]]


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


@dataclass(frozen=True, slots=True)
class Launch:
    """What to serve and where; `names` are further names of the host, `token_file` is for the first token.

    `mounts` returns applications of other surfaces, by path. `reload` returns it with its files
    read again.
    """

    store: str = field(default="", repr=False)  # may have a password
    blobs: str = field(default="", repr=False)
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int = 1
    names: tuple[str, ...] = ()
    token_file: str = ""
    config: RegistryConfig = field(default_factory=RegistryConfig)  # policies, reviews and mirrors
    settings: ServerSettings = ServerSettings()
    mounts: Mounts = lambda service: {}
    reload: Callable[[Launch], Launch] = lambda launch: launch
