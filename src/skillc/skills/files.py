"""List and resolve the files of a skill: one list for every command [D1, D2].

All regular files below the root, except those whose name, or a directory's on the way, starts with
a dot. A link that stays inside counts as the file it points to.
"""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG

from skillc import errors
from skillc.paths import VERSION_CONTROL, is_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Names that are never installed nor counted in the digest [D64]: what version control, Python and skc keep.
_LEFT_OUT = VERSION_CONTROL | {".origin", "__pycache__"}  # and .skillc*
MAX_FILES = 100_000  # links can multiply a folder; a skill with more files is not valid
MAX_DIRECTORIES = 100_000
MAX_LINKS = 1000  # to directories; they can multiply without a single file

if os.name == "posix":
    _FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
    _DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | getattr(os, "O_PATH", os.O_RDONLY)  # no right to list


class SourceFile:
    """A file of a skill: its path below the root with `/`, its size, and a stamp that changes with it."""

    __slots__ = ("is_executable", "name", "path", "size", "stamp")

    def __init__(self, name: str, path: str, status: os.stat_result) -> None:
        self.name = name
        self.path = path
        self.size = status.st_size
        self.is_executable = bool(status.st_mode & 0o111)
        # Equal stamps mean an unchanged file; with different ones, compare the hash.
        self.stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def is_left_out(name: str) -> bool:
    """Return whether a file or folder of this name is never installed, nor counted in the digest [D64]."""
    return name in _LEFT_OUT or name.startswith(".skillc")


def has_uncounted(root: str) -> bool:
    """Return whether a folder holds what the digest leaves out and a person may have written.

    A history of version control, say: such a folder is not replaced or removed for good. Compiled Python is
    made again.
    """
    for _, folders, files in os.walk(root):
        if any(is_left_out(name) and name != "__pycache__" for name in (*folders, *files)):
            return True
    return False


def list_files(root: str, *, hidden: bool = False, strict: bool = False) -> list[SourceFile]:
    """Return the files below `root`, sorted bytewise by path; with `hidden`, all that are installed [D64].

    Skips broken links, loops, pipes and the like. A link that leaves the root is skipped as well: a reader
    of the other files need not know of it. With `strict` or `hidden` it raises PathEscapes.
    """
    return list_tree(root, hidden=hidden, strict=strict or hidden)[0]


def list_tree(
    root: str, *, hidden: bool = False, strict: bool = True
) -> tuple[list[SourceFile], dict[str, os.stat_result]]:
    """Return the files, and each directory's status from before it was read, by its path below `root`.

    As long as the status of every directory is the same, so are the names of the files. A link that leaves
    the root raises PathEscapes, or is skipped where this is not `strict`.
    """
    directories = {"": os.stat(root)}
    files = [
        SourceFile(name, entry.path, status)
        for name, entry, status in _walk(root, directories, hidden, strict, has_status=True)
        if status is not None
    ]
    files.sort(key=lambda file: file.name.encode("utf-8", "surrogateescape"))
    return files, directories


def list_file_names(root: str) -> list[str]:
    """Return the names of the files below `root`, in no order, without asking each file for more."""
    return [name for name, _, _ in _walk(root, {}, hidden=False, strict=False, has_status=False)]


def _walk(
    root: str, directories: dict[str, os.stat_result], hidden: bool, strict: bool, *, has_status: bool
) -> Iterator[tuple[str, os.DirEntry[str], os.stat_result | None]]:
    """Yield the name and entry of each file, and its status, if it is wanted or had to be asked for.

    `directories` gets the status of each below the root by its path.
    """
    real_root = os.path.realpath(root)
    files = links = 0  # the latter are to directories
    # Directories still to read: path prefix, path, the real directories on the way (for loops).
    stack: list[tuple[str, str, tuple[str, ...]]] = [("", root, (real_root,))]
    while stack:
        prefix, directory, chain = stack.pop()
        for entry in _entries(directory, required=not prefix):
            name = entry.name
            if is_left_out(name) if hidden else name[0] == ".":
                continue
            if not has_status and entry.is_file(follow_symlinks=False):
                files += 1
                yield prefix + name, entry, None
                continue
            status = _follow(entry, prefix + name, real_root, strict)
            if status is None:
                continue
            if S_ISREG(status.st_mode):
                files += 1
                yield prefix + name, entry, status
            elif S_ISDIR(status.st_mode):
                inner = f"{chain[-1]}{os.sep}{name}"
                real = os.path.realpath(inner) if entry.is_symlink() else inner
                if real not in chain:
                    links += entry.is_symlink()
                    stack.append((f"{prefix}{name}/", entry.path, (*chain, real)))
                    directories[prefix + name] = status
        _check_size(root, files, len(directories), links)


