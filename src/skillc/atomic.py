"""Atomic writes: files, folders and links that appear complete or not at all, and a lock.

Everything is written beside its destination under a hidden `.tmp` name and then renamed. A process that
is killed leaves the old version or the new one, and at worst a hidden file that a later call sweeps away.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ABANDONED_AFTER = 3600.0  # seconds; no write takes this long
SWEEP_PAUSE = 60.0  # seconds in which a process sweeps a directory once, however often it writes there
MAX_SWEEPS = 256
LOCK_PAUSE = 0.05  # seconds between two tries, where the time for a lock is limited
_HELD = (errno.EAGAIN, errno.EACCES)  # of a lock that another process holds


_sweeps: dict[str, float] = {}  # when directories were swept last; all dropped beyond MAX_SWEEPS


def temporary_path(path: str) -> str:
    """Return a free hidden name in the directory of `path`, for what will be renamed to `path`."""
    directory, name = os.path.split(path)
    prefix = os.fsencode(name)[:64].decode("utf-8", "ignore")  # bytes: a name may have 255 of them
    return os.path.join(directory, f".{prefix}.{os.getpid()}-{os.urandom(4).hex()}.tmp")


def write(
    path: str,
    data: bytes,
    *,
    durable: bool = False,
    private: bool = False,
    mode: int | None = None,
    unless: Callable[[], bool] | None = None,
) -> None:
    """Write `data` to `path`; `durable` waits for the disk, for data that can't be made again.

    A `private` file is readable by its owner alone from the start; `mode` sets other permissions. `unless` is
    asked when all is on the disk, right before the file takes its place: if it says so, nothing is written.
    """
    temporary = temporary_path(path)
    try:
        with open(temporary, "xb", opener=_open_private if private else None) as file:
            if mode is not None:
                os.chmod(temporary, mode)
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        if unless is not None and unless():
            discard(temporary)
            return
        os.replace(temporary, path)
    except BaseException:
        discard(temporary)
        raise


def write_all(files: Mapping[str, bytes], *, private: bool = False) -> None:
    """Write many small files that can't be made again, by path; wait for the disk once for all of them.

    Each is there completely or not at all, and none before all are on the disk.
    """
    if len(files) == 1 or not hasattr(os, "sync"):
        for path, data in files.items():
            write(path, data, durable=True, private=private)
        return
    temporary = {path: temporary_path(path) for path in files}
    try:
        for path, data in files.items():
            with open(temporary[path], "xb", opener=_open_private if private else None) as file:
                file.write(data)
        os.sync()  # faster than waiting for each
        for path, name in temporary.items():
            os.replace(name, path)
    except BaseException:
        for name in temporary.values():
            discard(name)
        raise


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def replace(new: str, path: str, *, keep: Callable[[str], object] | None = None) -> None:
    """Rename `new` to `path`, whatever each is, and then discard what was at `path`.

    With `keep`, which moves a path to another place, what was there goes there first: then the name is
    missing for a moment, and a process that is killed loses nothing.
    """
    if keep is not None and os.path.lexists(path):
        keep(path)
    try:
        os.replace(new, path)
        return
    except OSError as error:
        # A directory can't be renamed over one with files in it, nor over a link, nor a link over it.
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.EACCES):
            raise
    old = new
    if not exchange(new, path):
        old = temporary_path(path)
        os.rename(path, old)
        try:
            os.rename(new, path)
        except BaseException:
            os.rename(old, path)
            raise
    discard(old)


def symlink(target: str, path: str, *, keep: Callable[[str], object] | None = None) -> None:
    """Make a symbolic link to the directory `target` at `path`; replace what is there, as `replace` does."""
    temporary = temporary_path(path)
    os.symlink(target, temporary, target_is_directory=True)
    try:
        replace(temporary, path, keep=keep)
    except BaseException:
        discard(temporary)
        raise


def discard(path: str) -> None:
    """Remove a file, a link or a whole folder, if possible."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            import shutil  # slow to import, and needed for folders alone

            shutil.rmtree(path, ignore_errors=True)
        else:
            os.unlink(path)
    except OSError:
        pass


def sweep(directory: str, *, older_than: float = ABANDONED_AFTER) -> None:
    """Remove the temporary files that killed processes left in `directory`."""
    if older_than >= ABANDONED_AFTER:
        now = time.monotonic()
        if now - _sweeps.get(directory, -SWEEP_PAUSE) < SWEEP_PAUSE:
            return
        if len(_sweeps) >= MAX_SWEEPS:
            _sweeps.clear()
        _sweeps[directory] = now
    for path in leftovers(directory, older_than=older_than):
        discard(path)


def leftovers(directory: str, *, older_than: float = ABANDONED_AFTER) -> list[str]:
    """Return the temporary files that killed processes left in `directory`."""
    try:
        with os.scandir(directory) as entries:
            found = [e for e in entries if e.name.startswith(".") and e.name.endswith(".tmp")]
        now = time.time()
        return [e.path for e in found if now - e.stat(follow_symlinks=False).st_mtime >= older_than]
    except OSError:
        return []


def exchange(one: str, other: str) -> bool:
    """Swap two names atomically; return whether the system can."""
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
    """A lock between processes, released when its holder ends.

    The path is that of a file, which is created, or (except on Windows) of a directory; a link is refused.
    Where the system can't lock (some network file systems) it locks nothing: writes are atomic all the same,
    and the last one wins. `had_to_wait` says whether another process held it; `is_late`, whether it still did
    at the time `until`, so that nothing is locked. Without `wait`, a lock that is held is BlockingIOError.
    """

    def __init__(self, path: str, until: float | None = None, *, wait: bool = True) -> None:
        self._path = path
        self._until = until
        self._may_wait = wait
        self._descriptor = -1
        self.had_to_wait = False
        self.is_late = False

    def __enter__(self) -> None:
        flags = os.O_RDONLY if os.path.isdir(self._path) else os.O_RDWR | os.O_CREAT
        # No link, which would create a file elsewhere, and no pipe, which would block.
        flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        self._descriptor = os.open(self._path, flags, 0o644)
        mode = os.fstat(self._descriptor).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            os.close(self._descriptor)
            raise OSError(errno.EINVAL, "not a regular file", self._path)
        try:
            self._take(wait=False)
        except OSError as error:
            self.had_to_wait = True
            if not self._may_wait and error.errno in _HELD:
                os.close(self._descriptor)
                raise BlockingIOError(errno.EAGAIN, "in use by another process", self._path) from None
            self._wait()

    def _wait(self) -> None:
        while not self.is_late:
            try:
                self._take(wait=self._until is None)
                return
            except OSError as error:
                if self._until is None or error.errno not in _HELD:
                    return
            self.is_late = time.time() >= self._until
            time.sleep(LOCK_PAUSE)

    def _take(self, wait: bool) -> None:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(self._descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(self._descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)

    def __exit__(self, *error: object) -> None:
        os.close(self._descriptor)
