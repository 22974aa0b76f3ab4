"""Unpack .zip, .tar.gz and .tar into a folder; refuse what no skill needs (E083).

Refused are names that leave the folder, that some system can't hold or that differ in case alone; links
that lead out or nowhere; devices and pipes; encrypted files; too many files or bytes, packed or unpacked.
Execute permission is kept, all other bits are dropped. All names are checked before the first file is
written.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any, BinaryIO

from skillc import atomic
from skillc.errors import ArchiveRefused
from skillc.paths import SKILL_FILES, is_inside
from skillc.skills import MAX_FILE_NAME, MAX_PATH, is_portable, to_spelling

MAX_PACKED = 256 << 20  # bytes of an archive
MAX_BYTES = 512 << 20  # of all its files, unpacked
MAX_MEMBERS = 100_000  # files and folders
MAX_RATIO = 200  # of unpacked to packed bytes, once the unpacked are more than:
RATIO_FROM = 16 << 20
MAX_READ = 32 << 20  # bytes that a reader may ask for at once: of a zip's directory, of a tar's long names
PIECE = 1 << 16
JUNK = "__MACOSX"  # what a Mac adds to a zip
_DAMAGE = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError,
    KeyError, gzip.BadGzipFile, OverflowError,
)  # fmt: skip


class _Refusal(Exception):
    """The archive is refused; the message says why."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A file of an archive, with a way to read it, or a symbolic link to `link`."""

    name: str
    size: int = 0
    is_executable: bool = False
    open: Callable[[], IO[bytes]] = io.BytesIO
    link: str = ""


def unpack_archive(path: str, folder: str, label: str) -> None:
    """Unpack the archive at `path` into a new `folder`; `label` is what messages call the archive.

    Raises ArchiveRefused (E083), and then leaves nothing.
    """
    try:
        with _refuse_damage(), open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise _Refusal("it is not a file")
            if status.st_size > MAX_PACKED:
                raise _Refusal(f"it is over {MAX_PACKED >> 20} MiB")
            budget = _Budget(status.st_size)
            os.mkdir(folder)
            with _open_members(file, folder, budget) as members:
                _write(members, folder)
    except _Refusal as error:
        atomic.discard(folder)
        raise ArchiveRefused(label, str(error)) from None
    except BaseException:
        atomic.discard(folder)
        raise


def unpack_data(data: bytes, folder: str, label: str) -> None:
    """Unpack an archive that is in memory; see `unpack_archive`."""
    archive = f"{folder}.packed"
    try:
        with open(archive, "xb") as file:
            file.write(data)
        unpack_archive(archive, folder, label)
    finally:
        atomic.discard(archive)


def unpack_skill(data: bytes, folder: str, label: str) -> None:
    """Unpack an archive of one skill, which may be in a folder of its own there."""
    unpack_data(data, folder, label)
    unwrap(folder)


def has_main_file(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in SKILL_FILES)


def find_root(folder: str) -> str:
    """Return the one folder in which an archive has all it has; else the folder itself."""
    names = os.listdir(folder)
    inner = os.path.join(folder, names[0]) if len(names) == 1 else folder
    return inner if os.path.isdir(inner) and not os.path.islink(inner) else folder


def unwrap(folder: str) -> None:
    """Move up what an archive of one skill has in a folder of its own."""
    root = find_root(folder)
    if root != folder:
        inner = f"{folder}.inner"
        os.rename(root, inner)
        os.rmdir(folder)
        os.rename(inner, folder)


@contextmanager
def _refuse_damage() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise _Refusal(f"it is damaged or of a kind that is not supported ({error})") from None


class _Budget:
    """What may be unpacked, in proportion to the size of the archive."""

    def __init__(self, size: int) -> None:
        self.limit = min(MAX_BYTES, max(RATIO_FROM, size * MAX_RATIO))
        self._bytes = 0

    def spend(self, count: int) -> None:
        self._bytes += count
        if self._bytes > self.limit:
            reason = f"more than {MAX_RATIO} times its size" if self.limit < MAX_BYTES else ""
            raise _Refusal(f"it unpacks to {reason or f'over {MAX_BYTES >> 20} MiB'}")


