"""The files of a skill, for agents that can't open folders: listed, and read within limits."""

from __future__ import annotations

import codecs
import os

from skillc.errors import FileNotFound
from skillc.skills import list_files, resolve_inside

MAX_READ = 256 * 1024  # bytes of a file that enter a context


def file_names(directory: str) -> list[str]:
    """Paths of a skill's files."""
    return [file.name for file in list_files(directory)]


def read_text(directory: str, path: str) -> str:
    """A file of a skill as text; what is over the limit is cut, and said to be."""
    real = resolve_inside(directory, path)
    if not os.path.isfile(real):
        raise FileNotFound(path)
    with open(real, "rb") as file:
        data = file.read(MAX_READ + 1)
    if len(data) <= MAX_READ:
        return data.decode("utf-8", "replace")
    decoder = codecs.getincrementaldecoder("utf-8")("replace")  # which leaves half a character at the end out
    return f"{decoder.decode(data[:MAX_READ])}\n[truncated]"
