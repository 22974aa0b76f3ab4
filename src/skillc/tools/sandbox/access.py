"""Say what a command may read, write and execute. Every sandbox is generated from this alone.

What is not named, nor below something that is named, can't be reached; the deepest path that is named
decides. What can be read can be executed, except for devices.
"""

from __future__ import annotations

import functools
import os
import pwd
import stat
import time
from collections.abc import Iterator
from contextlib import suppress

from skillc import paths
from skillc.paths import is_inside
from skillc.tools.environment import list_programs, read_bytes
from skillc.tools.sandbox.process import Launch

HIDE, READ, WRITE = "hide", "read", "write"

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")  # to read and write
# Where systems keep their programs and what those need.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"),
    *("/nix", "/gnu/store", "/snap", "/run/current-system", "/var/lib/flatpak"),
    "/sys/devices/system",
)
# Secrets among the system's files, which a user may read as the member of a group.
SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssl/private")
# Root can read everything, so in these directories only what everybody can read is opened to it. The numbers
# are those of entries to look at in a directory of these; one with more is opened in parts.
MIXED = {"/etc": 2000, "/opt": 200, "/usr": 200, "/usr/local": 200}
# Directories that only package managers fill; they are not searched for what is private.
INSTALLED = frozenset(
    ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share", "include", "games", "src")
)
AGE = 10  # seconds after which these directories are searched again; a command may live longer than that
MOUNTS = 64  # private paths in a directory of these; one with more is opened in parts, too
PROGRAMS = ("bin", "sbin", "condabin", "libexec", "shims")  # directories of programs in a prefix
# What programs need of their prefix. The rest of it may be settings with secrets: ~/.fly, ~/.pulumi,
# ~/.docker and others keep their programs beside them.
PARTS = (
    *PROGRAMS,
    *("lib", "lib32", "lib64", "share", "include", "ssl", "conf", "jmods", "pkg", "src", "release"),
    *("versions", "version", "installs", "plugins", "tools", "toolchains", "node_modules", "Cellar"),
    *("pyvenv.cfg", "pyenv.d", "rbenv.d", "nodenv.d", "VERSION", "go.env"),
)
NO_HOMES = ("/", "/dev", "/proc", *SYSTEM)
SHARED = ("", ".local", ".config", ".cargo")  # below the home directory: no prefixes of one program
LINKS = 40  # symbolic links to follow from a program
ENTRIES = 256  # of the home directory that are shown, where that is the working directory


def access_rules(launch: Launch) -> dict[str, str]:
    """Return what may be done at which path."""
    homes = list_homes(launch)
    folders = [*working_paths(launch.cwd, *homes), *working_paths(launch.skill_dir, *homes)]
    rules = _system_rules(folders)
    rules |= dict.fromkeys(list(_program_paths(launch, homes, rules)), READ)
    if launch.network:  # /etc/resolv.conf, by which hosts are looked up, often leads to /run
        rules |= dict.fromkeys(filter(os.path.exists, [os.path.realpath("/etc/resolv.conf")]), READ)
    for home in homes:
        rules.setdefault(home, HIDE)
    rules |= dict.fromkeys(launch.reads, READ)
    if launch.owns_home:
        rules[own_home(launch)] = WRITE
    mode = READ if launch.read_only else WRITE
    rules |= dict.fromkeys(working_paths(launch.cwd, *homes), mode)
    if git := find_repository(launch.cwd):
        rules |= dict.fromkeys(working_paths(git, *homes), mode)
    for path in working_paths(launch.skill_dir, *homes):
        if path != launch.cwd:  # a command that works in the skill's own folder may change it
            rules[path] = READ
    _protect_stores(rules, launch, homes)
    rules = {path: mode for path, mode in rules.items() if mode != _rule_above(path, rules)}
    rules = {path: mode for path, mode in rules.items() if mode != HIDE or os.path.exists(path)}
    return rules | dict.fromkeys(_fixed_paths(rules), WRITE)


def rule_for(path: str, rules: dict[str, str]) -> str | None:
    """Return the rule that decides about a path; None if nothing opens it."""
    return rules.get(path) or _rule_above(path, rules)


def _rule_above(path: str, rules: dict[str, str]) -> str | None:
    """Return the rule of the nearest directory above, which need not be repeated."""
    while path != "/":
        path = os.path.dirname(path)
        if path in rules:
            return rules[path]
    return None


