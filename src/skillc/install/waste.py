"""Waste: something of ours that can go, how large it is, and how it goes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from time import gmtime, strftime
from typing import Any

from skillc import trash
from skillc.errors import unexpected
from skillc.text import one_line

CACHE, ORPHAN, GHOST, LEFTOVER = "cache", "orphan", "ghost", "leftover"
REMOVED, TRASHED, KEPT = "removed", "trashed", "kept"


@dataclass(frozen=True, slots=True)
class Waste:
    """Something that can go: `what` it is, `origin` what it was made from, `when` it was last written.

    `remove` deletes it, or puts it into the trash and returns the ID there; it raises OSError, which is a
    BlockingIOError for what is in use.
    """

    kind: str
    what: str
    path: str
    origin: str
    when: str
    size: int
    remove: Callable[[], str]

    def as_json(self) -> dict[str, Any]:
        return {
            "id": f"{self.kind}:{self.path}",
            "kind": self.kind,
            "what": self.what,
            "path": self.path,
            "from": self.origin,
            "when": self.when,
            "size": self.size,
        }


@dataclass(frozen=True, slots=True)
class Disposal:
    """What became of waste: removed, trashed (`detail` is the ID in the trash) or kept (the reason)."""

    waste: Waste
    result: str
    detail: str = ""

    def as_json(self) -> dict[str, Any]:
        return {**self.waste.as_json(), "result": self.result, "detail": self.detail}


def make_waste(
    kind: str,
    what: str,
    path: str,
    remove: Callable[[], object] | None = None,
    *,
    origin: str = "",
    size: int | None = None,
) -> Waste:
    """Return waste at a path. Without `remove` the file or folder is deleted; what that returns is an ID."""

    def delete() -> str:
        if remove is None:
            delete_path(path)
            return ""
        item = remove()
        return item.id if isinstance(item, trash.TrashItem) else ""

    total = measure_size(path) if size is None else size
    return Waste(kind, what, path, one_line(origin), _time(path), total, delete)


def remove_waste(waste: Waste) -> Disposal:
    """Remove something, and say what became of it; never fails."""
    try:
        item = waste.remove()
    except BlockingIOError:
        return Disposal(waste, KEPT, "in use by another process")
    except Exception as error:  # whatever is wrong with this one, the others can go
        return Disposal(waste, KEPT, unexpected(error).message)
    return Disposal(waste, TRASHED if item else REMOVED, item)


def delete_path(path: str) -> None:
    """Delete a file, a link or a whole folder; raise OSError for what is left."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def measure_size(path: str) -> int:
    """Return the bytes of a file, or of all files in a folder; links are not followed."""
    if os.path.islink(path) or not os.path.isdir(path):
        return _file_size(path)
    return sum(_file_size(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def list_folders(root: str) -> list[str]:
    """Return the folders in a directory, in order; links are none."""
    places = (os.path.join(root, name) for name in list_names(root))
    return [place for place in places if os.path.isdir(place) and not os.path.islink(place)]


def list_names(directory: str) -> list[str]:
    """Return the names in a directory, in order; none where it can't be read."""
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _file_size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _time(path: str) -> str:
    try:
        return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(os.lstat(path).st_mtime))
    except (OSError, OverflowError, ValueError):
        return ""
