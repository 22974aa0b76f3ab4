"""The configuration of a git repository: address, ref, credentials, cache, limits; and its failures."""

from __future__ import annotations

import base64
import math
import os
import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from urllib.parse import unquote, urlsplit

from skillc import paths
from skillc.errors import InvalidConfiguration
from skillc.remotes.addresses import is_plain
from skillc.remotes.hosts import SETTING, Hosts
from skillc.remotes.protocol import require_text, to_seconds
from skillc.remotes.secrets import hide_secrets
from skillc.skills import to_segment
from skillc.startup import sha256_hex

TIME_OUT = 60.0  # seconds that a server may be silent
MAX_BYTES = 1 << 30  # of the pack that a server sends, and of the files in it
SCHEMES = ("https", "http", "ssh", "file")
TOKEN_USER = "x-access-token"  # noqa: S105 - the user that goes with a token
MIN_TOKEN = 8  # characters; a user of an address without a password that is as long may be a token
_INVALID_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\\ud800-\udfff]|\.\.|@\{|//|/\.|\.lock(/|$)")
_SSH_NAME = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9_.:%\[\]-]*")


class FetchError(Exception):
    """A repository without a checkout; the message says why."""


class Refusal(FetchError):
    """The server refused the request; another one may succeed."""


class LoginRefused(FetchError):
    """The server wants a login, or another one."""


class RefNotFound(Exception):
    """The repository has no such ref."""


@dataclass(frozen=True, slots=True)
class GitRef:
    """A branch, whose tip moves, or a tag or a commit, which never do.

    Without arguments it is the branch `main`.

    >>> GitRef.tag("v1.2.0")
    GitRef(kind='tag', name='v1.2.0')
    """

    kind: str = "branch"
    name: str = "main"

    def __post_init__(self) -> None:
        require_text(self.kind, "the kind of a ref")
        require_text(self.name, "the name of a ref")
        if self.kind not in ("branch", "tag", "commit"):
            raise invalid(f"a ref is a branch, a tag or a commit, not {self.kind!r}")
        if self.kind == "commit":
            if not re.fullmatch("[0-9a-fA-F]{7,40}", self.name):
                raise invalid(f"'{self.name}' is not a commit's ID, which is 7 to 40 hexadecimal digits")
            object.__setattr__(self, "name", self.name.lower())
        elif not _is_ref_name(self.name):
            raise invalid(f"'{self.name}' is not a valid name of a {self.kind}")

    @classmethod
    def branch(cls, name: str) -> GitRef:
        return cls("branch", name)

    @classmethod
    def tag(cls, name: str) -> GitRef:
        return cls("tag", name)

    @classmethod
    def commit(cls, name: str) -> GitRef:
        return cls("commit", name)

    @property
    def moves(self) -> bool:
        return self.kind == "branch"


def _is_ref_name(name: str) -> bool:
    """Apply the rules of `git check-ref-format`, and refuse what looks like an option."""
    if not name or len(name) > 255 or name == "@" or _INVALID_REF.search(name):
        return False
    return not name.startswith(("-", ".", "/")) and not name.endswith((".", "/"))


@dataclass(frozen=True, slots=True)
class HttpsToken:
    """A token for HTTPS, sent as the password of `x-access-token`."""

    token: str = field(repr=False)

    def __post_init__(self) -> None:
        require_text(self.token, "the token")
        if not self.token:
            raise invalid("the token is empty")


@dataclass(frozen=True, slots=True)
class SshKey:
    """A private key for SSH. One with a passphrase works if ssh-agent holds it; a `passphrase` is refused."""

    private_key_path: str | os.PathLike[str]
    passphrase: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.private_key_path, str | os.PathLike):
            raise TypeError(f"private_key_path must be a path, not {type(self.private_key_path).__name__}")
        if self.passphrase:
            raise invalid("the program 'ssh' can't be given a passphrase; add the key to ssh-agent")


GitAuth = HttpsToken | SshKey


