"""One commit of a repository, of which only the files that are wanted are fetched.

The first request gets the commit and its trees, where the server can leave the contents of files out
(protocol 2 with the filter `blob:none`); a second one gets the files that are read or written. A server that
can't sends everything at once, without history. A repository on this machine is read where it is.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from dulwich.errors import NotGitRepository, ObjectFormatException
from dulwich.object_store import PackCapableObjectStore
from dulwich.objects import S_ISGITLINK, Commit, ObjectID, Tree, parse_tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from skillc import atomic
from skillc.remotes.git.config import FetchError, GitRemote, RefNotFound, Refusal
from skillc.remotes.git.fetch import Fetch, peel
from skillc.remotes.git.pack import PackObjects
from skillc.remotes.git.transport import NO_REPOSITORY, Greeting
from skillc.remotes.git.tree import is_safe, read_blob, read_raw

MAX_ENTRIES = 1_000_000  # files and folders of a repository
MAX_FILES = 100_000  # of one folder that is written
MAX_LINKS = 40  # symbolic links on the way to a file
MAX_PATH = 1024
MANY = 2000  # files; to fetch more, everything is fetched at once
NO_FILES = b"blob:none"

Refs = dict[Ref, ObjectID]
Store = PackCapableObjectStore | PackObjects


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
    entries: dict[str, Entry]
    _store: Store = field(repr=False)
    _fetch: Fetch | None = field(repr=False)
    _limit: int = field(repr=False)
    time: int = 0  # of the commit, in seconds since 1970
    is_tag: bool = False  # whether `ref` is a tag
    greeting: Greeting = field(default_factory=Greeting, repr=False)
    _paths: list[str] = field(init=False, repr=False)  # sorted

    def __post_init__(self) -> None:
        self._paths = sorted(self.entries)

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
            self._collect(path, path, (), files, dead_links)
        self._require(entry.id for entry in files.values())
        for path, entry in files.items():
            place = os.path.join(folder, *path.split("/"))
            if os.path.lexists(place):
                continue  # written for a folder around it, or inside
            os.makedirs(os.path.dirname(place), exist_ok=True)
            data = read_blob(self._store, entry.id)
            self._limit -= len(data)
            if self._limit < 0:
                raise FetchError("the files are too large")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            with os.fdopen(os.open(place, flags, 0o755 if entry.mode & 0o111 else 0o644), "wb") as file:
                file.write(data)
        return dead_links

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
            if not all(is_safe(os.fsencode(word)) for word in target.split("/")) or len(target) > MAX_PATH:
                raise FetchError(f"unsafe file name {target!r}")
            if entry.is_link:
                real = self._resolve(inner)
                if real is None or real in chain or _is_inside(inner, real):
                    dead_links.append(target)
                elif self.entries[real].is_folder:
                    self._collect(real, target, (*chain, real), files, dead_links)
                else:
                    files[target] = self.entries[real]
            elif stat.S_ISREG(entry.mode):
                files[target] = entry
            if len(files) + len(dead_links) > MAX_FILES:
                raise FetchError(f"a folder has over {MAX_FILES} files")

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
        whole = Fetch(self._fetch.remote, self._fetch.store)
        try:
            if len(new_ids) <= MANY:
                whole.request(lambda refs, depth=None: new_ids, None, [b"HEAD"], self.greeting)
        except Refusal:
            pass
        if any(sha not in self._store for sha in new_ids):
            whole.fetch_commit(self.commit, 1)
        if any(sha not in self._store for sha in new_ids):
            raise FetchError("the server did not send what was asked for")


@contextmanager
def open_tree(
    remote: GitRemote, ref: str, path: str, folder: str, *, commit: str = ""
) -> Iterator[RemoteTree]:
    """Give the tree of a commit: of `commit`, a whole ID, else of what `ref` points to, else of HEAD.

    `folder` is a place for temporary files. Raises FetchError, and RefNotFound for a ref that is not there.
    """
    if remote.scheme == "file":
        with _open_local(remote) as repository:
            store = repository.object_store
            refs = repository.get_refs()
            tip, ref, path = _choose(refs, ref, path) if not commit else (commit, ref, path)
            tree = _read(store, tip or _find_commit(store, ref), ref, path, None, remote)
            tree.is_tag = not commit and _is_tag(refs, ref)
            yield tree
        return
    objects = os.path.join(folder, "objects")
    packs = PackObjects(objects, remote.max_bytes)
    try:
        fetch = Fetch(remote, packs, filter=NO_FILES)
        greeting = Greeting()
        tip, ref, path, is_tag = _fetch(fetch, commit, ref, path, greeting)
        tree = _read(packs, tip, ref, path, fetch, remote)
        tree.is_tag, tree.greeting = is_tag, greeting
        yield tree
    finally:
        packs.close()
        atomic.discard(objects)


@contextmanager
def _open_local(remote: GitRemote) -> Iterator[Repo]:
    try:
        repository = Repo(remote.path)
    except (NotGitRepository, OSError):
        raise FetchError(NO_REPOSITORY) from None
    except Exception as error:  # a configuration that can't be read, or a format of a later git
        raise FetchError(f"the repository can't be read ({type(error).__name__})") from None
    try:
        yield repository
    finally:
        repository.close()


def _fetch(fetch: Fetch, commit: str, ref: str, path: str, greeting: Greeting) -> tuple[str, str, str, bool]:
    """Fetch a commit without its files; return the tip, how ref and path are divided, and if it is a tag."""
    if commit:
        return fetch.fetch_commit(commit, 1), ref, path, False
    choices: list[tuple[str, str, str, bool]] = []

    def want(refs: Refs, depth: int | None = None) -> list[ObjectID]:
        tip, name, folder = _choose(refs, ref, path)
        choices.append((tip, name, folder, _is_tag(refs, name)))
        return [ObjectID(tip.encode())] if tip else []

    names = [f"refs/{kind}/{ref}".encode() for kind in ("heads", "tags")] if ref else []
    fetch.request(want, 1, [b"HEAD", *names], greeting)
    tip, ref, path, is_tag = choices[0]
    return tip or fetch.fetch_commit(ref, 1), ref, path, is_tag


def _is_tag(refs: Refs, ref: str) -> bool:
    names = [Ref(f"refs/{kind}/{ref}".encode()) for kind in ("heads", "tags")]
    return names[0] not in refs and names[1] in refs


def _choose(refs: Refs, ref: str, path: str) -> tuple[str, str, str]:
    """Return the tip of a ref, with the ref and the path as they are to be divided.

    The tip is empty for what may be a commit's ID. Raises RefNotFound.
    """
    if not ref:
        if b"HEAD" not in refs:
            raise RefNotFound("HEAD")
        return refs[Ref(b"HEAD")].decode(), "", path
    words = path.split("/") if path else []
    for count in range(len(words) + 1):
        name = "/".join([ref, *words[:count]])
        for kind in ("heads", "tags"):
            tip = refs.get(Ref(f"refs/{kind}/{name}".encode()))
            if tip is not None and re.fullmatch(b"[0-9a-f]{40}", tip):
                return tip.decode(), name, "/".join(words[count:])
    if re.fullmatch("[0-9a-fA-F]{7,40}", ref):
        return "", ref.lower(), path
    raise RefNotFound(ref)


def _find_commit(store: PackCapableObjectStore, name: str) -> str:
    """Return the commit of a local repository that starts with `name`."""
    commits = [i for i in store.iter_prefix(name.encode()) if isinstance(store[i], Commit)]
    if len(commits) != 1:
        raise RefNotFound(name)
    return commits[0].decode()


def _read(store: Store, tip: str, ref: str, path: str, fetch: Fetch | None, remote: GitRemote) -> RemoteTree:
    commit = peel(store, tip, ref or tip)
    entries: dict[str, Entry] = {"": Entry(stat.S_IFDIR, commit.tree)}
    queue = [("", commit.tree)]
    while queue:
        prefix, sha = queue.pop()
        for name, mode, inner in _read_folder(store, sha):
            place = prefix + os.fsdecode(name)
            if S_ISGITLINK(mode) or b"/" in name or name in (b"", b".", b"..") or len(place) > MAX_PATH:
                continue
            entries[place] = Entry(mode, inner)
            if stat.S_ISDIR(mode):
                queue.append((f"{place}/", inner))
        if len(entries) > MAX_ENTRIES:
            raise FetchError(f"the repository has over {MAX_ENTRIES} files")
    time = commit.commit_time
    return RemoteTree(commit.id.decode(), ref, path, entries, store, fetch, remote.max_bytes, time)


def _read_folder(store: Store, sha: ObjectID) -> list[tuple[bytes, int, ObjectID]]:
    """Return name, mode and ID of everything in a folder."""
    kind, data = read_raw(store, sha)
    if kind != Tree.type_num:
        raise FetchError("a folder in the repository is none")
    try:
        return [(name, mode, ObjectID(inner)) for name, mode, inner in parse_tree(data, 20)]
    except (ObjectFormatException, ValueError):
        raise FetchError("a folder of the repository is damaged") from None


def _is_inside(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")
