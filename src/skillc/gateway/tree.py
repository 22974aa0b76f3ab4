"""`sources`: the files of a skill as a tree [RFC-0002:C-SOURCES, D19]."""

from __future__ import annotations

import os

from skillc.errors import DirectoryNotFound
from skillc.skills.files import display_name, list_files, resolve_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.library import Skill


class Node:
    """An entry: a file, or a directory that is opened (`files` is 0) or not (`files` counts all below)."""

    __slots__ = ("depth", "files", "is_directory", "last", "name", "path")

    def __init__(self, name: str, path: str, depth: int, is_directory: bool, files: int, last: bool) -> None:
        self.name = name
        self.path = path
        self.depth = depth
        self.is_directory = is_directory
        self.files = files
        self.last = last  # of its directory


class Tree:
    """The entries in order, at most as many as were asked for, and how many more there are."""

    __slots__ = ("entries", "more", "root")

    def __init__(self, root: str, entries: list[Node], more: int) -> None:
        self.root = root
        self.entries = entries
        self.more = more


class _Directory:
    __slots__ = ("directories", "files")

    def __init__(self) -> None:
        self.directories: dict[str, _Directory] = {}
        self.files: list[str] = []

    def count(self) -> int:
        """All files below."""
        return len(self.files) + sum(directory.count() for directory in self.directories.values())


def sources(
    skill: Skill,
    *,
    depth: int | None = None,
    directory: str | None = None,
    limit: int = 100,
    pattern: str | None = None,
) -> Tree:
    """The tree of a skill's files; raises PathEscapes or DirectoryNotFound for `directory`."""
    prefix = _prefix(skill, directory) if directory is not None else ""
    top = _Directory()
    for file in list_files(skill.source):
        name = display_name(file.name)
        if name.startswith(prefix) and _matches(name, pattern):
            _add(top, name[len(prefix) :])
    entries = list(_walk(top, prefix, 1, depth))
    root = prefix.rstrip("/") or skill.name
    return Tree(root, entries[:limit], max(0, len(entries) - limit))


def _prefix(skill: Skill, directory: str) -> str:
    """A directory as the beginning of its files' names."""
    real = resolve_inside(skill.source, directory)
    if not os.path.isdir(real):
        raise DirectoryNotFound(directory)
    parts = [part for part in os.path.normpath(directory).split(os.sep) if part != os.curdir]
    return "".join(f"{part}/" for part in parts)


def _matches(name: str, pattern: str | None) -> bool:
    """Whether a file's name, or its path where the pattern has a `/`, matches."""
    if pattern is None:
        return True
    from fnmatch import fnmatchcase

    return fnmatchcase(name if "/" in pattern else name.rpartition("/")[2], pattern)


def _add(top: _Directory, name: str) -> None:
    *directories, file = name.split("/")
    for directory in directories:
        top = top.directories.setdefault(directory, _Directory())
    top.files.append(file)


def _walk(directory: _Directory, prefix: str, level: int, depth: int | None) -> Iterator[Node]:
    """Directories before files, each bytewise, down to `depth` levels."""
    names = sorted(directory.directories, key=str.encode)
    files = sorted(directory.files, key=str.encode)
    for number, name in enumerate(names):
        below = directory.directories[name]
        last = number == len(names) - 1 and not files
        opened = depth is None or level < depth
        yield Node(name, f"{prefix}{name}", level, True, 0 if opened else below.count(), last)
        if opened:
            yield from _walk(below, f"{prefix}{name}/", level + 1, depth)
    for number, name in enumerate(files):
        yield Node(name, f"{prefix}{name}", level, False, 0, number == len(files) - 1)