class _BoundedFile:
    """A file whose reader can't ask for much at once: no header makes us read a whole archive into memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(MAX_READ + 1 if size < 0 else min(size, MAX_READ + 1))
        if len(data) > MAX_READ:
            raise _Refusal("its table of contents, or a name in it, is too large")
        return data

    def seekable(self) -> bool:
        return True


@contextmanager
def _open_members(file: BinaryIO, folder: str, budget: _Budget) -> Iterator[list[_Member]]:
    """Give the members of an archive of any kind, all checked."""
    start = file.read(4)
    file.seek(0)
    if start[:2] == b"PK":
        reader: Any = _BoundedFile(file)  # has what zipfile and tarfile use of a file
        with zipfile.ZipFile(reader) as archive:
            yield _zip_members(archive, budget)
    elif start[:2] == b"\x1f\x8b":
        with _gunzip(file, f"{folder}.tar", budget.limit + MAX_MEMBERS * 2 * tarfile.BLOCKSIZE) as tar:
            yield from _open_tar(tar, budget)
    else:
        yield from _open_tar(file, budget)


@contextmanager
def _gunzip(file: BinaryIO, place: str, limit: int) -> Iterator[BinaryIO]:
    """Give the tar of a tar.gz as a temporary file."""
    try:
        with gzip.GzipFile(fileobj=file) as source, open(place, "xb") as target:
            while piece := source.read(PIECE):
                target.write(piece)
                if target.tell() > limit:
                    raise _Refusal(f"it unpacks to over {limit >> 20} MiB")
        with open(place, "rb") as tar:
            yield tar
    finally:
        atomic.discard(place)


def _open_tar(file: BinaryIO, budget: _Budget) -> Iterator[list[_Member]]:
    reader: Any = _BoundedFile(file)
    with tarfile.open(fileobj=reader, mode="r:", errorlevel=2) as archive:
        yield _tar_members(archive, budget)


def _zip_members(archive: zipfile.ZipFile, budget: _Budget) -> list[_Member]:
    names = _Names()
    members: list[_Member] = []
    for info in archive.infolist():
        name, mode = info.orig_filename, info.external_attr >> 16
        if name.split("/")[0] == JUNK:
            continue
        if info.is_dir():
            names.add(name, is_folder=True)
            continue
        path = names.add(name)
        if info.flag_bits & 1:
            raise _Refusal(f"'{path}' is encrypted")
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFLNK):
            raise _Refusal(f"'{path}' is a device or a pipe")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _Refusal(f"'{path}' is packed in a way that is not supported")
        budget.spend(info.file_size)

        def read(info: zipfile.ZipInfo = info) -> IO[bytes]:
            return archive.open(info)

        link = ""
        if stat.S_ISLNK(mode):
            with read() as content:
                link = os.fsdecode(content.read(MAX_PATH + 1)) or "."
        members.append(_Member(path, info.file_size, bool(mode & 0o111), read, link))
    return members


def _tar_members(archive: tarfile.TarFile, budget: _Budget) -> list[_Member]:
    names = _Names()
    members: dict[str, _Member] = {}
    for info in archive:
        if info.isdir():
            names.add(info.name, is_folder=True)
            continue
        path = names.add(info.name)
        if info.issym():
            members[path] = _Member(path, link=info.linkname or ".")
            continue
        if info.islnk():  # to a file before it
            target = members.get("/".join(_split(info.linkname)))
            if target is None or target.link:
                raise _Refusal(f"the link '{path}' leads out of it or nowhere: '{info.linkname}'")
            budget.spend(target.size)
            members[path] = replace(target, name=path)
            continue
        if not info.isreg():
            raise _Refusal(f"'{path}' is a device or a pipe")
        budget.spend(info.size)

        def read(info: tarfile.TarInfo = info) -> IO[bytes]:
            content = archive.extractfile(info)
            assert content is not None  # it is a regular file
            return content

        members[path] = _Member(path, info.size, bool(info.mode & 0o111), read)
    return list(members.values())


class _Names:
    """The names of an archive so far; refuses those that no folder, or none on another system, could hold."""

    def __init__(self) -> None:
        self._count = 0
        self._kinds: dict[str, bool] = {}  # by path: whether it is a folder
        self._spellings: dict[str, str] = {}

    def add(self, name: str, *, is_folder: bool = False) -> str:
        """Return a member's path with forward slashes."""
        self._count += 1
        if self._count > MAX_MEMBERS:
            raise _Refusal(f"it has over {MAX_MEMBERS} files")
        words = _split(name)
        if not words and not is_folder:
            raise _Refusal("a file has no name")
        for end in range(1, len(words) + 1):
            self._claim("/".join(words[:end]), is_folder or end < len(words), end == len(words))
        return "/".join(words)

    def _claim(self, path: str, is_folder: bool, is_new: bool) -> None:
        last = self._kinds.setdefault(path, is_folder)
        if last != is_folder:
            raise _Refusal(f"'{path}' is both a file and a folder")
        key = to_spelling(path)
        other = self._spellings.get(key)
        if other is None:
            self._spellings[key] = path
        elif other != path:
            raise _Refusal(f"'{other}' and '{path}' are one name on some systems")
        elif is_new and not is_folder:
            raise _Refusal(f"'{path}' is in it twice")


