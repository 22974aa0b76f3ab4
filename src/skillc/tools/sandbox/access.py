"""Which paths a command may read and write inside a sandbox; the deepest path that is named decides."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from skillc.tools.launch import Launch
from skillc.tools.sandbox.programs import SYSTEM, holds, prefixes
from skillc.tools.sandbox.worktrees import repository

HIDE, READ, WRITE = "hide", "read", "write"

# Secrets among the system's files; who is not root could not read them anyway.
SECRETS = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"),
    *("/etc/ssh", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/security/opasswd"),
    *("/etc/kubernetes", "/etc/rancher", "/etc/docker", "/etc/NetworkManager/system-connections"),
    *("/etc/wireguard", "/etc/ppp", "/etc/letsencrypt"),
)
ENTRIES = 256  # of the home directory that are shown, where that is the working directory


def home_of(launch: Launch) -> str:
    """The home directory that the command is told of, links resolved."""
    return os.path.realpath(launch.env.get("HOME") or "/nonexistent")


def access(launch: Launch) -> dict[str, str]:
    """What may be done at which path. What is not named, nor below a path that is, is not there."""
    home = home_of(launch)
    found = dict.fromkeys(_existing(SYSTEM), READ)
    if os.geteuid() == 0:
        found |= dict.fromkeys(_existing(SECRETS), HIDE)
    found |= dict.fromkeys(prefixes(launch, home), READ)
    if launch.network:
        found |= dict.fromkeys(_existing(_names_of_hosts()), READ)
    if home != "/":
        found.setdefault(home, HIDE)
    mode = READ if launch.read_only else WRITE
    found |= dict.fromkeys(working_paths(launch.cwd, home), mode)
    if git := repository(launch.cwd):
        found |= dict.fromkeys(working_paths(git, home), mode)
    for path in working_paths(launch.skill_dir, home):
        if path != launch.cwd:  # who works in the skill's own folder may change it
            found[path] = READ
    return {path: mode for path, mode in found.items() if mode != _above(path, found)}


def _above(path: str, paths: dict[str, str]) -> str | None:
    """What the nearest directory above says, which need not be said again."""
    while path != "/":
        path = os.path.dirname(path)
        if path in paths:
            return paths[path]
    return None


def working_paths(cwd: str, home: str) -> list[str]:
    """The working directory; where that holds the home directory, only what is not hidden in it.

    Secrets are kept below the home directory under names with a dot: a command that runs there gets
    the others. New files at its top would be such names, too, so the directory itself is left out.
    """
    inside = os.path.join(cwd, "")
    if cwd != home and not home.startswith(inside):
        return [cwd]
    if cwd == "/":
        return []
    try:
        names = sorted(name for name in os.listdir(cwd) if not name.startswith("."))[:ENTRIES]
    except OSError:
        return []
    paths = [inside + name for name in names]
    return [path for path in paths if not holds(path, home) and not os.path.islink(path)]


def _existing(paths: Iterable[str]) -> Iterator[str]:
    return (path for path in paths if os.path.exists(path))


def _names_of_hosts() -> Iterator[str]:
    """What /etc/resolv.conf leads to, which is often in /run."""
    yield os.path.realpath("/etc/resolv.conf")
