"""Download what an origin has: its skills in a temporary folder, which is gone when the download is closed.

Nothing of it is run. What a server or an archive gives is bounded in size and number, and written below the
temporary folder alone.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from skillc import atomic, library, paths
from skillc.errors import Diagnostic, InvalidConfiguration, OriginNotFound, require_extra, warning
from skillc.install.discover import Found, discover, walk_folder
from skillc.install.origin import Candidate, Download, Origin
from skillc.library import Remote, hide_secrets

if TYPE_CHECKING:
    from skillc.library import RemoteTree

MAX_FILES = 500_000  # of a folder in which skills are looked for
MAX_MAIN_FILE = 32 << 20

Report = Callable[[Diagnostic], None]


@contextmanager
def open_download(
    origin: Origin,
    *,
    commit: str = "",
    wanted: Sequence[str] = (),
    lazy: bool = False,
    report: Report = lambda _: None,
) -> Iterator[Download]:
    """Give the skills of an origin: those that are `wanted`, by name or path, or all.

    `commit` is the whole ID of a git commit, which is fetched instead of what `ref` points to. With `lazy`,
    folders of candidates are incomplete until `complete` was called. Raises OriginNotFound (E080).
    """
    with _temporary_folder() as folder:
        if origin.is_git:
            result = _download_git(origin, folder, commit, wanted, report)
        else:
            result = _open_folder(origin, wanted, report)
        with result as found:
            if not lazy:
                found.complete(found.candidates)
            yield found


@contextmanager
def _temporary_folder() -> Iterator[str]:
    parent = os.path.join(paths.cache_directory(), "downloads")
    os.makedirs(parent, mode=0o700, exist_ok=True)
    atomic.sweep(parent)  # what a killed process left
    folder = atomic.temporary_path(os.path.join(parent, "download"))
    os.mkdir(folder, 0o700)
    try:
        yield folder
    finally:
        atomic.discard(folder)


@contextmanager
def _download_git(
    origin: Origin, folder: str, commit: str, wanted: Sequence[str], report: Report
) -> Iterator[Download]:
    remote = _remote(origin)
    files = os.path.join(folder, "files")
    with _git_errors(origin, remote), _open_tree(origin, remote, folder, commit) as tree:
        origin = replace(origin, ref=tree.ref, path=tree.path)

        def read(names: Sequence[str], folders: Sequence[str]) -> Mapping[str, bytes]:
            tree.require(folders)
            return tree.read(names)

        def complete(candidates: Sequence[Candidate]) -> None:
            with _git_errors(origin, remote):
                folders = [posixpath.dirname(candidate.path) for candidate in candidates]
                new = [each for each in folders if not os.path.isdir(_place(files, each))]
                for link in tree.write(new, files):
                    report(warning("W081", link))

        names = [path for path, entry in tree.entries.items() if not entry.is_folder and not entry.is_link]
        if origin.path and origin.path not in tree.entries:
            raise OriginNotFound(origin.label(), f"there is no folder '{origin.path}' in it")
        found = discover(origin, names, read, wanted, report)
        candidates = [_candidate(each, files, tree.id_of(each.folder)) for each in found]
        yield Download(
            origin, files, tuple(candidates), tree.commit, remote.url, complete, tree.time, tree.is_tag
        )


def _open_tree(
    origin: Origin, remote: Remote, folder: str, commit: str
) -> AbstractContextManager[RemoteTree]:
    with require_extra("git"):
        open_tree = library.open_tree  # imports dulwich
    return open_tree(remote, origin.ref, origin.path, folder, commit=commit)


def _remote(origin: Origin) -> Remote:
    try:
        return library.parse_address(origin.address)
    except InvalidConfiguration as error:
        raise OriginNotFound(origin.label(), error.message.rpartition(": ")[2]) from None


@contextmanager
def _git_errors(origin: Origin, remote: Remote) -> Iterator[None]:
    """Turn errors of a fetch into OriginNotFound, without secrets."""
    try:
        yield
    except library.RefNotFound as error:
        name = str(error)
        if name == "HEAD":
            raise OriginNotFound(origin.label(), "the repository has no commits") from None
        hint = f"hint: a skill of it is named by --skill {name}"
        raise OriginNotFound(origin.label(), f"it has no branch, tag or commit '{name}'", hint) from None
    except library.FetchError as error:
        raise OriginNotFound(origin.label(), remote.hide(hide_secrets(str(error)))) from None


@contextmanager
def _open_folder(origin: Origin, wanted: Sequence[str], report: Report) -> Iterator[Download]:
    """Give the skills of a folder on this machine, where they are."""
    root = os.path.realpath(origin.url)
    if not os.path.isdir(root):
        raise OriginNotFound(origin.label(), "there is no such folder")

    def read(names: Sequence[str], folders: Sequence[str]) -> Mapping[str, bytes]:
        places = {name: _place(root, name) for name in names}
        existing = {name: place for name, place in places.items() if os.path.isfile(place)}
        return {name: paths.read_regular(place, MAX_MAIN_FILE) for name, place in existing.items()}

    found = discover(origin, walk_folder(root, MAX_FILES), read, wanted, report)
    candidates = [_candidate(each, root) for each in found]
    yield Download(origin, root, tuple(candidates), resolved=root)


def _candidate(found: Found, root: str, tree: str = "") -> Candidate:
    folder = _place(root, found.folder)
    return Candidate(found.name, folder, found.path, found.description, tree)


def _place(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/")) if path else root
