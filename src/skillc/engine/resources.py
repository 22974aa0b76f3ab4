"""The files of a skill, for agents that can't open folders: listed, and read within limits."""

from __future__ import annotations

import os

from skillc.errors import FileNotFound
from skillc.skills import list_files, resolve_inside

MAX_LISTED = 500
MAX_READ = 256 * 1024  # bytes of a file that enter a context


def file_names(directory: str) -> list[str]:
    """Paths of a skill's files, at most MAX_LISTED."""
    return [file.name for file in list_files(directory)[:MAX_LISTED]]


def read_text(directory: str, path: str) -> str:
    """A file of a skill as text; what is over the limit is cut, and said to be."""
    real = resolve_inside(directory, path)
    if not os.path.isfile(real):
        raise FileNotFound(path)
    with open(real, "rb") as file:
        data = file.read(MAX_READ + 1)
    text = data[:MAX_READ].decode("utf-8", "replace")
    return f"{text}\n[truncated]" if len(data) > MAX_READ else text
