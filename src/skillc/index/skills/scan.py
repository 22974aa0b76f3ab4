"""Every SKILL.md below a folder, and what changed since the last look: a stat for each, little more.

A directory with SKILL.md is a skill; directories below it are its files [D25]. A directory whose
times of change are the known ones holds the same names, so it is not listed again; one
that changed a moment before it was listed, or that holds links, always is.
"""

from __future__ import annotations

import os
from time import time_ns

from skillc.index.skills.parse import UNSETTLED, trusted
from skillc.paths import SKILL_FILES
from skillc.skills import is_segment, to_segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillc.index.skills.parse import Noticed, Stamp

COLLECTION_FILE = "COLLECTION.md"
MAX_DIRECTORIES = 100_000  # links to each other can make any number of a few


class Directory:
    """A directory that is no skill: when its names last changed, those below it, and its COLLECTION.md."""

    __slots__ = ("children", "collection", "collection_stamp", "stamp")

    def __init__(
        self, stamp: Stamp, children: list[str], collection: str = "", collection_stamp: str = ""
    ) -> None:
        self.stamp = stamp  # the size counts for nothing
        self.children = children
        self.collection = collection
        self.collection_stamp = collection_stamp


class Found:
    """A SKILL.md as it was met: its path below the root with its own name, its skill's ID, its stamp."""

    __slots__ = ("path", "skill_id", "stamp")

    def __init__(self, path: str, skill_id: str, stamp: Stamp) -> None:
        self.path = path
        self.skill_id = skill_id
        self.stamp = stamp


