"""Logins for git servers that are not in an address: of a variable, or of git's credential helpers.

A variable names its host, because an address may come from a file that somebody else wrote [D73]:
`SKILLC_GIT_TOKEN_WORK="git.example.com=<token>"`, whatever follows the prefix. Its token is sent there over
https alone. Helpers are asked by the program git, if it is installed, as `git clone` asks them; nothing is
asked of a person, and no project's configuration is read.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

from skillc import paths
from skillc.errors import Diagnostic, warning
from skillc.remotes.addresses import is_plain
from skillc.remotes.git.config import TOKEN_USER, GitRemote
from skillc.remotes.hosts import host_of, parse_host

VARIABLE = "SKILLC_GIT_TOKEN_"
TIME_OUT = 20  # seconds
# Variables that would lead git to a project's configuration, or to a window that asks.
_UNSET = ("GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG", "SSH_ASKPASS")


def with_token(remote: GitRemote) -> GitRemote:
    """Return a remote with the token for its host; the same without one, or if its address has a login."""
    if remote.scheme != "https" or remote.username:
        return remote
    host = host_of(remote.url)
    token = next((token for place, token in _read_tokens().values() if place == host), "")
    return replace(remote, username=TOKEN_USER, password=token) if token else remote


def find_unused_tokens() -> list[Diagnostic]:
    """Return a warning for each variable that does not name a host, as those before [D73] did not."""
    return [warning("W074", name) for name, (host, _) in _read_tokens().items() if not host]


def describe_variable(remote: GitRemote) -> str:
    """Say how a variable holds the token for a server."""
    if remote.scheme != "https":
        return "a variable's token is sent over https alone"
    return f'a variable can hold a token: {VARIABLE}1="{host_of(remote.url)}=<token>"'


def _read_tokens() -> dict[str, tuple[str, str]]:
    """Return host and token of each variable; both are empty for one that is not `<host>[:port]=<token>`."""
    variables = {name: text.strip() for name, text in os.environ.items() if name.startswith(VARIABLE)}
    return {name: _parse_token(text) for name, text in variables.items() if text}


def _parse_token(text: str) -> tuple[str, str]:
    place, _, token = text.partition("=")
    host = parse_host(place) if "/" not in place else ""
    is_token = token.strip("=") and token.isprintable() and " " not in token  # a token may end in "=="
    return (host, token) if host and is_token else ("", "")


def ask_helpers(remote: GitRemote) -> GitRemote | None:
    """Return a remote with the login that git's credential helpers have for it; None if they have none."""
    if remote.scheme not in ("http", "https") or remote.password:
        return None
    question = {"protocol": remote.scheme, "host": host_of(remote.url), "path": remote.path.lstrip("/")}
    question |= {"username": remote.username} if remote.username else {}
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
            timeout=TIME_OUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    answer = dict(line.partition("=")[::2] for line in process.stdout.split("\n"))
    is_ours = all(answer.get(key) == question[key] for key in ("protocol", "host"))
    if process.returncode or not is_ours or not answer.get("password"):
        return None
    return replace(remote, username=answer.get("username") or TOKEN_USER, password=answer["password"])