def _check_size(root: str, files: int, directories: int, links: int) -> None:
    """Raise InvalidSkill for a folder that is too large for a skill."""
    if files > MAX_FILES:
        raise errors.InvalidSkill(root, f"more than {MAX_FILES} files")
    if directories > MAX_DIRECTORIES:
        raise errors.InvalidSkill(root, f"more than {MAX_DIRECTORIES} directories")
    if links > MAX_LINKS:
        raise errors.InvalidSkill(root, f"more than {MAX_LINKS} directories by way of links")


def _entries(directory: str, required: bool) -> list[os.DirEntry[str]]:
    """Return the entries of a directory; none where it was removed meanwhile, unless it is `required`."""
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except FileNotFoundError:
        if required:
            raise
        return []


def _follow(entry: os.DirEntry[str], name: str, real_root: str, strict: bool) -> os.stat_result | None:
    """Return the status of an entry or of its link's target; None for what is to be skipped."""
    try:
        status = entry.stat()
    except OSError:
        if entry.is_symlink() or not os.path.lexists(entry.path):
            return None
        raise
    if entry.is_symlink() and not is_inside(os.path.realpath(entry.path), real_root):
        if strict:
            raise errors.PathEscapes(name)
        return None
    return status


def resolve_inside(root: str, relative: str) -> str:
    """Return the canonical path of something in a skill; raises PathEscapes for one outside of it.

    It need not exist. An absolute path is refused even where it leads inside.
    """
    return _resolve(root, relative)[1]


def _resolve(root: str, relative: str) -> tuple[str, str]:
    """Return the canonical paths of a skill and of something in it."""
    if os.path.isabs(relative) or "\0" in relative or (os.sep == "\\" and ":" in relative):
        raise errors.PathEscapes(relative)
    real_root = os.path.realpath(root)
    try:
        os.fsencode(relative)  # the next line does not check names behind a broken link
        real = os.path.realpath(os.path.join(real_root, relative))
        # realpath stops at a link to itself: what is left must not lead anywhere else.
        inside = is_inside(real, real_root) and os.path.realpath(real) == real
    except ValueError:  # no file can have that name
        inside = False
    if not inside:
        raise errors.PathEscapes(relative)
    return real_root, real


def open_inside(root: str, relative: str) -> int:
    """Return a descriptor of a regular file in a skill, for reading; raises PathEscapes, or OSError.

    The path is walked from the root, directory by directory, and no link is followed. Only where one is
    on the way, which is rare, the canonical path is walked: a directory that becomes a link after it was
    resolved is refused. A pipe is not waited for, nor opened.
    """
    if os.name == "posix":
        try:
            descriptor = _open_names(root, relative)
        except (OSError, ValueError):  # a link, or a file that is not there
            real_root, real = _resolve(root, relative)
            descriptor = _open_names(real_root, os.path.relpath(real, real_root))
    else:
        descriptor = os.open(_resolve(root, relative)[1], os.O_RDONLY | getattr(os, "O_BINARY", 0))
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IsADirectoryError(relative)
    return descriptor


def _open_names(root: str, relative: str) -> int:
    """Open a path name by name below `root`; raises OSError where one of them is a link or leads upwards."""
    *parents, name = names = relative.split("/")
    if "" in names or ".." in names:
        raise IsADirectoryError(relative)
    directory = os.open(root, _DIRECTORY)
    try:
        for parent in parents:
            inner = os.open(parent, _DIRECTORY, dir_fd=directory)
            os.close(directory)
            directory = inner
        return os.open(name, _FILE, dir_fd=directory)
    finally:
        os.close(directory)