class Walk:
    """A look at a folder. `error` is why the root could not be read."""

    __slots__ = ("_known", "_known_files", "_root", "_started", "directories", "error", "found", "noticed")

    def __init__(self, root: str, known: dict[str, Directory], files: Mapping[str, Found]) -> None:
        self._root = root
        self._known = known
        self._known_files = {path.rpartition("/")[0]: item for path, item in files.items()}
        self._started = time_ns()
        self.directories: dict[str, Directory] = {}
        self.found: list[Found] = []
        self.noticed: list[tuple[str, Noticed]] = []
        self.error: OSError | None = None
        pending = [("", "", frozenset({os.path.realpath(root)}))]
        seen = 0
        while pending and seen < MAX_DIRECTORIES:
            pending += self._visit(*pending.pop())
            seen += 1
        if pending:
            problem = f"over {MAX_DIRECTORIES} directories; the rest was not looked at"
            self.noticed.append(("", ("E999", "error", problem)))
            for path, _, _ in pending:
                self._distrust_above(path)

    def _visit(self, path: str, prefix: str, chain: frozenset[str]) -> list[tuple[str, str, frozenset[str]]]:
        """Look at a directory; returns those below it that are to be looked at."""
        item = self._known_files.get(path)
        if item is not None and self._meet(item):
            return []
        directory = self._known.get(path)
        if directory is not None and self._same(path, directory):
            self._keep(path, directory)
            below = [(_join(path, name), name) for name in directory.children]
            return [(child, self._prefix(child, prefix, name), chain) for child, name in below]
        return self._list(path, prefix, chain)

    def _prefix(self, path: str, above: str, name: str) -> str:
        item = self._known_files.get(path)
        return item.skill_id if item is not None else _below(above, name)

    def _meet(self, item: Found) -> bool:
        """Whether a known SKILL.md is still there; then it is noted as it is now."""
        if not item.path.endswith(SKILL_FILES[0]):
            return False  # one with the other name may have come
        try:
            status = os.stat(f"{self._root}/{item.path}")
        except OSError:
            return False
        stamp = status.st_size, status.st_mtime_ns, status.st_ctime_ns
        if status.st_mode & 0o170000 != 0o100000:
            return False
        self.found.append(item if item.stamp == stamp else Found(item.path, item.skill_id, stamp))
        return True

    def _same(self, path: str, directory: Directory) -> bool:
        if directory.stamp[1] == UNSETTLED:
            return False
        try:
            status = os.stat(f"{self._root}/{path}")
        except OSError:
            return False
        return (status.st_mtime_ns, status.st_ctime_ns) == directory.stamp[1:]

    def _keep(self, path: str, directory: Directory) -> None:
        if directory.collection_stamp:
            file = os.path.join(self._root, path, COLLECTION_FILE)
            now = _file_stamp(file, self._started)
            if now != directory.collection_stamp:
                words = first_line(file) if now else ""
                directory = Directory(directory.stamp, directory.children, words, now)
        self.directories[path] = directory

    def _list(self, path: str, prefix: str, chain: frozenset[str]) -> list[tuple[str, str, frozenset[str]]]:
        where = os.path.join(self._root, path) if path else self._root
        try:
            status = os.stat(where)
            with os.scandir(where) as names:
                entries = list(names)
        except OSError as error:
            if not path:
                self.error = error
            else:
                self.noticed.append((path, ("E999", "error", f"cannot be read: {error.strerror}")))
                self._distrust_above(path)
            return []
        main = _main(entries)
        if main is not None:
            self._note(main, path, prefix)
            return []
        stamp = trusted((0, status.st_mtime_ns, status.st_ctime_ns), self._started)
        if any(_is(entry.is_symlink) for entry in entries):
            stamp = 0, UNSETTLED, 0  # what a link leads to changes without its directory
        directory = self.directories[path] = Directory(stamp, [])
        below = []
        for entry in entries:
            if entry.name == COLLECTION_FILE and _is(entry.is_file):
                directory.collection = first_line(entry.path)
                directory.collection_stamp = _file_stamp(entry.path, self._started)
            elif entry.name[0] != "." and _is(entry.is_dir):
                real = os.path.realpath(entry.path) if entry.is_symlink() else ""
                if real not in chain:  # else it leads back to where we came from
                    directory.children.append(entry.name)
                    deeper = chain | {real} if real else chain
                    below.append((_join(path, entry.name), _below(prefix, entry.name), deeper))
        return below

    def _distrust_above(self, path: str) -> None:
        """See to it that a directory that could not be noted is tried again, and told of again."""
        above = self.directories.get(path.rpartition("/")[0])
        if above is not None:
            above.stamp = 0, UNSETTLED, 0

    def _note(self, main: os.DirEntry[str], path: str, prefix: str) -> None:
        try:
            status = main.stat()
        except OSError:
            self._distrust_above(path)
            return  # gone since the directory was read
        own = prefix or to_segment(os.path.basename(self._root))  # the root itself is a skill
        stamp = status.st_size, status.st_mtime_ns, status.st_ctime_ns
        self.found.append(Found(_join(path, main.name), own, stamp))


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _below(prefix: str, name: str) -> str:
    segment = name if is_segment(name) else to_segment(name)
    return f"{prefix}/{segment}" if prefix else segment


def id_prefix(path: str) -> str:
    """The ID that a directory's path gives to what is below it."""
    prefix = ""
    for name in path.split("/") if path else ():
        prefix = _below(prefix, name)
    return prefix


def _main(entries: list[os.DirEntry[str]]) -> os.DirEntry[str] | None:
    for name in SKILL_FILES:
        for entry in entries:
            if entry.name == name and _is(entry.is_file):
                return entry
    return None


def _is(kind: Callable[[], bool]) -> bool:
    """Whether an entry is of a kind; one that can't be told (a link to itself) is of none."""
    try:
        return kind()
    except OSError:
        return False


def first_line(path: str) -> str:
    """A collection's description: the first line that is not empty [D26]."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return next((line.strip() for line in file.read(4096).splitlines() if line.strip()), "")
    except OSError:
        return ""


def _file_stamp(path: str, now: int) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    if status.st_mode & 0o170000 != 0o100000:
        return ""  # opening what is no file may wait for ever
    stamp = trusted((status.st_size, status.st_mtime_ns, status.st_ctime_ns), now)
    return "{}:{}:{}".format(*stamp) if stamp[1] != UNSETTLED else "?"
