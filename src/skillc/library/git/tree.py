"""From objects to files: the tree of a commit, written where nothing in it can lead out."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator

from dulwich.index import (
    validate_path_element_default,
    validate_path_element_hfs,
    validate_path_element_ntfs,
)
from dulwich.object_store import DiskObjectStore
from dulwich.objects import S_ISGITLINK, Blob, ObjectID, Tree

from skillc.library.git.errors import FetchFailed

MAX_FILES = 100_000
MAX_PATH = 1024  # bytes; what is longer, or deeper, nobody wrote


def write_tree(store: DiskObjectStore, tree: ObjectID, folder: str, limit: int) -> list[str]:
    """Write a commit's files; gives the symbolic links that were left out.

    Folders first, then files, then links: nothing is ever written through a link.
    """
    root = os.fsencode(folder)
    os.mkdir(root)
    files: list[tuple[bytes, int, ObjectID]] = []
    links: list[tuple[bytes, int, ObjectID]] = []
    for path, mode, sha in _entries(store, tree):
        if stat.S_ISDIR(mode):
            os.mkdir(os.path.join(root, path))
        else:
            (links if stat.S_ISLNK(mode) else files).append((os.path.join(root, path), mode, sha))
    for path, mode, sha in files:
        data = _data(store, sha)
        limit -= len(data)
        if limit < 0:
            raise FetchFailed("the files are too large")
        _write(path, data, 0o755 if mode & 0o111 else 0o644)
    made = [path for path, _, sha in links if _link(path, _data(store, sha))]
    good = {path for path in made if _stays(path, root)}  # judged when all are there
    return sorted(os.fsdecode(os.path.relpath(path, root)) for path, _, _ in links if path not in good)


def _entries(store: DiskObjectStore, tree: ObjectID) -> Iterator[tuple[bytes, int, ObjectID]]:
    """Path, mode and ID of all in a tree, folders before what is in them; submodules are left out."""
    pending = [(b"", tree)]
    count = 0
    while pending:
        prefix, folder = pending.pop()
        found = store[folder]
        if not isinstance(found, Tree):
            raise FetchFailed("a folder in the repository is none")
        for name, mode, sha in found.items():
            count += 1
            path = prefix + name
            if not _is_safe(name) or len(path) > MAX_PATH:
                raise FetchFailed(f"unsafe file name {os.fsdecode(path)!r}")
            if count > MAX_FILES:
                raise FetchFailed(f"the repository has over {MAX_FILES} files")
            if S_ISGITLINK(mode):
                continue
            if stat.S_ISDIR(mode):
                pending.append((path + b"/", sha))
            yield path, mode, sha


def _is_safe(name: bytes) -> bool:
    """Whether a name is one of a plain file on every system, and no way to spell `.git`."""
    if not name or any(bad in name for bad in (b"/", b"\\", b"\0")) or (os.name == "nt" and b":" in name):
        return False
    if not (validate_path_element_default(name) and validate_path_element_ntfs(name)):
        return False
    try:
        name.decode()
    except UnicodeDecodeError:
        return True  # which the next check can't judge
    return validate_path_element_hfs(name)


def _data(store: DiskObjectStore, sha: ObjectID) -> bytes:
    found = store[sha]
    if not isinstance(found, Blob):
        raise FetchFailed("a file in the repository is none")
    return found.data


def _write(path: bytes, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        file.write(data)


def _link(path: bytes, target: bytes) -> bool:
    """Make a symbolic link, unless it says itself that it leads away, or the system can't."""
    if not target or b"\0" in target or len(target) > MAX_PATH or os.path.isabs(target):
        return False
    try:
        os.symlink(target, path)
    except FileExistsError:
        raise FetchFailed(f"the repository has {os.fsdecode(path)!r} twice") from None
    except OSError:
        return False
    return True


def _stays(path: bytes, root: bytes) -> bool:
    """Whether a link leads to something below `root`; one that does not is removed."""
    top = os.path.realpath(root)
    try:
        real = os.path.realpath(path, strict=True)
        if real == top or real.startswith(os.path.join(top, b"")):
            return True
    except OSError:
        pass  # it leads nowhere, or round in circles
    os.unlink(path)
    return False


def settle(folder: str) -> None:
    """Wait for the disk: a tag is never fetched again, so its files must outlast a power cut."""
    if sys.platform == "win32":
        return
    import ctypes

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(descriptor)  # one call, not one for each file
    except (OSError, AttributeError):
        os.sync()
    finally:
        os.close(descriptor)
