"""Scan a folder for SKILL.md files, with little more than a stat for each.

A directory with SKILL.md is a skill; directories below it are its files [D25]. A directory whose stamp
is that of the last walk holds the same names and is not listed again; one that changed a moment before
it was listed, or that holds links, always is.
"""

from __future__ import annotations

import os
from itertools import islice
from time import time, time_ns

from skillc.index import UNSETTLED, has_times, settle, stamp_of
from skillc.paths import SKILL_FILES
from skillc.skills import is_segment, to_segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skillc.index import Stamp

    Stack = list[tuple[str, str, frozenset[str]]]  # path, ID prefix, real paths of the links on the way

DiagnosticRow = tuple[str, str, str]  # code, severity, message
UNREADABLE = "cannot be read: "  # in messages

COLLECTION_FILE = "COLLECTION.md"
MAX_DIRECTORIES = 100_000  # links to each other can make any number of a few
MAX_ENTRIES = 2_000_000  # names of a walk
STEP = 200  # directories after which a walk looks at the clock
_FILE_TYPE, _REGULAR = 0o170000, 0o100000  # as in `stat`, which is not worth importing for two numbers


class Directory:
    """A directory that is no skill: its stamp, its subdirectories, and its COLLECTION.md's first line."""

    __slots__ = ("children", "collection", "collection_stamp", "stamp")

    def __init__(
        self, stamp: Stamp, children: list[str], collection: str = "", collection_stamp: str = ""
    ) -> None:
        self.stamp = stamp  # with 0 for the size
        self.children = children
        self.collection = collection
        self.collection_stamp = collection_stamp

    def columns(self) -> tuple[int, int, str, str]:
        """Return the values of its row from `modified` on."""
        return *self.stamp[1:], self.collection, self.collection_stamp


class SkillFile:
    """A SKILL.md: its path below the root, its skill's ID, its stamp."""

    __slots__ = ("path", "skill_id", "stamp")

    def __init__(self, path: str, skill_id: str, stamp: Stamp) -> None:
        self.path = path
        self.skill_id = skill_id
        self.stamp = stamp


