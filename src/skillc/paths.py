"""Path conventions: home, projects, stores, runtime directories and the files in them.

Paths are text, not `pathlib` objects: the commands that agents call pass through here.
"""

from __future__ import annotations

import os
import stat

from skillc.errors import SkillcError
from skillc.startup import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MINIMAL_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"  # what a desktop gives to what it starts
DIRECTORY = ".skillc"
ALTERNATIVE = ".rkat"  # another place for skills.toml and skills; read, never written [D23]
SKILL_FILE = "SKILL.md"
MAX_SKILL_FILE = 1 << 20  # bytes of a SKILL.md; a larger one is quarantined [D25]
LOCK_FILE = "skills-lock.json"  # of a project, beside its .skillc
PIECE = 1 << 15  # bytes; memory for more takes long to allocate
_READ_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
VERSION_CONTROL = frozenset((".git", ".hg", ".svn"))  # folders of a project that no clone brings
CASES_FOLDER = "evals"  # of a skill: cases for 'skc eval', which no agent sees
EVALUATIONS = "evaluations"  # notes in the cache on workspaces of 'skc eval', which are elsewhere
SKILL_FILES = (SKILL_FILE, SKILL_FILE.lower())  # the reference tool accepts the second, too


def user_home() -> str | None:
    """Return the user's home directory, where agents have their own directories [D13]; None without one."""
    if os.environ.get("HOME") == "":  # expanduser would return the root of the file system
        return None
    home = os.path.expanduser("~")
    return os.path.abspath(home) if home and home != "~" else None


def home() -> str | None:
    """Return the directory that holds the global `.skillc`: SKILLC_HOME, else the user's home."""
    override = os.environ.get("SKILLC_HOME")
    if override:
        return os.path.abspath(override)
    directory = os.environ.get("HOME", "")
    is_odd = "/." in directory or "//" in directory or directory[-1:] == "/" or os.name != "posix"
    return directory if directory[:1] == "/" and not is_odd else user_home()  # most are as they should be


def require_home() -> str:
    """Return `home()`; raise SkillcError where there is none."""
    directory = home()
    if directory is None:
        raise SkillcError("there is no home directory; set HOME or SKILLC_HOME")
    return directory


def why_closed(directory: str) -> str:
    """Return why it may not be seen whether a directory is a skill; empty where that can be seen."""
    try:
        os.stat(os.path.join(directory, SKILL_FILES[0]))
    except PermissionError as error:
        return str(error.strerror)
    except OSError:
        return ""
    return ""


def current_directory() -> str:
    """Return the working directory; raise SkillcError where it has been deleted."""
    try:
        return os.getcwd()
    except OSError:
        raise SkillcError("the current directory no longer exists; change to another one") from None


def project_roots(start: str) -> Iterator[str]:
    """Yield the directories from `start` upwards that have a `.skillc`; never the home directory."""
    return filter(_is_project, _walk_up(start))


def lock_roots(start: str) -> Iterator[str]:
    """Yield the directories from `start` upwards that have a lock file of this user's; never the home."""
    places = ((directory, os.path.join(directory, LOCK_FILE)) for directory in _walk_up(start))
    return (directory for directory, path in places if os.path.isfile(path) and is_own(path))


def library_roots(start: str) -> Iterator[str]:
    """Yield the directories from `start` upwards that have a `.skillc` or a `.rkat`; never the home."""
    return (d for d in _walk_up(start) if _is_project(d) or _has_alternative(d))


def _walk_up(start: str) -> Iterator[str]:
    """Yield the directories from `start` upwards, without the home directory."""
    root = home()
    home_path = _real_home(root) if root is not None else None
    directory = start if start == _cwd() else os.path.realpath(start)
    return (each for each in with_parents(directory) if each != home_path)


_real_homes: dict[str, str] = {}  # a cache: where home directories are, by their names; kept to the end


def _real_home(root: str) -> str:
    """Return the canonical path of a home directory, which every command asks for several times."""
    if root not in _real_homes:
        _real_homes[root] = os.path.realpath(root)
    return _real_homes[root]


def with_parents(directory: str) -> Iterator[str]:
    """Yield a directory and all that it is in, upwards."""
    parent = ""
    while parent != directory:
        parent = directory
        yield directory
        directory = os.path.dirname(directory)


