"""Write the files of a commit's tree into a folder, and nothing outside it."""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Callable, Iterator
from typing import TypeVar

from dulwich.index import validate_path_element_default, validate_path_element_hfs, validate_path_element_ntfs
from dulwich.object_store import DiskObjectStore, PackCapableObjectStore
from dulwich.objects import S_ISGITLINK, Blob, ObjectID, ShaFile, Tree

from skillc.remotes.git.config import FetchError
from skillc.remotes.git.pack import PackObjects

T = TypeVar("T")
MAX_FILES = 100_000
MAX_PATH = 1024  # bytes of a path, or of a link's target


def write_tree(store: DiskObjectStore, tree: ObjectID, folder: str, limit: int) -> list[str]:
    """Write a commit's files, `limit` bytes at most; return the symbolic links that were left out.

    Folders come first, then files, then links, so that nothing is written through a link.
    """
    root = os.fsencode(folder)
    os.mkdir(root)
    files: list[tuple[bytes, int, ObjectID]] = []
    links: list[tuple[bytes, ObjectID]] = []
    for name, mode, sha in _walk(store, tree):
        path = os.path.join(root, name)
        if stat.S_ISDIR(mode):
            os.mkdir(path)
        elif stat.S_ISLNK(mode):
            links.append((path, sha))
        else:
            files.append((path, mode, sha))
    for path, mode, sha in files:
        data = read_blob(store, sha)
        limit -= len(data)
        if limit < 0:
            raise FetchError("the files are too large")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(path, flags, 0o755 if mode & 0o111 else 0o644), "wb") as file:
            file.write(data)
    paths = [path for path, sha in links if _make_link(path, read_blob(store, sha))]
    good = {path for path in paths if _check_link(path, root)}  # once all are there
    return sorted(os.fsdecode(os.path.relpath(path, root)) for path, _ in links if path not in good)


def _walk(store: DiskObjectStore, tree: ObjectID) -> Iterator[tuple[bytes, int, ObjectID]]:
    """Yield path, mode and ID of everything in a tree but submodules; a folder comes before its contents."""
    queue = [(b"", tree)]
    count = 0
    while queue:
        prefix, sha = queue.pop()
        folder = read_object(store, sha)
        if not isinstance(folder, Tree):
            raise FetchError("a folder in the repository is none")
        for name, mode, sha in folder.items():
            count += 1
            path = prefix + name
            if not is_safe(name) or len(path) > MAX_PATH:
                raise FetchError(f"unsafe file name {os.fsdecode(path)!r}")
            if count > MAX_FILES:
                raise FetchError(f"the repository has over {MAX_FILES} files")
            if S_ISGITLINK(mode):
                continue
            if stat.S_ISDIR(mode):
                queue.append((path + b"/", sha))
            yield path, mode, sha


def is_safe(name: bytes) -> bool:
    """Return whether a name is that of a plain file on every system, and no way to spell `.git`."""
    if not name or any(bad in name for bad in (b"/", b"\\", b"\0")) or (os.name == "nt" and b":" in name):
        return False
    if not (validate_path_element_default(name) and validate_path_element_ntfs(name)):
        return False
    try:
        name.decode()
    except UnicodeDecodeError:
        return True  # the next check takes UTF-8 alone
    return validate_path_element_hfs(name)


def read_object(store: PackCapableObjectStore | PackObjects, sha: ObjectID) -> ShaFile:
    """Return an object of a store; every failure becomes FetchError."""
    return _read(store.__getitem__, sha)


def read_raw(store: PackCapableObjectStore | PackObjects, sha: ObjectID) -> tuple[int, bytes]:
    """Return the kind and the content of an object; every failure becomes FetchError."""
    return _read(store.get_raw, sha)


def _read(read: Callable[[ObjectID], T], sha: ObjectID) -> T:
    try:
        return read(sha)
    except FetchError:
        raise
    except KeyError:
        raise FetchError("the server did not send what was asked for") from None
    except Exception as error:  # dulwich has no base class for what a damaged object can raise
        raise FetchError(f"an object of the repository is damaged ({type(error).__name__})") from None


def read_blob(store: PackCapableObjectStore | PackObjects, sha: ObjectID) -> bytes:
    kind, data = read_raw(store, sha)
    if kind != Blob.type_num:
        raise FetchError("a file in the repository is none")
    return data


def _make_link(path: bytes, target: bytes) -> bool:
    """Make a symbolic link; return False for an absolute or odd target, or where the system has no links."""
    if not target or b"\0" in target or len(target) > MAX_PATH or os.path.isabs(target):
        return False
    try:
        os.symlink(target, path)
    except FileExistsError:
        raise FetchError(f"the repository has {os.fsdecode(path)!r} twice") from None
    except OSError:
        return False
    return True


def _check_link(path: bytes, root: bytes) -> bool:
    """Return whether a link leads to something below `root`; remove one that does not."""
    top = os.path.realpath(root)
    try:
        real = os.path.realpath(path, strict=True)
        if real == top or real.startswith(os.path.join(top, b"")):
            return True
    except OSError:
        pass  # it leads nowhere, or round in circles
    os.unlink(path)
    return False


def sync_to_disk(folder: str) -> None:
    """Wait for the disk: a tag is never fetched again, so its files must outlast a power cut."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(descriptor)  # one call, not one for each file
    except (OSError, AttributeError):
        os.sync()
    finally:
        os.close(descriptor)