class Walk:
    """A walk through a folder that starts from the last one's results. `error` is that of the root."""

    def __init__(
        self,
        root: str,
        directories: dict[str, Directory],
        files: Mapping[str, SkillFile],
        until: float | None = None,
        on_progress: Callable[[str, int, int], None] = lambda root, count, total: None,
    ) -> None:
        self._root = root
        self._entries = 0
        self._last_directories = directories
        self._last_files = {path.rpartition("/")[0]: file for path, file in files.items()}
        self._start = time_ns()
        self.directories: dict[str, Directory] = {}
        self.files: list[SkillFile] = []
        self.diagnostics: list[tuple[str, DiagnosticRow]] = []
        self.error: OSError | None = None
        stack: Stack = [("", "", frozenset({os.path.realpath(root)}))]
        count = 0
        self.is_late = False  # whether time was not enough
        while stack and count < MAX_DIRECTORIES and self._entries < MAX_ENTRIES and not self.is_late:
            stack += self._visit(*stack.pop())
            count += 1
            if count % STEP == 0:
                on_progress(root, count, 0)
                self.is_late = until is not None and time() > until
        if count >= STEP:
            on_progress(root, 0, 0)
        for path, _, _ in stack:
            self.unsettle_parent(path)
        if stack and self.is_late:  # take what was not visited from the last walk
            paths = {file.path for file in self.files}
            self.files += [file for file in self._last_files.values() if file.path not in paths]
            self.directories = directories | self.directories
        elif stack:
            limit = f"{MAX_DIRECTORIES} directories" if count >= MAX_DIRECTORIES else f"{MAX_ENTRIES} names"
            problem = f"over {limit}; the rest was not looked at"
            self.diagnostics.append(("", ("E999", "error", problem)))

    def _visit(self, path: str, prefix: str, links: frozenset[str]) -> Stack:
        """Visit a directory; return the directories below it that are still to be visited."""
        file = self._last_files.get(path)
        if file is not None and self._check_file(file):
            return []
        directory = self._last_directories.get(path)
        if directory is not None and has_times(f"{self._root}/{path}", directory.stamp[1:]):
            self.directories[path] = self._with_collection(path, directory)
            stack = []
            for name in directory.children:
                file = self._last_files.get(child := _join(path, name))
                stack.append((child, file.skill_id if file else _extend(prefix, name), links))
            return stack
        return self._list(path, prefix, links)

    def _check_file(self, file: SkillFile) -> bool:
        """Return whether a SKILL.md of the last walk is still there, and add it as it is now."""
        if not file.path.endswith(SKILL_FILES[0]):
            return False  # one with the preferred name may have come
        stamp = _stamp_regular(f"{self._root}/{file.path}")
        if stamp is None:
            return False
        self.files.append(file if file.stamp == stamp else SkillFile(file.path, file.skill_id, stamp))
        return True

    def _with_collection(self, path: str, directory: Directory) -> Directory:
        """Return an unchanged directory with its COLLECTION.md as it is now."""
        if not directory.collection_stamp:
            return directory
        file = os.path.join(self._root, path, COLLECTION_FILE)
        stamp = _collection_stamp(file, self._start)
        if stamp == directory.collection_stamp:
            return directory
        return Directory(directory.stamp, directory.children, read_first_line(file) if stamp else "", stamp)

    def _list(self, path: str, prefix: str, links: frozenset[str]) -> Stack:
        where = os.path.join(self._root, path) if path else self._root
        try:
            status = os.stat(where)
            with os.scandir(where) as names:
                entries = list(islice(names, MAX_ENTRIES))
            self._entries += len(entries)
        except OSError as error:
            if not path:
                self.error = error.with_traceback(None)  # whose frames would hold this walk in a cycle
            else:
                self.diagnostics.append((path, ("E999", "error", UNREADABLE + str(error.strerror))))
                self.unsettle_parent(path)
            return []
        main = next((e for name in SKILL_FILES for e in entries if e.name == name and _is(e.is_file)), None)
        if main is not None:
            self._add_file(main, path, prefix)
            return []
        stamp = settle((0, status.st_mtime_ns, status.st_ctime_ns), self._start)
        if any(_is(entry.is_symlink) for entry in entries):
            stamp = 0, UNSETTLED, 0  # what a link leads to changes without its directory
        directory = self.directories[path] = Directory(stamp, [])
        stack = []
        for entry in entries:
            if entry.name == COLLECTION_FILE and _is(entry.is_file):
                directory.collection = read_first_line(entry.path)
                directory.collection_stamp = _collection_stamp(entry.path, self._start)
            elif entry.name[0] != "." and _is(entry.is_dir):
                real = os.path.realpath(entry.path) if entry.is_symlink() else ""
                if real not in links:  # else it is a loop
                    directory.children.append(entry.name)
                    chain = links | {real} if real else links
                    stack.append((_join(path, entry.name), _extend(prefix, entry.name), chain))
        return stack

    def unsettle_parent(self, path: str) -> None:
        """Let the next walk try a directory again that was not read, and report it again."""
        parent = self.directories.get(path.rpartition("/")[0])
        if parent is not None:
            parent.stamp = 0, UNSETTLED, 0

    def _add_file(self, main: os.DirEntry[str], path: str, prefix: str) -> None:
        try:
            stamp = stamp_of(main.stat())
        except OSError:
            self.unsettle_parent(path)
            return  # gone since the directory was listed
        skill_id = prefix or to_segment(os.path.basename(self._root))  # the root itself is a skill
        self.files.append(SkillFile(_join(path, main.name), skill_id, stamp))


def _join(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _extend(prefix: str, name: str) -> str:
    return _join(prefix, name if is_segment(name) else to_segment(name))


def _is(kind: Callable[[], bool]) -> bool:
    """Return whether an entry is of a kind; a link to itself, which can't be followed, is of none."""
    try:
        return kind()
    except OSError:
        return False


def read_first_line(path: str) -> str:
    """Return a collection's description: the first line that is not empty [D26]."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return next((line.strip() for line in file.read(4096).splitlines() if line.strip()), "")
    except OSError:
        return ""


def _stamp_regular(path: str) -> Stamp | None:
    """Return the stamp of a regular file, None for anything else: opening a pipe may wait for ever."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return stamp_of(status) if status.st_mode & _FILE_TYPE == _REGULAR else None


def _collection_stamp(path: str, now: int) -> str:
    stamp = _stamp_regular(path)
    if stamp is None:
        return ""
    return "{}:{}:{}".format(*stamp) if settle(stamp, now) == stamp else "?"