def _cwd() -> str | None:
    """Return the working directory, which is a canonical path; None where it has been deleted."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _is_project(directory: str) -> bool:
    """Return whether a directory has a `.skillc` that holds more than logs of skills from elsewhere."""
    path = os.path.join(directory, DIRECTORY)
    try:
        return os.listdir(path) != ["logs"] and is_own(path)
    except OSError:
        return False


def _has_alternative(directory: str) -> bool:
    path = os.path.join(directory, ALTERNATIVE)
    return os.path.isdir(path) and is_own(path)


def is_own(path: str) -> bool:
    """Return whether a `.skillc` or `.rkat` may be obeyed: it belongs to this user, as git wants it, too.

    Else any user could put a configuration into a directory above, such as /tmp. Under sudo, root also obeys
    the user that called it. What does not exist is not refused.
    """
    if os.name != "posix":
        return True
    try:
        status = os.lstat(path)
        owners = {status.st_uid, os.stat(path).st_uid if stat.S_ISLNK(status.st_mode) else status.st_uid}
    except OSError:
        return True
    user, caller = os.geteuid(), os.environ.get("SUDO_UID", "")
    users = {user, int(caller)} if user == 0 and caller.isdecimal() else {user}
    return owners <= users or _is_safe(os.path.dirname(path))


def _is_safe(directory: str) -> bool:
    """Return whether the user named a directory in SKILLC_SAFE_DIRECTORIES."""
    names = filter(None, os.environ.get("SKILLC_SAFE_DIRECTORIES", "").split(os.pathsep))
    real = os.path.realpath(directory)
    return any(name == "*" or os.path.realpath(name) == real for name in names)


def foreign_directories(start: str) -> list[str]:
    """Return the `.skillc` and `.rkat` from `start` upwards that are another user's, and so not obeyed."""
    places = (os.path.join(d, name) for d in _walk_up(start) for name in (DIRECTORY, ALTERNATIVE))
    return [path for path in places if not is_own(path)]


def skills_store(root: str) -> str:
    """Return the folder for the sources of a project's (or the home's) skills."""
    return os.path.join(root, DIRECTORY, "skills")


def runtime_store(root: str) -> str:
    """Return the folder for compiled skills, which agents' directories link to."""
    return os.path.join(root, DIRECTORY, "runtime")


def cache_directory() -> str:
    """Return the folder of caches; safe to delete while no command runs."""
    return os.path.join(require_home(), DIRECTORY, "cache")


def recent_copies() -> str:
    """Return the folder of notes, which say for a minute which copy the ID of a repository's skill means."""
    return os.path.join(cache_directory(), "skills", "recent")


def mutex_file(path: str) -> str:
    """Return the file that processes lock while they change the file at `path`; it is not beside it.

    For files in places that are not ours, where another file would be in the way.
    """
    folder = os.path.join(cache_directory(), "locks")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    return os.path.join(folder, path_hash(os.path.realpath(path)))


def make_private(directory: str) -> None:
    """Create a directory that its owner alone can enter; take others out of one that is there."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    keep_private(directory)


def keep_private(path: str) -> None:
    """Take the rights of others away from a file or directory of this user, if it has any."""
    if os.name != "posix":
        return
    try:
        status = os.lstat(path)
        if status.st_mode & 0o077 and status.st_uid == os.geteuid() and not stat.S_ISLNK(status.st_mode):
            os.chmod(path, stat.S_IMODE(status.st_mode) & 0o700)
    except OSError:  # it is gone, or has no rights that could change
        pass


def keep_private_database(path: str) -> None:
    """Do what `keep_private` does for an SQLite database and the files beside it."""
    for end in ("", "-wal", "-shm"):
        keep_private(path + end)


def config_file(root: str) -> str:
    return os.path.join(root, DIRECTORY, "config.toml")


def config_files(cwd: str) -> list[str]:
    """Return the config.toml files for `cwd`: the nearest project's, then the home's."""
    files = filter(os.path.exists, map(config_file, _walk_up(cwd)))
    nearest = next((path for path in files if is_own(os.path.dirname(path))), None)
    root = home()
    fallback = config_file(root) if root else None
    return [path for path in (nearest, fallback) if path and os.path.exists(path)]


def embedded_skills() -> str:
    """Return the folder of the skills that ship with skillc itself."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "embedded")


def trust_file(root: str) -> str:
    """Return the file of the tools that the user trusts: in the home, never in a project [D46]."""
    return os.path.join(root, DIRECTORY, "trust.json")


def imports_directory(root: str) -> str:
    """Return the folder of the notes on skills that were imported into stores [D46, D53]."""
    return os.path.join(root, DIRECTORY, "imports")


def registry_directory(root: str) -> str:
    """Return the folder of the registry on this machine: its database and its blobs."""
    return os.path.join(root, DIRECTORY, "registry")


def library_file(root: str) -> str:
    """Return the file of the skill index: a cache, safe to remove."""
    return os.path.join(root, DIRECTORY, "cache", "library.db")


def stub_file(runtime: str) -> str:
    return os.path.join(runtime, SKILL_FILE)


def manifest_file(runtime: str) -> str:
    return os.path.join(runtime, DIRECTORY, "manifest.json")