def split_name(name: str, label: str) -> list[str]:
    """Return the parts of a relative path; raises ArchiveRefused for one that no archive may hold."""
    try:
        words = _split(name)
    except _Refusal as error:
        raise ArchiveRefused(label, str(error)) from None
    if not words:
        raise ArchiveRefused(label, "a file has no name")
    return words


def _split(name: str) -> list[str]:
    """Return the parts of a name; refuse one that leaves the folder or can't be written on every system."""
    if name.startswith(("/", "\\")) or re.match("[A-Za-z]:", name):
        raise _Refusal(f"'{name}' is an absolute path")
    words = [word for word in name.split("/") if word not in ("", ".")]
    if ".." in words or ".." in name.replace("\\", "/").split("/"):
        raise _Refusal(f"'{name}' leads out of it")
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise _Refusal("a name is not UTF-8") from None
    if size > MAX_PATH or any(len(word.encode()) > MAX_FILE_NAME for word in words):
        raise _Refusal(f"a name is too long: '{name[:60]}…'")
    if not all(map(is_portable, words)):
        raise _Refusal(f"not every system can hold the name '{name}'")
    return words


def _write(members: list[_Member], folder: str) -> None:
    """Write files first and then links, so that nothing is written through a link."""
    for member in members:
        if not member.link:
            place = _make_parent(folder, member.name)
            mode = 0o755 if member.is_executable else 0o644
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            with member.open() as source, os.fdopen(os.open(place, flags, mode), "wb") as target:
                while piece := source.read(PIECE):
                    target.write(piece)
    links = [member for member in members if member.link]
    for member in links:
        if os.path.isabs(member.link) or "\0" in member.link or "\\" in member.link:
            raise _Refusal(f"the link '{member.name}' leads out of it or nowhere: '{member.link}'")
        os.symlink(member.link, _make_parent(folder, member.name))
    root = os.path.realpath(folder)
    for member in links:
        place = os.path.join(folder, *member.name.split("/"))
        try:
            inside = is_inside(os.path.realpath(place, strict=True), root)
        except OSError:
            inside = False
        if not inside:
            raise _Refusal(f"the link '{member.name}' leads out of it or nowhere: '{member.link}'")


def _make_parent(folder: str, name: str) -> str:
    place = os.path.join(folder, *name.split("/"))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    return place
