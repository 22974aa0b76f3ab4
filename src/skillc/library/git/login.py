"""Logins for git servers that are not in an address: of a variable, or of git's credential helpers.

A variable is for one host, because an address may come from a file that somebody else wrote: the token for
github.com is `SKILLC_GIT_TOKEN_GITHUB_COM`. Helpers are asked by the program git, if it is installed, as
`git clone` asks them; nothing is asked of a person, and no project's configuration is read.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace

from skillc import paths
from skillc.library.git.config import TOKEN_USER, Remote

VARIABLE = "SKILLC_GIT_TOKEN_"
TIME_OUT = 20  # seconds
# Variables that would lead git to a project's configuration, or to a window that asks.
_UNSET = ("GIT_DIR", "GIT_WORK_TREE", "GIT_CONFIG", "SSH_ASKPASS")


def variable_of(remote: Remote) -> str:
    """Return the name of the variable with the token for a server."""
    place = f"{remote.host}_{remote.port}" if remote.port else remote.host
    return VARIABLE + re.sub("[^A-Z0-9]", "_", place.upper())


def with_token(remote: Remote) -> Remote:
    """Return a remote with the token of its variable; the same without one, or if its address has a login."""
    token = os.environ.get(variable_of(remote), "").strip() if remote.scheme in ("http", "https") else ""
    if not token or remote.username or not token.isprintable():
        return remote
    return replace(remote, username=TOKEN_USER, password=token)


def ask_helpers(remote: Remote) -> Remote | None:
    """Return a remote with the login that git's credential helpers have for it; None if they have none."""
    if remote.scheme not in ("http", "https") or remote.password:
        return None
    host = f"{remote.host}:{remote.port}" if remote.port else remote.host
    question = f"protocol={remote.scheme}\nhost={host}\npath={remote.path.lstrip('/')}\n"
    question += f"username={remote.username}\n" if remote.username else ""
    environment = {name: text for name, text in os.environ.items() if name not in _UNSET}
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GCM_INTERACTIVE": "never"}
    try:
        process = subprocess.run(
            ["git", "credential", "fill"],  # noqa: S607 - the user's own
            input=f"{question}\n",
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
    answer = dict(line.partition("=")[::2] for line in process.stdout.splitlines())
    if process.returncode or not answer.get("password"):
        return None
    return replace(remote, username=answer.get("username") or TOKEN_USER, password=answer["password"])