def meta_directory(runtime: str) -> str:
    return os.path.join(runtime, ".skillc-meta")


def on_demand_directory(runtime: str) -> str:
    """Return the runtime directory for agents in which a skill is on demand [D75]."""
    return os.path.join(meta_directory(runtime), "on-demand")


def index_file(runtime: str, source: str) -> str:
    """Return the section index of `source`, a canonical path, in a runtime directory [RFC-0004:C-INDEX]."""
    return os.path.join(meta_directory(runtime), f"search-{path_hash(source)}.db")


def path_hash(path: str) -> str:
    """Return the first 16 hex digits of the SHA-256 of a path."""
    return sha256_hex(os.fsencode(path))[:16]


def is_link(path: str) -> bool:
    """Return whether a path is a symbolic link or a junction."""
    is_junction = getattr(os.path, "isjunction", os.path.islink)  # Python 3.12 and newer
    return os.path.islink(path) or bool(is_junction(path))


def is_inside(path: str, root: str) -> bool:
    """Return whether a canonical path is `root` or below it."""
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)


def is_home(root: str) -> bool:
    """Return whether a root is the home, not a project."""
    directory = home()
    return directory is not None and os.path.realpath(root) == os.path.realpath(directory)


def leads_out(directory: str, project: str) -> bool:
    """Return whether a project's directory is outside of it, or in its version control, links resolved.

    A clone may bring such a link. Version control is outside because no clone can bring files there, and git
    runs what it finds in some places.
    """
    real, root = os.path.realpath(directory), os.path.realpath(project)
    words = real[len(root) :].lower().split(os.sep)
    return not is_inside(real, root) or not VERSION_CONTROL.isdisjoint(words)


def require_inside(directory: str, project: str) -> None:
    """Raise ProjectFolderEscapes for a project's directory that leads out of it [D63]."""
    if leads_out(directory, project):
        from skillc.errors import ProjectFolderEscapes  # rarely needed

        hint = f"hint: to '{os.path.realpath(directory)}'; a clone may have brought that link: remove it"
        raise ProjectFolderEscapes(directory, hint)


def read_regular(path: str, limit: int) -> bytes:
    """Return the bytes of a regular file; raise OSError for anything else, and for more than `limit` bytes.

    A pipe or a device is refused without opening it; one that takes the name meanwhile does not block.
    """
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise _error("EISDIR", "Is a directory", path)
    if stat.S_ISREG(mode):
        descriptor = os.open(path, os.O_RDONLY | _READ_FLAGS)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return _read(descriptor, path, limit)
        finally:
            os.close(descriptor)
    raise _error("EINVAL", "not a regular file", path)


def _error(name: str, text: str, path: str) -> OSError:
    import errno  # a built-in module that takes as long to load as it takes to find a skill

    return OSError(getattr(errno, name), text, path)


def _read(descriptor: int, path: str, limit: int) -> bytes:
    pieces, size = [], 0
    while size <= limit and (piece := os.read(descriptor, min(PIECE, limit + 1 - size))):
        pieces.append(piece)
        size += len(piece)
    if size > limit:
        raise _error("EFBIG", f"over {limit >> 10} KiB", path)
    return b"".join(pieces)


def list_names(directory: str) -> list[str]:
    """Return the names in a directory, in order; none where it can't be read."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def is_own_runtime(path: str) -> bool:
    """Return whether a path is in the runtime directories of the home, which no clone can bring."""
    root = home()
    return root is not None and path.startswith(os.path.join(runtime_store(root), ""))


def config_stamps(cwd: str) -> tuple[tuple[str | int, ...], ...]:
    """Return path, inode, size and times of each skills.toml that may configure the library in `cwd`.

    While these are equal, so is the configuration. A file that does not exist has its path alone.
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


def short_path(path: str) -> str:
    """Return a path for people: on one line, with `~` for the home."""
    from skillc.text import one_line  # no command that agents call shows paths so

    home = user_home()
    return one_line(f"~{path[len(home) :]}" if home and home != os.sep and is_inside(path, home) else path)


def refer_to_folder(skill_id: str, directory: str) -> str:
    """Return what `skc show` takes wherever it runs: a name in a store, else the folder."""
    parent, name = os.path.split(directory)
    return name if parent.replace("\\", "/").endswith("/.skillc/skills") else directory


def has_earlier_file(directory: str) -> bool:
    """Return whether `skc show` looks into another file first: README.md may have the same headings."""
    try:
        with os.scandir(directory) as entries:
            earlier = [entry for entry in entries if entry.name < SKILL_FILES[0] and entry.name[0] != "."]
            return any(entry.name.lower().endswith(".md") or entry.is_dir() for entry in earlier)
    except OSError:
        return False
