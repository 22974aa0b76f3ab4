"""Whole or not at all: files, folders and links that appear complete under their name, and a lock.

Everything is written beside its place under a hidden `.tmp` name and then renamed, so a
process that is killed leaves either the old or the new one, and at worst a hidden leftover
that a later call sweeps away.
"""

from __future__ import annotations

import errno
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

ABANDONED_AFTER = 3600.0  # seconds; nothing here is under way for so long


def beside(path: str) -> str:
    """A free hidden name in the directory of `path`, for what will be renamed to `path`."""
    directory, name = os.path.split(path)
    start = os.fsencode(name)[:64].decode("utf-8", "ignore")  # bytes: a name may have 255 of them
    return os.path.join(directory, f".{start}.{os.getpid()}-{os.urandom(4).hex()}.tmp")


def write(
    path: str, data: bytes, *, durable: bool = False, private: bool = False, mode: int | None = None
) -> None:
    """Put a file with `data` at `path`; `durable` waits for the disk, for what can't be made again.

    A `private` one is its owner's alone from the first moment; `mode` is for one that stands in for another.
    """
    temporary = beside(path)
    try:
        with open(temporary, "xb", opener=_private if private else None) as file:
            if mode is not None:
                os.chmod(temporary, mode)
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        discard(temporary)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def replace(new: str, path: str) -> None:
    """Rename `new` to `path`, whatever each is; what stood at `path` is discarded after."""
    try:
        os.replace(new, path)
        return
    except OSError as error:
        # A directory can't be renamed over one with files in it, nor over a link, nor a link over it.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EACCES):
            raise
    old = new
    if not _exchange(new, path):
        old = beside(path)
        os.rename(path, old)
        try:
            os.rename(new, path)
        except BaseException:
            os.rename(old, path)
            raise
    discard(old)


def symlink(target: str, path: str) -> None:
    """Put a symbolic link to the directory `target` at `path`, replacing what is there."""
    temporary = beside(path)
    os.symlink(target, temporary, target_is_directory=True)
    try:
        replace(temporary, path)
    except BaseException:
        discard(temporary)
        raise


def discard(path: str) -> None:
    """Remove a file, a link or a whole folder; one that is not there or won't go is left."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            import shutil  # only for folders: it costs as much to import as the commands that write none

            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)
    except OSError:
        pass


def sweep(directory: str, *, older_than: float = ABANDONED_AFTER) -> None:
    """Remove what killed processes left in `directory`."""
    try:
        with os.scandir(directory) as entries:
            leftovers = [e for e in entries if e.name.startswith(".") and e.name.endswith(".tmp")]
        now = time.time()
        for entry in leftovers:
            if now - entry.stat(follow_symlinks=False).st_mtime >= older_than:
                discard(entry.path)
    except OSError:
        pass


def _exchange(one: str, other: str) -> bool:
    """Swap two names in one step, where the system can."""
    import ctypes  # only where a folder is replaced

    try:
        libc = ctypes.CDLL(None, use_errno=True)
        a, b = os.fsencode(one), os.fsencode(other)
        if sys.platform == "linux":
            at_cwd, rename_exchange = -100, 2
            return bool(libc.renameat2(at_cwd, a, at_cwd, b, rename_exchange) == 0)
        if sys.platform == "darwin":
            rename_swap = 2
            return bool(libc.renamex_np(a, b, rename_swap) == 0)
    except (OSError, AttributeError, TypeError):
        pass
    return False


class Lock:
    """One holder at a time, over processes; gone with the process that held it.

    The path is that of a file, which is made, or (where the system is not Windows) of a directory.
    Where the system can't lock (some network file systems), everyone is let in: what is
    written is whole all the same, and one of the writers wins. `waited` tells if somebody else had it.
    """

    __slots__ = ("_descriptor", "_path", "waited")

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1
        self.waited = False

    def __enter__(self) -> None:
        flags = os.O_RDONLY if os.path.isdir(self._path) else os.O_RDWR | os.O_CREAT
        self._descriptor = os.open(self._path, flags, 0o644)
        try:
            self._take(wait=False)
        except OSError:
            self.waited = True
            try:
                self._take(wait=True)
            except OSError:
                pass

    def _take(self, wait: bool) -> None:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(self._descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(self._descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)
