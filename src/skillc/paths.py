"""Every path convention, once: home, projects, stores, runtime directories and what is in them.

Paths are text, not `pathlib` objects: the commands that agents call pass through here.
"""

from __future__ import annotations

import os

from skillc.errors import SkillcError
from skillc.startup.digest import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY = ".skillc"
ALTERNATIVE = ".rkat"  # where the design document has skills.toml and skills; read, never written [D23]
SKILL_FILE = "SKILL.md"
SKILL_FILES = (
    SKILL_FILE,
    SKILL_FILE.lower(),
)  # the second is what some write, and the reference tool accepts


def user_home() -> str | None:
    """The user's home directory; agents' own directories are below it [D13]. None if there is none."""
    if os.environ.get("HOME") == "":  # which expanduser takes for the root of the file system
        return None
    home = os.path.expanduser("~")
    return os.path.abspath(home) if home and home != "~" else None


def home() -> str | None:
    """The directory that holds the global `.skillc`: SKILLC_HOME, else the user's home."""
    moved = os.environ.get("SKILLC_HOME")
    return os.path.abspath(moved) if moved else user_home()


def require_home() -> str:
    """`home()`, for what cannot be done without one."""
    found = home()
    if found is None:
        raise SkillcError("there is no home directory; set HOME or SKILLC_HOME")
    return found


def current_directory() -> str:
    """The working directory, which may have been deleted under us."""
    try:
        return os.getcwd()
    except OSError:
        raise SkillcError("the current directory no longer exists; change to another one") from None


def project_roots(start: str) -> Iterator[str]:
    """The directories from `start` upwards that have a `.skillc`; never the home directory."""
    return filter(_is_project, _upwards(start))


def library_roots(start: str) -> Iterator[str]:
    """The same, and those that have a `.rkat` alone: whose repositories and skills count."""
    return (
        directory
        for directory in _upwards(start)
        if _is_project(directory) or os.path.isdir(os.path.join(directory, ALTERNATIVE))
    )


def _upwards(start: str) -> Iterator[str]:
    """The directories from `start` upwards, without the home directory."""
    not_a_project = home()
    if not_a_project is not None:
        not_a_project = os.path.realpath(not_a_project)
    directory = os.path.realpath(start)
    while True:
        if directory != not_a_project:
            yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _is_project(directory: str) -> bool:
    """Whether a directory has a `.skillc` that holds more than the logs of a session elsewhere."""
    try:
        return os.listdir(os.path.join(directory, DIRECTORY)) != ["logs"]
    except OSError:
        return False


def skills_store(root: str) -> str:
    """Where the sources of a project's (or the home's) skills are."""
    return os.path.join(root, DIRECTORY, "skills")


def runtime_store(root: str) -> str:
    """Where compiled skills are: the single source of truth that agents' directories link to."""
    return os.path.join(root, DIRECTORY, "runtime")


def cache_directory() -> str:
    """What can be fetched or made again; safe to delete while nothing runs."""
    return os.path.join(require_home(), DIRECTORY, "cache")


def config_file(root: str) -> str:
    return os.path.join(root, DIRECTORY, "config.toml")


def config_files(cwd: str) -> list[str]:
    """The settings that count in `cwd`: the nearest project's that has some, then the home's."""
    nearest = next(filter(os.path.exists, map(config_file, _upwards(cwd))), None)  # that makes it a project
    root = home()
    everywhere = config_file(root) if root else None
    return [path for path in (nearest, everywhere) if path and os.path.exists(path)]


def embedded_skills() -> str:
    """The folder of the skills that ship with skillc itself."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "embedded")


def trust_file(root: str) -> str:
    """What the user allowed to run and what not: in the home, never in a project [D46]."""
    return os.path.join(root, DIRECTORY, "trust.json")


def library_file(root: str) -> str:
    """The index over the skills of all folders: a cache, safe to remove."""
    return os.path.join(root, DIRECTORY, "cache", "library.db")


def vectors_file(root: str) -> str:
    """What the re-ranker made of descriptions: a cache, safe to remove."""
    return os.path.join(root, DIRECTORY, "cache", "vectors.db")


def stub_file(runtime: str) -> str:
    return os.path.join(runtime, SKILL_FILE)


def manifest_file(runtime: str) -> str:
    return os.path.join(runtime, DIRECTORY, "manifest.json")


def meta_directory(runtime: str) -> str:
    return os.path.join(runtime, ".skillc-meta")


def index_file(runtime: str, source: str) -> str:
    """The index of `source`, a canonical path, in a runtime directory [RFC-0004:C-INDEX]."""
    return os.path.join(meta_directory(runtime), f"search-{path_hash(source)}.db")


def path_hash(path: str) -> str:
    """The first 16 hex digits of the SHA-256 of a path."""
    return sha256_hex(os.fsencode(path))[:16]


def is_inside(path: str, root: str) -> bool:
    """Return whether a canonical path is `root` or below it."""
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)


def config_stamps(cwd: str) -> tuple[tuple[str | int, ...], ...]:
    """Return the stamp of every skills.toml that could configure the library in `cwd`, also of missing ones.

    Path, inode, size, times of modification and change: while they are equal, so is the configuration.
    """
    root = home()
    stamps: list[tuple[str | int, ...]] = []
    for directory in (*library_roots(cwd), *([root] if root else [])):
        for name in (DIRECTORY, ALTERNATIVE):
            path = os.path.join(directory, name, "skills.toml")
            try:
                status = os.stat(path)
                stamps.append((path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
            except OSError:
                stamps.append((path,))
    return tuple(stamps)
