"""One commit of a repository: read it, and write its files into a folder, and nothing outside that.

What is written is plain files, without links, a `.git`, a configuration or hooks.
"""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from dulwich.errors import ObjectFormatException
from dulwich.index import validate_path_element_default, validate_path_element_hfs, validate_path_element_ntfs
from dulwich.object_store import PackCapableObjectStore
from dulwich.objects import S_ISGITLINK, Blob, Commit, ObjectID, Tag, Tree, parse_tree

from skillc.remotes.git.address import FetchError
from skillc.remotes.git.pack import PackObjects

MAX_ENTRIES = 1_000_000  # files and folders of a repository
MAX_FILES = 100_000  # that are written
MAX_LINKS = 40  # symbolic links on the way to a file, and folders inside each other that are links
MAX_PATH = 1024

Store = PackCapableObjectStore | PackObjects
Fetch = Callable[[str, list[ObjectID]], None]
T = TypeVar("T")


class Choice(NamedTuple):
    """What is wanted of a repository: a commit or tag by its ID, and ref and path as they are divided."""

    tip: str
    ref: str
    path: str = ""
    is_tag: bool = False


class Entry(NamedTuple):
    """A file, link or folder of a commit: its mode in git and the ID of its content."""

    mode: int
    id: ObjectID

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)


@dataclass(slots=True)
class RemoteTree:
    """The tree of one commit. Paths have forward slashes; the root is the empty path.

    `ref` and `path` are those that were asked for, divided as the repository has it: in an address, a ref
    with slashes can't be told from a path.
    """

    commit: str
    ref: str
    path: str
    _store: Store = field(repr=False)
    entries: dict[str, Entry] = field(default_factory=dict)
    time: int = 0  # of the commit, in seconds since 1970
    is_tag: bool = False  # whether `ref` is a tag
    trap: str = ""  # the first path that no folder can have, or that is there twice; it is not in `entries`
    url: str = ""  # that answered, after redirects
    signed: tuple[bytes, bytes] = (b"", b"")  # the commit as it is, and the tag that names it, if one does
    _limit: int = field(default=0, repr=False)  # bytes that may be written
    _fetch: Fetch | None = field(default=None, repr=False)  # gets files of the commit
    _paths: list[str] = field(init=False, repr=False)  # sorted

    def __post_init__(self) -> None:
        self._paths = sorted(self.entries)

    def files(self) -> list[str]:
        return [path for path, entry in self.entries.items() if not entry.is_folder and not entry.is_link]

    def id_of(self, folder: str) -> str:
        """Return the ID of a folder's tree."""
        return self.entries[folder].id.decode()

    def links_in(self, folder: str) -> frozenset[str]:
        """Return the links below a folder, by their paths in it."""
        start = len(folder) + 1 if folder else 0
        return frozenset(path[start:] for path, entry in self._below(folder) if entry.is_link)

    def read(self, paths: Sequence[str]) -> dict[str, bytes]:
        """Return the contents of files by path; what is no file is left out."""
        entries = {path: self.entries[path] for path in paths if path in self.entries}
        files = {path: e.id for path, e in entries.items() if stat.S_ISREG(e.mode)}
        self._require(files.values())
        return {path: read_blob(self._store, sha) for path, sha in files.items()}

    def write(self, paths: Sequence[str], folder: str) -> list[str]:
        """Write folders of the commit below `folder`, each at its own path; return the links left out.

        A link becomes what it points to in the repository. One that leaves it, or leads nowhere, is left out.
        """
        files: dict[str, Entry] = {}
        dead_links: list[str] = []
        self.require(paths)
        for path in paths:
            if self.trap and f"{self.trap}/".startswith(f"{path}/" if path else ""):
                raise FetchError(f"unsafe file name {self.trap!r}")
            self._collect(path, path, (), files, dead_links)
        self._require(entry.id for entry in files.values())
        for path, entry in files.items():
            place = os.path.join(folder, *path.split("/"))
            if not os.path.lexists(place):  # else written for a folder around it, or inside
                os.makedirs(os.path.dirname(place), exist_ok=True)
                self._write_file(place, entry)
        return dead_links

    def _write_file(self, place: str, entry: Entry) -> None:
        data = read_blob(self._store, entry.id)
        self._limit -= len(data)
        if self._limit < 0:
            raise FetchError("the files are too large")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(place, flags, 0o755 if entry.mode & 0o111 else 0o644), "wb") as file:
            file.write(data)

    def require(self, folders: Iterable[str]) -> None:
        """Fetch all files of folders at once."""
        self._require(e.id for folder in folders for _, e in self._below(folder) if not e.is_folder)

    def _below(self, path: str) -> Iterator[tuple[str, Entry]]:
        """Yield everything in a folder and its folders."""
        prefix = f"{path}/" if path else ""
        for index in range(bisect_left(self._paths, prefix), len(self._paths)):
            inner = self._paths[index]
            if not inner.startswith(prefix):
                return
            if inner:
                yield inner, self.entries[inner]

    def _collect(
        self, path: str, place: str, chain: tuple[str, ...], files: dict[str, Entry], dead_links: list[str]
    ) -> None:
        """Add the files of the folder at `path` as they shall be written at `place`."""
        for inner, entry in self._below(path):
            target = f"{place}{inner[len(path) :]}" if path else inner
            if not all(map(_is_safe, target.split("/"))) or len(target) > MAX_PATH:
                raise FetchError(f"unsafe file name {target!r}")
            if entry.is_link:
                real = self._resolve(inner)
                is_loop = real in chain or len(chain) > MAX_LINKS or inner.startswith(f"{real}/")
                if not real or is_loop:
                    dead_links.append(target)
                elif self.entries[real].is_folder:
                    self._collect(real, target, (*chain, real), files, dead_links)
                else:
                    files[target] = self.entries[real]
            elif stat.S_ISREG(entry.mode):
                files[target] = entry
            if len(files) + len(dead_links) > MAX_FILES:
                raise FetchError(f"{'a folder' if path else 'the repository'} has over {MAX_FILES} files")

    def _resolve(self, link: str) -> str | None:
        """Return the path in the repository that a link leads to; None for one that leads elsewhere."""
        way: list[str] = []
        rest = link.split("/")[::-1]
        links = 0
        while rest:
            word = rest.pop()
            if word in ("", "."):
                continue
            if word == "..":
                if not way:
                    return None
                way.pop()
                continue
            entry = self.entries.get("/".join([*way, word]))
            if entry is None:
                return None
            if not entry.is_link:
                way.append(word)
                continue
            links += 1
            self._require([entry.id])
            target = os.fsdecode(read_blob(self._store, entry.id))
            if links > MAX_LINKS or target.startswith("/") or not 0 < len(target) <= MAX_PATH:
                return None
            rest += target.split("/")[::-1]
        return "/".join(way)

    def _require(self, ids: Iterable[ObjectID]) -> None:
        """Fetch the contents of files that are not here yet."""
        new_ids = sorted({sha for sha in ids if sha not in self._store})
        if not new_ids:
            return
        if self._fetch is None:
            raise FetchError("the repository is damaged: files are missing")
        self._fetch(self.commit, new_ids)
        if any(sha not in self._store for sha in new_ids):
            raise FetchError("the server did not send what was asked for")


