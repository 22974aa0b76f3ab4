"""Which paths a command may read and write inside a sandbox; the deepest path that is named decides."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from skillc.tools.interpreters import chain
from skillc.tools.launch import Launch
from skillc.tools.sandbox.worktrees import repository

HIDE, READ, WRITE = "hide", "read", "write"

# Where systems keep their programs and what those need.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"),
    *("/nix", "/gnu/store", "/snap", "/run/current-system", "/var/lib/flatpak"),
    *("/sys/devices/system", "/sys/fs/cgroup"),
)
# Secrets among them; who is not root could not read them anyway.
SECRETS = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"),
    *("/etc/ssh", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/security/opasswd"),
    *("/etc/kubernetes", "/etc/rancher", "/etc/docker", "/etc/NetworkManager/system-connections"),
    *("/etc/wireguard", "/etc/ppp", "/etc/letsencrypt"),
)
PROGRAMS = ("bin", "sbin", "libexec", "shims")  # directories of programs in a prefix of their own
SHARED = (
    "",
    ".local",
    ".config",
    ".cargo",
)  # below the home directory: prefixes that hold more than programs
ENTRIES = 256  # of the home directory that are shown, where that is the working directory
LINKS = 40  # symbolic links to follow from a program


def home_of(launch: Launch) -> str:
    """The home directory that the command is told of, links resolved."""
    return os.path.realpath(launch.env.get("HOME") or "/nonexistent")


def access(launch: Launch) -> dict[str, str]:
    """What may be done at which path. What is not named, nor below a path that is, is not there."""
    home = home_of(launch)
    found = dict.fromkeys(_existing(SYSTEM), READ)
    if os.geteuid() == 0:
        found |= dict.fromkeys(_existing(SECRETS), HIDE)
    found |= dict.fromkeys(_programs(launch, home), READ)
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
    return [path for path in paths if not _holds(path, home) and not os.path.islink(path)]


def _holds(path: str, home: str) -> bool:
    return home == path or home.startswith(os.path.join(path, ""))


def _existing(paths: Iterable[str]) -> Iterator[str]:
    return (path for path in paths if os.path.exists(path))


def _names_of_hosts() -> Iterator[str]:
    """What /etc/resolv.conf leads to, which is often in /run."""
    yield os.path.realpath("/etc/resolv.conf")


def _programs(launch: Launch, home: str) -> Iterator[str]:
    """The prefixes of the program, of its interpreters, and of everything on PATH.

    Version managers keep whole installations below the home directory, and reach them from the
    entries of PATH; a prefix that also holds other things than programs is not opened.
    """
    path = launch.env.get("PATH", "")
    for program in chain(launch.argv[0], path):
        for step in _links(program):
            yield from _prefix(os.path.dirname(step), home)
    for entry in path.split(os.pathsep):
        if os.path.isabs(entry) and os.path.isdir(entry):
            yield from _prefix(os.path.normpath(entry), home)


def _links(path: str) -> Iterator[str]:
    """`path`, and each place that symbolic links lead to from it."""
    for _ in range(LINKS):
        yield path
        try:
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        except OSError:
            break
    yield os.path.realpath(path)


def _prefix(directory: str, home: str) -> Iterator[str]:
    """What has to be readable for the programs in a directory."""
    if any(_holds(root, directory) for root in SYSTEM):
        return
    prefix = os.path.dirname(directory)
    shared = {os.path.normpath(os.path.join(home, name)) for name in SHARED}
    if os.path.basename(directory) not in PROGRAMS or prefix in shared or prefix.count("/") < 2:
        prefix = directory
    if not _holds(prefix, home):  # never the home directory, nor what it is in
        yield prefix
