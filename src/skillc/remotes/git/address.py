"""The address of a git repository with its login, and how a repository fails.

Logins that are not in an address come from a variable, or from git's credential helpers. A variable names its
host, because an address may come from a file that somebody else wrote [D73]:
`SKILLC_GIT_TOKEN_WORK="git.example.com=<token>"`, whatever follows the prefix. Its token is sent there over
https alone. Helpers are asked by the program git, if it is installed, as `git clone` asks them; nothing is
asked of a person, and no project's configuration is read.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from urllib.parse import unquote, urlsplit

from skillc import paths
from skillc.errors import Diagnostic, InvalidConfiguration, warning
from skillc.remotes.http import Hosts, hide_secrets, host_of, is_plain, parse_host
from skillc.remotes.protocol import Failure
from skillc.skills import to_segment
from skillc.spelling import did_you_mean
from skillc.text import first_of, one_line

TIME_OUT = 60.0  # seconds that a server may be silent
MAX_BYTES = 1 << 30  # of the pack that a server sends, and of the files in it
SCHEMES = ("https", "http", "ssh", "file")
TOKEN_USER = "x-access-token"  # noqa: S105 - the user that goes with a token
MAX_NAMES = 5  # of branches and tags in a hint
MIN_TOKEN = 8  # characters; a user of an address without a password that is as long may be a token
VARIABLE = "SKILLC_GIT_TOKEN_"
HELPER_TIME_OUT = 20  # seconds
# Variables that would lead git to a project's configuration, or to a window that asks.
_UNSET = ("GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG", "SSH_ASKPASS")
_SSH_NAME = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9_.:%\[\]-]*")


class FetchError(Failure):
    """A repository without a checkout; the message says why."""


class Refusal(FetchError):
    """The server refused the request; another one may succeed."""


class LoginRefused(FetchError):
    """The server wants a login, or another one."""


class RefNotFound(FetchError):
    """The repository has no such ref, whose name is the message; HEAD is that of one without commits.

    `names` are the branches and tags that it said it has.
    """

    def __init__(self, name: str, names: Iterable[str] = ()) -> None:
        super().__init__(name)
        self.names = sorted(names)

    def list_names(self) -> str:
        """Return a hint with the names that are near, or with the first of all; empty without any."""
        question = did_you_mean(str(self), self.names)
        listing = f"it has {first_of([one_line(name) for name in self.names], MAX_NAMES)}"
        return f"hint: {question or listing}" if self.names else ""

    @property
    def reason(self) -> str:
        is_empty = str(self) == "HEAD"
        return "the repository has no commits" if is_empty else f"it has no branch, tag or commit '{self}'"

    @property
    def hint(self) -> str:  # type: ignore[override]
        if str(self) == "HEAD":
            return ""
        way = f"hint: a skill of it is named by --skill {self}"
        return "\n".join(filter(None, [self.list_names(), way]))


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

    @classmethod
    def parse(cls, address: str) -> GitRemote:
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
            return _check_ssh(cls(address, "ssh", path, host, None, user or None))
        path = os.path.abspath(os.path.expanduser(address))
        return cls(path, "file", path)

    def hide(self, text: str) -> str:
        secrets = [self.password]
        if self.scheme in ("http", "https"):
            pair = f"{self.username or ''}:{self.password or ''}"
            secrets.append(base64.b64encode(pair.encode()).decode())
            if not self.password and len(self.username or "") >= MIN_TOKEN:
                secrets.append(self.username)
        return hide_secrets(text, secrets)

    def with_token(self) -> GitRemote:
        """Return the remote with a variable's token for its host; the same if there is none, or a login."""
        if self.scheme != "https" or self.username:
            return self
        host = host_of(self.url)
        token = next((token for place, token in _read_tokens().values() if place == host), "")
        return replace(self, username=TOKEN_USER, password=token) if token else self

    def describe_variable(self) -> str:
        """Say how a variable holds the token for the server."""
        if self.scheme != "https":
            return "a variable's token is sent over https alone"
        return f'a variable can hold a token: {VARIABLE}1="{host_of(self.url)}=<token>"'

    def ask_helpers(self) -> GitRemote | None:
        """Return the remote with the login that git's credential helpers have for it; None without one."""
        if self.scheme not in ("http", "https") or self.password:
            return None
        question = {"protocol": self.scheme, "host": host_of(self.url), "path": self.path.lstrip("/")}
        question |= {"username": self.username} if self.username else {}
        if not all(is_plain(text) for text in question.values() if text):
            return None  # a line of its own would ask for another host
        environment = {name: text for name, text in os.environ.items() if name not in _UNSET}
        environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GCM_INTERACTIVE": "never"}
        try:
            process = subprocess.run(
                ["git", "credential", "fill"],  # noqa: S607 - the user's own
                input="".join(f"{key}={text}\n" for key, text in question.items()) + "\n",
                env=environment,
                cwd=paths.home() or os.sep,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=HELPER_TIME_OUT,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        answer = dict(line.partition("=")[::2] for line in process.stdout.split("\n"))
        is_ours = all(answer.get(key) == question[key] for key in ("protocol", "host"))
        if process.returncode or not is_ours or not answer.get("password"):
            return None
        return replace(self, username=answer.get("username") or TOKEN_USER, password=answer["password"])


def find_unused_tokens() -> list[Diagnostic]:
    """Return a warning for each variable that does not name a host, as those before [D73] did not."""
    return [warning("W074", name) for name, (host, _) in _read_tokens().items() if not host]


def _read_tokens() -> dict[str, tuple[str, str]]:
    """Return host and token of each variable; both are empty for one that is not `<host>[:port]=<token>`."""
    tokens: dict[str, tuple[str, str]] = {}
    for name, text in os.environ.items():
        if name.startswith(VARIABLE) and text.strip():
            place, _, token = text.strip().partition("=")
            host = parse_host(place) if "/" not in place else ""
            is_token = token.strip("=") and token.isprintable() and " " not in token  # it may end in "=="
            tokens[name] = (host, token) if host and is_token else ("", "")
    return tokens


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
