"""A git repository as it is configured: address, ref, credentials, cache, limits."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field, replace

from skillc import paths
from skillc.errors import InvalidConfiguration
from skillc.library.git.refs import GitRef, invalid
from skillc.library.git.remote import MAX_BYTES, TIME_OUT, Remote, remote_of
from skillc.startup.digest import sha256_hex

TOKEN_USER = "x-access-token"  # noqa: S105 - the user that goes with a token


@dataclass(frozen=True, slots=True)
class HttpsToken:
    """A token for HTTPS, sent as the password of `x-access-token`."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SshKey:
    """A private key for SSH; one with a passphrase has to be in ssh-agent."""

    private_key_path: str | os.PathLike[str]
    passphrase: str | None = field(default=None, repr=False)


GitAuth = HttpsToken | SshKey


def repositories_cache() -> str:
    """Where checkouts are kept unless a configuration says otherwise."""
    return os.path.join(paths.require_home(), paths.DIRECTORY, "cache", "repositories")


@dataclass(frozen=True, slots=True, repr=False)
class GitSkillConfig:
    """A repository, what to check out of it, and how often to look for something new.

    `skills_root` is a folder in the repository. `cache_dir` is where checkouts go, each in a folder
    of its own. A `refresh_interval` of infinity never looks again. `depth` None asks for all history.
    `time_out` is how long a server may be silent; `max_bytes` how much it may send.
    """

    repo_url: str
    git_ref: GitRef = GitRef("branch", "main")
    cache_dir: str | os.PathLike[str] | None = None
    skills_root: str | None = None
    refresh_interval: float = 300.0
    auth: GitAuth | None = None
    depth: int | None = 1
    strict: bool = False
    time_out: float = TIME_OUT
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        if not self.refresh_interval >= 0:
            raise invalid("the refresh interval must not be negative")
        if self.depth is not None and self.depth < 1:
            raise invalid("the depth must be positive")
        if not 0 < self.time_out < math.inf or self.max_bytes < 1:
            raise invalid("limits must be positive")
        self._check_skills_root()
        self.remote()

    def _check_skills_root(self) -> None:
        root = self.skills_root
        if not root:
            return
        parts = re.split(r"[/\\]", root)
        if not root.isprintable() or os.path.isabs(root) or root[:1] in "/\\" or ".." in parts or ":" in root:
            raise invalid(f"skills_root '{root}' is not a folder in the repository")

    def remote(self) -> Remote:
        """The address with the credentials for it."""
        remote = remote_of(self.repo_url)
        remote = replace(remote, time_out=self.time_out, max_bytes=self.max_bytes)
        if isinstance(self.auth, HttpsToken) and remote.scheme in ("http", "https"):
            return replace(remote, username=TOKEN_USER, password=self.auth.token)
        if isinstance(self.auth, SshKey) and remote.scheme == "ssh":
            key = os.path.abspath(os.path.expanduser(os.fspath(self.auth.private_key_path)))
            return replace(remote, key=key, passphrase=self.auth.passphrase)
        if self.auth is not None:
            kind = "a token" if isinstance(self.auth, HttpsToken) else "an SSH key"
            raise invalid(f"{kind} does not go with a {remote.scheme}:// address")
        return remote

    def directory(self) -> str:
        """Where checkouts of this repository at this ref are kept."""
        base = os.path.abspath(os.fspath(self.cache_dir)) if self.cache_dir else repositories_cache()
        key = f"{self.remote().url}\0{self.git_ref.kind}\0{self.git_ref.name}"
        return os.path.join(base, sha256_hex(key.encode())[:32])

    def __repr__(self) -> str:
        try:
            return f"GitSkillConfig({self.remote().url!r}, {self.git_ref!r})"
        except InvalidConfiguration:  # a debugger may ask while it is being refused
            return f"GitSkillConfig(<invalid>, {self.git_ref!r})"
