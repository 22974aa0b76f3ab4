"""What has to be readable for programs that are not the system's: version managers, virtual environments."""

from __future__ import annotations

import os
from collections.abc import Iterator

from skillc.tools.launch import Launch
from skillc.tools.shebang import chain

# Where systems keep their programs and what those need.
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"),
    *("/nix", "/gnu/store", "/snap", "/run/current-system", "/var/lib/flatpak"),
    "/sys/devices/system",
)
PROGRAMS = ("bin", "sbin", "condabin", "libexec", "shims")  # directories of programs in a prefix
# What programs need of their prefix. The rest of it may be settings with secrets: ~/.fly, ~/.pulumi,
# ~/.docker and others keep their programs beside them.
PARTS = (
    *(
        *PROGRAMS,
        "lib",
        "lib32",
        "lib64",
        "share",
        "include",
        "ssl",
        "conf",
        "jmods",
        "pkg",
        "src",
        "release",
    ),
    *("versions", "version", "installs", "plugins", "tools", "toolchains", "node_modules", "Cellar"),
    *("pyvenv.cfg", "pyenv.d", "rbenv.d", "nodenv.d", "VERSION", "go.env"),
)
SHARED = ("", ".local", ".config", ".cargo")  # below the home directory: no prefixes of one program
LINKS = 40  # symbolic links to follow from a program


def prefixes(launch: Launch, home: str) -> Iterator[str]:
    """What the program, its interpreters, and everything on PATH need.

    Version managers keep whole installations below the home directory, and reach them from the
    entries of PATH. A skill's own files open nothing: their first line may name any path.
    """
    path = launch.env.get("PATH", "")
    of_skill = holds(launch.skill_dir, launch.argv[0])
    for program in chain(launch.argv[0], path, believed=not of_skill):
        for step in _links(program):
            yield from _prefix(os.path.dirname(step), home)
    for entry in path.split(os.pathsep):
        if os.path.isabs(entry) and os.path.isdir(entry):
            yield from _prefix(os.path.normpath(entry), home)


def holds(directory: str, path: str) -> bool:
    """Whether `path` is `directory` or in it."""
    return path == directory or path.startswith(os.path.join(directory, ""))


def _links(path: str) -> Iterator[str]:
    """`path`, and each place that symbolic links lead to from it."""
    path = os.path.normpath(path)
    for _ in range(LINKS):
        yield path
        try:
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        except OSError:
            break
    yield os.path.realpath(path)


def _prefix(directory: str, home: str) -> Iterator[str]:
    """What has to be readable for the programs in a directory."""
    if any(holds(root, directory) for root in SYSTEM) or holds(directory, home):
        return
    yield directory
    prefix = os.path.dirname(directory)
    shared = {os.path.normpath(os.path.join(home, name)) for name in SHARED}
    own = prefix not in shared and prefix.count("/") > 1 and not holds(prefix, home)
    if own and os.path.basename(directory) in PROGRAMS:
        yield from filter(os.path.exists, (os.path.join(prefix, part) for part in PARTS))
