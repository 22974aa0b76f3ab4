"""The folder of a skill as a whole: its hash, a copy of its files [D3], and names that every system can hold.

Apart from `files`, because reading commands only list them.

>>> is_portable("scripts/run.sh"), is_portable("../run.sh"), is_portable("aux.txt")
(True, False, False)
>>> find_collision(["README.md", "docs/a.md", "Docs"])
('Docs', 'docs/')
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import unicodedata
from collections.abc import Callable, Iterable, Mapping

from skillc import atomic
from skillc.paths import VERSION_CONTROL
from skillc.skills.files import list_files, open_inside
from skillc.startup import MUCH, file_sha256_hex, new_sha256


def hash_source(digests: Iterable[tuple[str, str]]) -> str:
    """Return the hash of a skill from its sorted (path, hex SHA-256 of the file) pairs [D3]."""
    whole = new_sha256()
    for name, digest in digests:
        whole.update(os.fsencode(name))
        whole.update(digest.encode())
    return whole.hexdigest()


def digest_files(root: str, *, hidden: bool = False) -> str:
    """Return the hash of the files below `root`, as they are now [D3]."""
    digests: list[tuple[str, str]] = []
    for source in list_files(root, hidden=hidden, strict=True):
        with open(source.path, "rb") as file:
            digests.append((source.name, file_sha256_hex(file, source.size)))
    return hash_source(digests)


def write_file(folder: str, path: str, data: bytes) -> str:
    """Write a new file into a folder, by a path that was checked to lead nowhere else; return where it is."""
    place = os.path.join(folder, *path.split("/"))
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "xb") as file:
        file.write(data)
    return place


def write_files(folder: str, files: Mapping[str, bytes]) -> None:
    """Write new files into a folder, contents by path, as `write_file` does."""
    for path, data in files.items():
        write_file(folder, path, data)


def make_folder(
    path: str,
    *,
    copy_of: str | None = None,
    files: Mapping[str, bytes] | None = None,
    keep: Callable[[str], object] | None = None,
) -> None:
    """Replace the folder at `path` atomically by the files of `copy_of` and by `files`, contents by name.

    The old folder is discarded, or moved away by `keep`. Copies hidden files too. A link inside the folder
    becomes the file it points to; one that leaves it is PathEscapes. Nothing is setuid, and others can write
    what the umask lets them.
    """
    temporary = atomic.temporary_path(path)
    os.mkdir(temporary)
    directories = {temporary}  # that are there: asking the system for each file takes as long as copying it
    try:
        for file in list_files(copy_of, hidden=True) if copy_of is not None else ():
            copy = os.path.join(temporary, *file.name.split("/"))
            directory = os.path.dirname(copy)
            if directory not in directories:
                os.makedirs(directory, exist_ok=True)
                directories.add(directory)
            _copy_file(copy_of or "", file.name, copy)
        for name, data in (files or {}).items():
            atomic.discard(os.path.join(temporary, name))
            with open(os.path.join(temporary, name), "xb") as new:
                new.write(data)
        atomic.replace(temporary, path, keep=keep)
    finally:
        atomic.discard(temporary)


def _copy_file(root: str, name: str, path: str) -> None:
    """Copy a file of a skill with its times; a link that takes its name meanwhile is not followed out."""
    with os.fdopen(open_inside(root, name), "rb") as old:
        status = os.fstat(old.fileno())
        mode = status.st_mode & 0o777 | (stat.S_IXUSR if status.st_mode & 0o111 else 0)
        with open(path, "xb", opener=lambda place, flags: os.open(place, flags, mode)) as new:
            shutil.copyfileobj(old, new, MUCH)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


MAX_PATH = 1024  # bytes
MAX_FILE_NAME = 255  # bytes of a name between slashes

# Names that a file can't have on Windows.
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]|[ .]\Z')
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")  # in names, by macOS
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


def is_portable(path: str) -> bool:
    """Return whether every system can hold a file at this path, which leads nowhere else."""
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        return False
    return length <= MAX_PATH and all(map(_is_portable_segment, path.split("/")))


def find_collision(names: Iterable[str]) -> tuple[str, str] | None:
    """Return two names, or a name and a folder, that are one on some systems; None if there are none."""
    spellings: dict[str, str] = {}
    for name in names:
        parts = to_spelling(name).split("/")
        for count in range(1, len(parts) + 1):
            path = "/".join(parts[:count])
            own = name if count == len(parts) else "/".join(name.split("/")[:count]) + "/"
            if spellings.setdefault(path, own) != own:
                return own, spellings[path]
    return None


def to_spelling(name: str) -> str:
    """Return a text that is the same for names that are one on some systems."""
    return unicodedata.normalize("NFC", name).casefold()


def _is_portable_segment(segment: str) -> bool:
    return (
        segment not in ("", ".", "..")
        and len(segment.encode()) <= MAX_FILE_NAME
        and not _FORBIDDEN.search(segment)
        and not _RESERVED.fullmatch(segment)
        and not _is_other_spelling(segment)
    )


def _is_other_spelling(segment: str) -> bool:
    """Return whether some system takes a name for a folder of version control, and others do not."""
    name = _IGNORED.sub("", segment).lower()
    return name == "git~1" or (name in VERSION_CONTROL and segment not in VERSION_CONTROL)
