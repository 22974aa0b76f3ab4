"""The folder of a skill as a whole: its hash, and another one with the same files [D3].

Apart from `files`, because reading commands only list them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping

from skillc import atomic
from skillc.skills.files import list_files
from skillc.startup import file_sha256_hex, new_sha256


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
    for source in list_files(root, hidden=hidden):
        with open(source.path, "rb") as file:
            digests.append((source.name, file_sha256_hex(file, source.size)))
    return hash_source(digests)


def write_files(folder: str, files: Mapping[str, bytes]) -> None:
    """Write new files into a folder, contents by path; their paths were checked to lead nowhere else."""
    for path, data in files.items():
        place = os.path.join(folder, *path.split("/"))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "xb") as file:
            file.write(data)


def make_folder(
    path: str,
    *,
    copy_of: str | None = None,
    files: Mapping[str, bytes] | None = None,
    keep: Callable[[str], object] | None = None,
) -> None:
    """Replace the folder at `path` atomically by the files of `copy_of` and by `files`, contents by name.

    The old folder is discarded, or moved away by `keep`. Copies hidden files too. A link inside the folder
    becomes the file it points to; one that leaves it is PathEscapes.
    """
    temporary = atomic.temporary_path(path)
    os.mkdir(temporary)
    try:
        for file in list_files(copy_of, hidden=True) if copy_of is not None else ():
            copy = os.path.join(temporary, *file.name.split("/"))
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            shutil.copy2(file.path, copy)
        for name, data in (files or {}).items():
            atomic.discard(os.path.join(temporary, name))
            with open(os.path.join(temporary, name), "xb") as new:
                new.write(data)
        atomic.replace(temporary, path, keep=keep)
    finally:
        atomic.discard(temporary)
