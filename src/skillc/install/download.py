"""Download what an origin has: its skills in a temporary folder, which is gone when the download is closed.

Nothing of it is run. What a server or an archive gives is bounded in size and number, and written below the
temporary folder alone.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from skillc import atomic, library, paths, remotes
from skillc.errors import (
    ArchiveRefused,
    Diagnostic,
    InvalidConfiguration,
    OriginNotFound,
    warning,
)
from skillc.install.clawhub import open_registry
from skillc.install.discover import MainFile, discover, walk_folder
from skillc.install.marketplace import find_marketplace
from skillc.install.origin import Candidate, Download, Origin
from skillc.install.registry import open_native
from skillc.install.site import open_site
from skillc.install.web import Web
from skillc.remotes import (
    MAX_PACKED,
    address_after,
    find_root,
    guess_type,
    hide_secrets,
    unpack_archive,
)

if TYPE_CHECKING:
    from skillc.remotes import Response

MAX_FILES = 500_000  # of a folder in which skills are looked for
MAX_MAIN_FILE = 32 << 20

Report = Callable[[Diagnostic], None]


@contextmanager
def open_download(
    origin: Origin,
    *,
    commit: str = "",
    names: Sequence[str] = (),
    lazy: bool = False,
    report: Report = lambda _: None,
) -> Iterator[Download]:
    """Give the skills of an origin: those with these `names`, which may be paths, or all.

    `commit` is the whole ID of a git commit, which is fetched instead of what `ref` points to. With `lazy`,
    folders of candidates are incomplete until `complete` was called. Raises OriginNotFound (E080).
    """
    with _temporary_folder() as folder, ExitStack() as stack:
        download = _enter(stack, origin, folder, commit, names, report)
        if not lazy:
            download.complete(download.candidates)
        yield download


def _enter(
    stack: ExitStack, origin: Origin, folder: str, commit: str, names: Sequence[str], report: Report
) -> Download:
    """Open an origin by its type; an address without an index is tried as all that it may be."""
    if origin.is_git:
        return stack.enter_context(_download_git(origin, folder, commit, names, report))
    if origin.type == "local":
        return stack.enter_context(_open_folder(origin, names, report))
    if origin.type == "well-known":
        for open_place in (open_native, open_site, open_registry):
            download = stack.enter_context(open_place(origin, _make(folder, "files"), names, report))
            if download is not None:
                return download
        if find_marketplace(origin) is not None:
            hint = "hint: 'skc add' reads it; otherwise give the address of a plugin's repository"
            raise OriginNotFound(origin.label(), "it is a marketplace, which names other places", hint)
        return _guess(stack, origin, folder, names, report)
    if origin.is_registry:
        open_named = open_native if origin.is_ours else open_registry
        download = stack.enter_context(open_named(origin, _make(folder, "files"), names, report))
        assert download is not None  # it was named
        return download
    open_file = _open_file if origin.is_file else _open_archive
    return stack.enter_context(open_file(origin, folder, names, report))


def _guess(stack: ExitStack, origin: Origin, folder: str, names: Sequence[str], report: Report) -> Download:
    """Open an address that is neither a site nor a registry: git or an archive."""
    address = f"{origin.url.rstrip('/')}/info/refs?service=git-upload-pack"
    if Web(origin).get(address, MAX_PACKED).data.startswith(b"001e# service=git-upload-pack"):
        git = replace(origin, type="git", source=origin.url)
        return stack.enter_context(_download_git(git, folder, "", names, report))
    archive = replace(origin, type="download", source=origin.url)
    response = Web(origin).get(origin.address, MAX_PACKED)
    if response.status == 200:
        with suppress(ArchiveRefused):
            return stack.enter_context(_open_archive(archive, folder, names, report, response))
    reason = "there is no index of skills, no registry, no git repository and no archive"
    hint = f"hint: a site has {urljoin(origin.url, '/')}.well-known/agent-skills/index.json"
    if guess_type(origin.url) == "mcp":
        hint = f"hint: an MCP server is a repository: skc repo add <name> {origin.url}"
    raise OriginNotFound(origin.label(), reason, hint)


def _make(folder: str, name: str) -> str:
    place = os.path.join(folder, name)
    os.makedirs(place, exist_ok=True)
    return place


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
    origin: Origin, folder: str, commit: str, names: Sequence[str], report: Report
) -> Iterator[Download]:
    files = os.path.join(folder, "tree")
    try:
        remote = replace(remotes.GitRemote.parse(origin.address), hosts=origin.allowed_hosts)
    except InvalidConfiguration as error:
        raise OriginNotFound(origin.label(), error.message.rpartition(": ")[2]) from None
    opening = remotes.open_tree(remote, origin.ref, origin.path, folder, commit=commit)
    with _git_errors(origin), opening as tree:
        origin = replace(origin, ref=tree.ref, path=tree.path)

        def read(file_names: Sequence[str], folders: Sequence[str]) -> Mapping[str, bytes]:
            tree.require(folders)
            return tree.read(file_names)

        def complete(candidates: Sequence[Candidate]) -> None:
            with _git_errors(origin):
                folders = [posixpath.dirname(candidate.path) for candidate in candidates]
                for link in tree.write(folders, files):
                    report(warning("W081", link))

        if origin.path and origin.path not in tree.entries:
            raise OriginNotFound(origin.label(), f"there is no folder '{origin.path}' in it")
        candidates = [
            replace(_candidate(each, files, tree.id_of(each.folder)), links=tree.links_in(each.folder))
            for each in discover(origin, tree.files(), read, names, report)
        ]
        yield Download(
            origin, files, tuple(candidates), tree.commit, tree.url, complete, tree.time, tree.is_tag
        )


@contextmanager
def _git_errors(origin: Origin) -> Iterator[None]:
    """Turn errors of a fetch into OriginNotFound, without secrets."""
    try:
        yield
    except remotes.RefNotFound as error:
        name = str(error)
        if name == "HEAD":
            raise OriginNotFound(origin.label(), "the repository has no commits") from None
        hint = f"hint: a skill of it is named by --skill {name}"
        raise OriginNotFound(origin.label(), f"it has no branch, tag or commit '{name}'", hint) from None
    except remotes.FetchError as error:
        raise OriginNotFound(origin.label(), hide_secrets(str(error))) from None


@contextmanager
def _open_archive(
    origin: Origin, folder: str, names: Sequence[str], report: Report, response: Response | None = None
) -> Iterator[Download]:
    """Give the skills of an archive: a file on this machine, or one that is downloaded, or was just now."""
    files, archive, address = os.path.join(folder, "unpacked"), origin.url, origin.url
    if "://" in origin.url:
        archive = os.path.join(folder, "packed")
        response = response or Web(origin).get_file(origin.address, MAX_PACKED)
        address = address_after(origin.url, response.url)
        with open(archive, "xb") as file:
            file.write(response.data)
    elif not os.path.isfile(archive):
        raise OriginNotFound(origin.label(), "there is no such file")
    unpack_archive(archive, files, origin.label())
    inner = find_root(files)
    root = os.path.realpath(files if library.is_skill(inner) else inner)
    with _open_folder(origin, names, report, root) as download:
        yield replace(download, resolved=address)


@contextmanager
def _open_file(origin: Origin, folder: str, names: Sequence[str], report: Report) -> Iterator[Download]:
    """Give the skill of which a web server has the SKILL.md alone."""
    response = Web(origin).get_file(origin.address, MAX_MAIN_FILE)
    root = os.path.realpath(_make(folder, "files"))
    with open(os.path.join(root, paths.SKILL_FILE), "xb") as file:
        file.write(response.data)
    with _open_folder(origin, names, report, root) as download:
        yield replace(download, resolved=address_after(origin.url, response.url))


@contextmanager
def _open_folder(origin: Origin, names: Sequence[str], report: Report, root: str = "") -> Iterator[Download]:
    """Give the skills of a folder on this machine, where they are."""
    root = root or os.path.realpath(origin.url)
    if not os.path.isdir(root):
        raise OriginNotFound(origin.label(), "there is no such folder")

    def read(file_names: Sequence[str], folders: Sequence[str]) -> Mapping[str, bytes]:
        places = {name: _place(root, name) for name in file_names}
        files = {name: place for name, place in places.items() if os.path.isfile(place)}
        return {name: paths.read_regular(place, MAX_MAIN_FILE) for name, place in files.items()}

    skills = discover(origin, walk_folder(root, MAX_FILES), read, names, report)
    candidates = [_candidate(each, root) for each in skills]
    yield Download(origin, root, tuple(candidates), resolved=root)


def _candidate(skill: MainFile, root: str, tree: str = "") -> Candidate:
    folder = _place(root, skill.folder)
    return Candidate(skill.name, folder, skill.path, skill.description, tree)


def _place(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/")) if path else root