@dataclass(frozen=True, slots=True, repr=False)
class GitSkillConfig:
    """A repository, what to check out of it, and how often to refresh it.

    `skills_root` is a folder in the repository. `cache_dir` is where checkouts go, each in a folder
    of its own. A `refresh_interval` of infinity never refreshes. `depth` None fetches all history.
    `time_out` is how long a server may be silent; `max_bytes` how much it may send. A redirect to another
    host is followed if `allow_hosts` has it, without credentials.
    """

    repo_url: str
    git_ref: GitRef = GitRef()
    cache_dir: str | os.PathLike[str] | None = None
    skills_root: str | None = None
    refresh_interval: float | timedelta = 300.0  # seconds; a number once it is constructed
    auth: GitAuth | None = None
    depth: int | None = 1
    strict: bool = False
    time_out: float = TIME_OUT
    max_bytes: int = MAX_BYTES
    allow_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_text(self.repo_url, "repo_url")
        for name, kind in (("git_ref", GitRef), ("auth", GitAuth | None), ("depth", int | None)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} can't be of type {type(getattr(self, name)).__name__}")
        try:
            seconds = to_seconds(self.refresh_interval, "refresh_interval")
            object.__setattr__(self, "refresh_interval", seconds)
        except ValueError as error:
            raise invalid(str(error)) from None
        if self.depth is not None and self.depth < 1:
            raise invalid("the depth must be positive")
        if not 0 < self.time_out < math.inf or self.max_bytes < 1:
            raise invalid("limits must be positive")
        root = self.skills_root or ""
        outside = os.path.isabs(root) or root.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", root)
        if outside or not root.isprintable() or ":" in root:
            raise invalid(f"skills_root '{root}' is not a folder in the repository")
        self.remote()

    def remote(self) -> GitRemote:
        """Return the address with its credentials and limits."""
        remote = parse_address(self.repo_url)
        hosts = Hosts.around(remote.url, self.allow_hosts, SETTING)
        remote = replace(remote, time_out=self.time_out, max_bytes=self.max_bytes, hosts=hosts)
        if isinstance(self.auth, HttpsToken) and remote.scheme in ("http", "https"):
            return replace(remote, username=TOKEN_USER, password=self.auth.token)
        if isinstance(self.auth, SshKey) and remote.scheme == "ssh":
            key = os.path.abspath(os.path.expanduser(os.fspath(self.auth.private_key_path)))
            return replace(remote, key=key)
        if self.auth is not None:
            kind = "a token" if isinstance(self.auth, HttpsToken) else "an SSH key"
            raise invalid(f"{kind} does not go with a {remote.scheme}:// address")
        return remote

    def directory(self) -> str:
        """Return the folder for checkouts of this repository at this ref."""
        base = self.cache_dir or os.path.join(paths.cache_directory(), "repositories")
        key = f"{self.remote().url}\0{self.git_ref.kind}\0{self.git_ref.name}"
        return os.path.join(os.path.abspath(os.fspath(base)), sha256_hex(key.encode())[:32])

    def __repr__(self) -> str:
        try:
            return f"GitSkillConfig({self.remote().url!r}, {self.git_ref!r})"
        except InvalidConfiguration:  # a debugger may ask before __post_init__ has refused it
            return f"GitSkillConfig(<invalid>, {self.git_ref!r})"


@dataclass(frozen=True, slots=True)
class GitRemote:
    """A parsed address. `url` is without credentials: it is shown, hashed and stored."""

    url: str
    scheme: str
    path: str
    host: str = ""
    port: int | None = None
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    key: str | None = None
    time_out: float = TIME_OUT
    max_bytes: int = MAX_BYTES
    hosts: Hosts | None = None  # that may be asked over HTTP; its own alone without a value

    @property
    def name(self) -> str:
        """The last part of the address as a segment of an ID: the name where the repository is one skill."""
        last = re.split(r"[/\\:]", self.path.rstrip("/\\"))[-1]
        return to_segment(last.removesuffix(".git")) or "skills"

    def hide(self, text: str) -> str:
        secrets = [self.password]
        if self.scheme in ("http", "https"):
            pair = f"{self.username or ''}:{self.password or ''}"
            secrets.append(base64.b64encode(pair.encode()).decode())
            if not self.password and len(self.username or "") >= MIN_TOKEN:
                secrets.append(self.username)
        return hide_secrets(text, secrets)


def parse_address(address: str) -> GitRemote:
    """Parse a URL, `user@host:path` or a path; errors don't repeat it, because it can hold a secret."""
    if not is_plain(address) or not address.isprintable() or address.startswith("-"):
        raise invalid("the address of the repository is empty or has control characters, or is an option")
    if re.match(r"[A-Za-z0-9][A-Za-z0-9+.-]*::", address):
        raise invalid("remote helpers ('name::address') are not supported")
    scheme, separator, _ = address.partition("://")
    if separator:
        return _parse_url(address, scheme.lower())
    windows_path = os.name == "nt" and re.match(r"[A-Za-z]:[\\/]", address)
    host, colon, path = address.partition(":")
    if colon and "/" not in host and not windows_path:
        user, _, host = host.rpartition("@")
        return _check_ssh(GitRemote(address, "ssh", path, host, None, user or None))
    path = os.path.abspath(os.path.expanduser(address))
    return GitRemote(path, "file", path)


def _parse_url(address: str, scheme: str) -> GitRemote:
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
        return GitRemote(f"file://{path}", "file", path.lstrip("/") if os.name == "nt" else path)
    user = unquote(parts.username) if parts.username else None
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    if scheme == "ssh":
        place = f"{parts.username}@{place}" if user else place
        return _check_ssh(GitRemote(f"ssh://{place}{parts.path}", "ssh", parts.path, host, port, user))
    if not host:
        raise invalid("the address of the repository has no host")
    password = unquote(parts.password) if parts.password else None
    return GitRemote(f"{scheme}://{place}{parts.path}", scheme, parts.path, host, port, user, password)


def _check_ssh(remote: GitRemote) -> GitRemote:
    """Refuse an address of which a part could be read as an option, by ssh here or by git there."""
    names = [remote.host] + ([remote.username] if remote.username else [])
    if not all(map(_SSH_NAME.fullmatch, names)) or not remote.path or remote.path.startswith("-"):
        raise invalid("the address of the repository is not a valid SSH address")
    return remote


def invalid(message: str) -> InvalidConfiguration:
    return InvalidConfiguration("git repository", message)
