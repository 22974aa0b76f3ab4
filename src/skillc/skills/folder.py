"""Make a skill's folder, whole or not at all: a copy of another, or from texts at hand."""

from __future__ import annotations

import os

from skillc import atomic
from skillc.skills.files import list_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def make_folder(path: str, *, copy_of: str | None = None, files: Mapping[str, bytes] | None = None) -> None:
    """Put a folder at `path`, replacing what is there: the files of `copy_of`, and `files` by name.

    Hidden files come along. Links inside the folder become the files they point to; one that leaves it
    is PathEscapes.
    """
    temporary = atomic.temporary_path(path)
    os.mkdir(temporary)
    try:
        if copy_of is not None:
            _copy(copy_of, temporary)
        for name, data in (files or {}).items():
            atomic.discard(os.path.join(temporary, name))
            with open(os.path.join(temporary, name), "xb") as file:
                file.write(data)
        atomic.replace(temporary, path)
    finally:
        atomic.discard(temporary)


def _copy(source: str, directory: str) -> None:
    import shutil

    for file in list_files(source, hidden=True):
        copy = os.path.join(directory, *file.name.split("/"))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy2(file.path, copy)
