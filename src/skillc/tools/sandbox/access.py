"""Which paths a command may read and write inside a sandbox; the deepest path that is named decides."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skillc.paths import is_inside
from skillc.tools.environment import list_programs, read_bytes
from skillc.tools.sandbox.process import Launch

HIDE, READ, WRITE = "hide", "read", "write"

# Where systems keep their programs and what those need.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"),
    *("/nix", "/gnu/store", "/snap", "/run/current-system", "/var/lib/flatpak"),
    "/sys/devices/system",
)
# Secrets among the system's files; without root they could not be read anyway.
SECRETS = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d"),
    *("/etc/ssh", "/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/security/opasswd"),
    *("/etc/kubernetes", "/etc/rancher", "/etc/docker", "/etc/NetworkManager/system-connections"),
    *("/etc/wireguard", "/etc/ppp", "/etc/letsencrypt"),
)
PROGRAMS = ("bin", "sbin", "condabin", "libexec", "shims")  # directories of programs in a prefix
# What programs need of their prefix. The rest of it may be settings with secrets: ~/.fly, ~/.pulumi,
# ~/.docker and others keep their programs beside them.
PARTS = (
    *PROGRAMS,
    *("lib", "lib32", "lib64", "share", "include", "ssl", "conf", "jmods", "pkg", "src", "release"),
    *("versions", "version", "installs", "plugins", "tools", "toolchains", "node_modules", "Cellar"),
    *("pyvenv.cfg", "pyenv.d", "rbenv.d", "nodenv.d", "VERSION", "go.env"),
)
SHARED = ("", ".local", ".config", ".cargo")  # below the home directory: no prefixes of one program
LINKS = 40  # symbolic links to follow from a program
ENTRIES = 256  # of the home directory that are shown, where that is the working directory


def home_directory(launch: Launch) -> str:
    """Return the command's HOME, links resolved."""
    return os.path.realpath(launch.env.get("HOME") or "/nonexistent")


def access_rules(launch: Launch) -> dict[str, str]:
    """Return what may be done at which path. A path that is not named, nor below one, is not there."""
    home = home_directory(launch)
    rules = dict.fromkeys(filter(os.path.exists, SYSTEM), READ)
    if os.geteuid() == 0:
        rules |= dict.fromkeys(filter(os.path.exists, SECRETS), HIDE)
    rules |= dict.fromkeys(_program_paths(launch, home), READ)
    if launch.network:  # /etc/resolv.conf, by which hosts are looked up, often leads to /run
        rules |= dict.fromkeys(filter(os.path.exists, [os.path.realpath("/etc/resolv.conf")]), READ)
    if home != "/":
        rules.setdefault(home, HIDE)
    mode = READ if launch.read_only else WRITE
    rules |= dict.fromkeys(working_paths(launch.cwd, home), mode)
    if git := find_repository(launch.cwd):
        rules |= dict.fromkeys(working_paths(git, home), mode)
    for path in working_paths(launch.skill_dir, home):
        if path != launch.cwd:  # a command that works in the skill's own folder may change it
            rules[path] = READ
    return {path: mode for path, mode in rules.items() if mode != _rule_above(path, rules)}


def _rule_above(path: str, rules: dict[str, str]) -> str | None:
    """Return the rule of the nearest directory above, which need not be repeated."""
    while path != "/":
        path = os.path.dirname(path)
        if path in rules:
            return rules[path]
    return None


def working_paths(cwd: str, home: str) -> list[str]:
    """Return the working directory; where that holds the home directory, only what is not hidden in it.

    Secrets are in the home directory under names with a dot: a command that runs there gets the
    others. New files at its top could have such names too, so the directory itself is left out.
    """
    if not is_inside(home, cwd):
        return [cwd]
    if cwd == "/":
        return []
    try:
        names = sorted(name for name in os.listdir(cwd) if not name.startswith("."))[:ENTRIES]
    except OSError:
        return []
    paths = [os.path.join(cwd, name) for name in names]
    return [path for path in paths if not is_inside(home, path) and not os.path.islink(path)]