def read_tree(
    store: Store,
    choice: Choice,
    limit: int,
    fetch: Fetch | None = None,
    *,
    url: str,
) -> RemoteTree:
    """Read the folders of a commit, to which tags are followed."""
    target = _get(store.__getitem__, ObjectID(choice.tip.encode()))
    tag = b""
    while isinstance(target, Tag):
        # One of another name says nothing: a server may show an old tag in the place of a new one.
        is_named = choice.ref in (choice.tip, target.name.decode("utf-8", "replace"))
        tag = tag or (target.as_raw_string() if is_named else b"")
        target = _get(store.__getitem__, target.object[1])
    if not isinstance(target, Commit):
        raise FetchError(f"'{choice.ref or choice.tip}' is not a commit")
    entries: dict[str, Entry] = {"": Entry(stat.S_IFDIR, target.tree)}
    queue = [("", target.tree)]
    trap = ""
    while queue:
        prefix, sha = queue.pop()
        for name, mode, inner in _read_folder(store, sha):
            place = prefix + os.fsdecode(name)
            if b"/" in name or name in (b"", b".", b"..") or len(place) > MAX_PATH or place in entries:
                trap = trap or place
            elif not S_ISGITLINK(mode):
                entries[place] = Entry(mode, inner)
                if stat.S_ISDIR(mode):
                    queue.append((f"{place}/", inner))
        if len(entries) > MAX_ENTRIES:
            raise FetchError(f"the repository has over {MAX_ENTRIES} files")
    _, ref, path, is_tag = choice
    commit, time, signed = target.id.decode(), target.commit_time, (target.as_raw_string(), tag)
    return RemoteTree(commit, ref, path, store, entries, time, is_tag, trap, url, signed, limit, fetch)


def _read_folder(store: Store, sha: ObjectID) -> list[tuple[bytes, int, ObjectID]]:
    """Return name, mode and ID of everything in a folder."""
    kind, data = _get(store.get_raw, sha)
    if kind != Tree.type_num:
        raise FetchError("a folder in the repository is none")
    try:
        return [(name, mode, ObjectID(inner)) for name, mode, inner in parse_tree(data, 20)]
    except (ObjectFormatException, ValueError):
        raise FetchError("a folder of the repository is damaged") from None


def read_blob(store: Store, sha: ObjectID) -> bytes:
    kind, data = _get(store.get_raw, sha)
    if kind != Blob.type_num:
        raise FetchError("a file in the repository is none")
    return data


def _get(read: Callable[[ObjectID], T], sha: ObjectID) -> T:
    """Return an object of a store; every failure becomes FetchError."""
    try:
        return read(sha)
    except FetchError:
        raise
    except KeyError:
        raise FetchError("the server did not send what was asked for") from None
    except Exception as error:  # dulwich has no base class for what a damaged object can raise
        raise FetchError(f"an object of the repository is damaged ({type(error).__name__})") from None


def _is_safe(path: str) -> bool:
    """Return whether the last part is a plain name on every system, and no way to spell `.git`."""
    name = os.fsencode(path.rpartition("/")[2])
    if not name or any(bad in name for bad in (b"\\", b"\0")) or (os.name == "nt" and b":" in name):
        return False
    if not (validate_path_element_default(name) and validate_path_element_ntfs(name)):
        return False
    try:
        name.decode()
    except UnicodeDecodeError:
        return True  # the next check takes UTF-8 alone
    return validate_path_element_hfs(name)