def _fixed_paths(rules: dict[str, str]) -> Iterator[str]:
    """Yield the directories that could be moved away together with what is not to be changed in them.

    Named by a rule of its own a directory is a mount, and a mount can't be renamed.
    """
    for path, mode in rules.items():
        above = os.path.dirname(path)
        while mode != WRITE and above not in rules and _rule_above(above, rules) == WRITE:
            yield above
            above = os.path.dirname(above)


# The home directories.


def own_home(launch: Launch) -> str:
    """Return the directory that programs will take for the command's home, links resolved."""
    name = launch.env.get("HOME", "")
    return os.path.realpath(name if os.path.isabs(name) else _account_home() or "/nonexistent")


def list_homes(launch: Launch) -> list[str]:
    """Return every home directory of the user: HOME may be unset or wrong, and the account has one too.

    A relative HOME, or one with `..` behind a link, is one place to programs and another to skc, which lets
    commands work there. Accounts of services have "/" or a directory of programs for a home; those hold
    nothing to hide.
    """
    others = [os.path.realpath(home or "/") for home in (paths.user_home(), _account_home())]
    own = [] if launch.owns_home else [own_home(launch)]
    homes = dict.fromkeys([*own, *others])
    return [home for home in homes if home not in NO_HOMES and not _is_installed(home)]


def _is_installed(directory: str) -> bool:
    return is_inside(directory, "/usr") and os.path.basename(directory) in INSTALLED


@functools.cache
def _account_home() -> str:
    """Return the home directory in the system's list of users, asked once in a process; empty without."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""


def working_paths(cwd: str, *homes: str) -> list[str]:
    """Return the working directory; where that holds a home directory, only what is not hidden in it.

    Secrets are in the home directory under names with a dot: a command that runs there gets the
    others. New files at its top could have such names too, so the directory itself is left out.
    """
    if not any(is_inside(home, cwd) for home in homes):
        return [cwd]
    if cwd == "/":
        return []
    try:
        names = sorted(name for name in os.listdir(cwd) if not name.startswith("."))[:ENTRIES]
    except OSError:
        return []
    entries = [os.path.join(cwd, name) for name in names]
    return [
        path
        for path in entries
        if not any(is_inside(home, path) for home in homes) and not os.path.islink(path)
    ]


def _protect_stores(rules: dict[str, str], launch: Launch, homes: list[str]) -> None:
    """Let no command write where skc keeps skills, settings and the user's decisions.

    The user's own `.skillc` is hidden if the working directory holds it, and read-only if it is the
    working directory; a project's is read-only.
    """
    project = os.path.join(launch.cwd, paths.DIRECTORY)
    if os.path.isdir(project) and rules.get(launch.cwd) == WRITE and not os.path.islink(project):
        rules.setdefault(project, READ)
    stores = _user_stores(homes)
    for store in stores:
        rule = rule_for(store, rules)
        is_absent = os.path.basename(store) == paths.DIRECTORY and not os.path.lexists(store)
        if rule == WRITE and is_absent:  # what is not there can't be hidden
            os.makedirs(store, mode=0o700, exist_ok=True)
        if rule in (READ, WRITE) and not is_inside(launch.cwd, store) and store != launch.skill_dir:
            rules[store] = HIDE
    for path, mode in rules.items():
        if mode == WRITE and any(is_inside(path, store) for store in stores):
            rules[path] = READ


def _user_stores(homes: list[str]) -> list[str]:
    """Return the user's own `.skillc` directories, and where a link in place of trust.json leads to."""
    roots = dict.fromkeys([*homes, *filter(None, [paths.home()])])
    names = [name for root in roots for name in (os.path.join(root, paths.DIRECTORY), paths.trust_file(root))]
    folders = dict.fromkeys(map(os.path.realpath, names))
    return [path for path in folders if not any(is_inside(path, other) for other in folders if other != path)]


# The system.