def _program_paths(launch: Launch, home: str) -> Iterator[str]:
    """Yield what the program, its interpreters, and everything on PATH need to be readable.

    Version managers keep whole installations below the home directory, and reach them from the
    entries of PATH. A skill's own files open nothing: their first line may name any path.
    """
    path = launch.env.get("PATH", "")
    of_skill = is_inside(launch.argv[0], launch.skill_dir)
    for program in list_programs(launch.argv[0], path, trust_script=not of_skill):
        for step in _follow_links(program):
            yield from _prefix_paths(os.path.dirname(step), home)
    for entry in path.split(os.pathsep):
        if os.path.isabs(entry) and os.path.isdir(entry):
            yield from _prefix_paths(os.path.normpath(entry), home)


def _follow_links(path: str) -> Iterator[str]:
    """Yield `path`, and each place that symbolic links lead to from it."""
    path = os.path.normpath(path)
    for _ in range(LINKS):
        yield path
        try:
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        except OSError:
            break
    yield os.path.realpath(path)


def _prefix_paths(directory: str, home: str) -> Iterator[str]:
    """Yield what has to be readable for the programs in a directory."""
    if any(is_inside(directory, root) for root in SYSTEM) or is_inside(home, directory):
        return
    yield directory
    prefix = os.path.dirname(directory)
    others = [os.path.normpath(os.path.join(home, name)) for name in SHARED]
    own = prefix not in others and prefix.count("/") > 1 and not is_inside(home, prefix)
    if own and os.path.basename(directory) in PROGRAMS:
        yield from filter(os.path.exists, (os.path.join(prefix, part) for part in PARTS))


def find_repository(worktree: str) -> str | None:
    """Return the `.git` directory that a linked worktree of git belongs to; None for anything else.

    Git needs it, and it is elsewhere. A `.git` file may have come with a project and point anywhere,
    so it only counts where the repository itself names this worktree among its own.
    """
    pointer = os.path.join(worktree, ".git")
    line = _first_line(pointer)
    if not line.startswith("gitdir: "):
        return None
    entry = os.path.realpath(os.path.join(worktree, line.removeprefix("gitdir: ")))
    entries = os.path.dirname(entry)
    repository = os.path.dirname(entries)
    if os.path.basename(entries) != "worktrees" or not os.path.isfile(os.path.join(repository, "HEAD")):
        return None
    back = _first_line(os.path.join(entry, "gitdir"))
    same = os.path.isabs(back) and os.path.realpath(back) == os.path.realpath(pointer)
    return repository if same else None


def _first_line(path: str) -> str:
    """Return the first line of a small file; empty if there is none."""
    lines = read_bytes(path, 4096).splitlines() if os.path.isfile(path) else []
    return lines[0].decode("utf-8", "surrogateescape") if lines else ""


def permissions(launch: Launch) -> list[str]:
    """Return what the command will be able to do, a line each, for the person that is asked to approve it."""
    if launch.sandbox == "none":
        return [
            "no sandbox: it can do everything that you can",
            "read, change and delete any of your files",
            "use the network",
        ]
    where = f"what is not hidden (no leading dot) in {launch.cwd}"
    if working_paths(launch.cwd, home_directory(launch)) == [launch.cwd]:
        git = find_repository(launch.cwd)
        where = f"the working directory {launch.cwd}{f' and its repository {git}' if git else ''}"
    return [
        f"sandbox: {launch.sandbox}",
        f"read: system programs, the skill's folder {launch.skill_dir}, {where}",
        f"write: {'nothing' if launch.read_only else where}, besides a private temporary directory",
        f"network: {'yes, any host' if launch.network else 'none'}",
        f"time: {launch.timeout:g} s",
    ]