def _system_rules(folders: list[str]) -> dict[str, str]:
    """Return the rules for the system; what is in `folders` is the command's own, except in /etc."""
    rules = dict.fromkeys(filter(os.path.exists, SYSTEM), READ)
    if os.geteuid() != 0:
        readable = (path for path in SECRETS if os.access(path, os.R_OK))
        return rules | {path: HIDE for path in readable if _is_private(os.stat(path).st_mode)}
    own = [folder for folder in folders if not is_inside(folder, "/etc")]
    private = _search_system(int(time.monotonic() // AGE)).items()
    return rules | {path: rule for path, rule in private if not any(is_inside(path, part) for part in own)}


@functools.lru_cache(maxsize=1)
def _search_system(period: int) -> dict[str, str]:
    """Return what root can read and others can't. The last result is kept for its period."""
    rules: dict[str, str] = {}
    for root, most in MIXED.items():
        for entry in _list_entries(root):
            if entry.path not in MIXED and not _is_installed(entry.path):
                rules |= _private_rules(entry, most)
    return rules


def _is_private(mode: int) -> bool:
    """Return whether other users can't read a file, or not look into a directory."""
    return not mode & stat.S_IROTH or (stat.S_ISDIR(mode) and not mode & stat.S_IXOTH)


def _list_entries(directory: str) -> list[os.DirEntry[str]]:
    """Return what is in a directory, without links: what they lead to has a rule of its own."""
    try:
        with os.scandir(directory) as entries:
            return [entry for entry in entries if not entry.is_symlink()]
    except OSError:
        return []


def _private_rules(root: os.DirEntry[str], most: int) -> dict[str, str]:
    """Return the rules that hide what is private at `root` and below it, or open only parts of it."""
    private: list[str] = []
    queue = [root]
    for entry in queue:
        with suppress(OSError):  # it is gone
            if _is_private(entry.stat(follow_symlinks=False).st_mode):
                private.append(entry.path)
            elif entry.is_dir(follow_symlinks=False) and (
                entry.name not in INSTALLED or entry.path.startswith("/etc/")
            ):
                queue += _list_entries(entry.path)
        if len(queue) > most or len(private) > MOUNTS:
            parts = (os.path.join(root.path, part) for part in PARTS)
            return {root.path: HIDE} | {part: READ for part in parts if os.path.exists(part)}
    return dict.fromkeys(private, HIDE)


# Programs.


def _program_paths(launch: Launch, homes: list[str], rules: dict[str, str]) -> Iterator[str]:
    """Yield what the program, its interpreters, and everything on PATH need to be readable.

    Version managers keep whole installations below the home directory, and reach them from the
    entries of PATH. Files of the skill open nothing, whatever their first line or a link says. Files
    of the working directory only open directories of programs: a virtual environment links to one.
    """
    folders = [launch.skill_dir, *(path for path in working_paths(launch.cwd, *homes) if path == launch.cwd)]

    def is_trusted(path: str) -> bool:
        names = (path, os.path.realpath(path))
        return not any(is_inside(name, folder) for name in names for folder in folders)

    path = launch.env.get("PATH", "")
    directories: dict[str, None] = {}
    for program in list_programs(launch.argv[0], path, is_trusted):
        for step in _follow_links(program):
            directory = os.path.dirname(step)
            is_program = is_trusted(step) and os.path.basename(directory) in PROGRAMS
            if is_trusted(program) or (is_program and not is_inside(program, launch.skill_dir)):
                directories[directory] = None
    for entry in path.split(os.pathsep):
        if os.path.isabs(entry) and os.path.isdir(entry) and is_trusted(entry):
            directories[os.path.normpath(entry)] = None
    for directory in directories:
        if rule_for(directory, rules) != READ:
            yield from _prefix_paths(directory, homes)


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


def _prefix_paths(directory: str, homes: list[str]) -> Iterator[str]:
    """Yield what has to be readable for the programs in a directory."""
    if any(is_inside(home, directory) for home in homes):
        return
    yield directory
    prefix = os.path.dirname(directory)
    others = [os.path.normpath(os.path.join(home, name)) for home in homes for name in SHARED]
    holds_home = any(is_inside(home, prefix) for home in homes)
    own = prefix not in others and prefix.count("/") > 1 and not holds_home
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
    homes = list_homes(launch)
    if working_paths(launch.cwd, *homes) == [launch.cwd]:
        git = find_repository(launch.cwd)
        where = f"the working directory {launch.cwd}{f' and its repository {git}' if git else ''}"
    in_store = any(is_inside(launch.cwd, store) for store in _user_stores(homes))
    can_write = not launch.read_only and not in_store
    return [
        f"sandbox: {launch.sandbox}",
        f"read: system programs, the skill's folder {launch.skill_dir}, {where}",
        f"write: {where if can_write else 'nothing'}, besides a private temporary directory",
        f"network: {'yes, any host' if launch.network else 'none'}",
        f"time: {launch.timeout:g} s",
    ]
