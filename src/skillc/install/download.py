"""Download what an origin has: its skills in a temporary folder, which is gone when the download is closed.

Origins of locked skills are asked for just what the lock says, or for what is there now. Nothing of it is
run. What a server or an archive gives is bounded in size and number, and written below the temporary folder
alone.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from skillc import atomic, paths
from skillc.errors import ArchiveRefused, Diagnostic, OriginNotFound, SkillcError, warning
from skillc.install.discover import discover, walk_folder
from skillc.install.entry import LockEntry
from skillc.install.marketplace import find_marketplace
from skillc.install.origin import Candidate, Download, Origin, Report, open_session, origin_errors
from skillc.install.registries import find_hub, find_registry, find_site
from skillc.install.state import TellStep, ignore_step
from skillc.library import is_skill
from skillc.origins import NO_EVIDENCE, Evidence, is_signed, read_outer
from skillc.remotes import MAX_PACKED, find_root, git, unpack_archive
from skillc.remotes.http import guess_type

if TYPE_CHECKING:
    from skillc.remotes.git import RemoteTree
    from skillc.remotes.http import Response

MAX_FILES = 500_000  # of a folder in which skills are looked for
MAX_READ = 32 << 20  # bytes of a file in which skills and plugins are looked for
COMMIT = re.compile("[0-9a-f]{40}")

Refs = Mapping[str, str]  # the version, tag, branch or commit that is asked for, by the name of a skill
NO_REFS: Refs = {}
Result = tuple[LockEntry, Candidate | SkillcError]


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
    parent = os.path.join(paths.cache_directory(), "downloads")
    os.makedirs(parent, mode=0o700, exist_ok=True)
    atomic.sweep(parent)  # what a killed process left
    folder = atomic.temporary_path(os.path.join(parent, "download"))
    os.mkdir(folder, 0o700)
    try:
        with ExitStack() as stack:
            download = _Opening(stack, folder, names, report).open(origin, commit)
            if not lazy:
                download.complete(download.candidates)
            yield download
    finally:
        atomic.discard(folder)


class _Folder:
    """The files of a folder on this machine, in which skills are looked for as in the tree of a commit."""

    def __init__(self, root: str) -> None:
        self.root = root

    def files(self) -> Iterable[str]:
        return walk_folder(self.root, MAX_FILES)

    def read(self, names: Sequence[str]) -> Mapping[str, bytes]:
        files = {name: place for name in names if os.path.isfile(place := _place(self.root, name))}
        return {name: paths.read_regular(place, MAX_READ) for name, place in files.items()}

    def require(self, folders: Iterable[str]) -> None:
        pass


class _Opening:
    """Opens an origin. Its files go into `folder`, and connections are there until `stack` is closed."""

    def __init__(self, stack: ExitStack, folder: str, names: Sequence[str], report: Report) -> None:
        self._stack = stack
        self._folder = folder
        self._names = names
        self._report = report

    def open(self, origin: Origin, commit: str) -> Download:
        """Open an origin by its type; an address without an index is tried as all that it may be."""
        if origin.is_git:
            return self._open_git(origin, commit)
        if origin.type == "local":
            return self._open_folder(origin, os.path.realpath(origin.url))
        if origin.type == "well-known" or origin.is_registry:
            finders = [find_registry, find_site, find_hub]
            if origin.is_registry:
                finders = [find_registry if origin.is_ours else find_hub]
            for find in finders:
                place = find(origin, self._names, self._report)
                if place is not None:
                    self._stack.enter_context(place.remote.session)
                    return place.open(self._make("files"))
            return self._guess(origin)
        return self._open_file(origin) if origin.is_file else self._open_archive(origin)

    def _guess(self, origin: Origin) -> Download:
        """Open an address that is neither a site nor a registry: git or an archive."""
        if find_marketplace(origin) is not None:
            hint = "hint: 'skc add' reads it; otherwise give the address of a plugin's repository"
            raise OriginNotFound(origin.label(), "it is a marketplace, which names other places", hint)
        session = open_session(origin)
        with origin_errors(origin):
            address = f"{origin.url.rstrip('/')}/info/refs?service=git-upload-pack"
            is_git = session.get(address, MAX_PACKED).data.startswith(b"001e# service=git-upload-pack")
            response = None if is_git else session.get(origin.address, MAX_PACKED)
        if response is None:
            return self._open_git(replace(origin, type="git", source=origin.url), "")
        if response.status == 200:
            with suppress(ArchiveRefused):
                return self._open_archive(replace(origin, type="download", source=origin.url), response)
        reason = "there is no index of skills, no registry, no git repository and no archive"
        hint = f"hint: a site has {urljoin(origin.url, '/')}.well-known/agent-skills/index.json"
        if guess_type(origin.url) == "mcp":
            hint = f"hint: an MCP server is a repository: skc repo add <name> {origin.url}"
        raise OriginNotFound(origin.label(), reason, hint)

    def _open_git(self, origin: Origin, commit: str) -> Download:
        root = os.path.join(self._folder, "tree")
        with origin_errors(origin):
            address, hosts = origin.address, origin.allowed_hosts
            opening = git.open_tree(
                address, origin.ref, origin.path, self._folder, commit=commit, hosts=hosts
            )
            tree = self._stack.enter_context(opening)
        origin = replace(origin, ref=tree.ref, path=tree.path)

        def complete(candidates: Sequence[Candidate]) -> None:
            with origin_errors(origin):
                for link in tree.write([each.inside for each in candidates], root):
                    self._report(warning("W081", link))

        if origin.path and origin.path not in tree.entries:
            raise OriginNotFound(origin.label(), f"there is no folder '{origin.path}' in it")
        with origin_errors(origin):
            candidates = tuple(
                replace(each, tree=tree.id_of(each.inside), links=tree.links_in(each.inside))
                for each in self._discover(origin, tree, root)
            )
        commit, url = tree.commit, tree.url
        evidence = Evidence(*tree.signed) if any(map(is_signed, tree.signed)) else NO_EVIDENCE
        return Download(
            *(origin, root, candidates, commit, url, complete, tree.time, tree.is_tag),
            find_evidence=lambda _: evidence,
        )

    def _open_archive(self, origin: Origin, response: Response | None = None) -> Download:
        """Give the skills of an archive: a file here, or one that is downloaded, or was just now."""
        files, archive, address = os.path.join(self._folder, "unpacked"), origin.url, origin.url
        if "://" in origin.url:
            archive = os.path.join(self._folder, "packed")
            with origin_errors(origin):
                response = response or open_session(origin).get_file(origin.address, MAX_PACKED)
            address = _address(origin, response)
            with open(archive, "xb") as file:
                file.write(response.data)
        elif not os.path.isfile(archive):
            raise OriginNotFound(origin.label(), "there is no such file")
        unpack_archive(archive, files, origin.label())
        inner = find_root(files)
        root = os.path.realpath(files if is_skill(inner) else inner)
        return self._open_folder(origin, root, resolved=address)

    def _open_file(self, origin: Origin) -> Download:
        """Give the skill of which a web server has the SKILL.md alone."""
        with origin_errors(origin):
            response = open_session(origin).get_file(origin.address, paths.MAX_SKILL_FILE)
        root = os.path.realpath(self._make("files"))
        with open(os.path.join(root, paths.SKILL_FILE), "xb") as file:
            file.write(response.data)
        return self._open_folder(origin, root, resolved=_address(origin, response))

    def _open_folder(self, origin: Origin, root: str, resolved: str = "") -> Download:
        """Give the skills of a folder on this machine, where they are."""
        if not os.path.isdir(root):
            raise OriginNotFound(origin.label(), "there is no such folder")
        candidates = self._discover(origin, _Folder(root), root)
        return Download(origin, root, tuple(candidates), resolved=resolved or root)

    def _discover(self, origin: Origin, files: RemoteTree | _Folder, root: str) -> list[Candidate]:
        def read(names: Sequence[str], folders: Sequence[str]) -> Mapping[str, bytes]:
            files.require(folders)
            return files.read(names)

        skills = discover(origin, files.files(), read, self._names, self._report)
        requires = read_outer([each.inside for each in skills], files.read)
        return [
            replace(each, folder=_place(root, each.inside), requires=requires[each.inside]) for each in skills
        ]

    def _make(self, name: str) -> str:
        place = os.path.join(self._folder, name)
        os.makedirs(place, exist_ok=True)
        return place


def _address(origin: Origin, response: Response) -> str:
    """Return where an answer came from, without the credentials that were sent there."""
    return origin.url if response.address == origin.address else response.address


def _place(root: str, path: str) -> str:
    return os.path.join(root, *path.split("/")) if path else root


class Origins(ExitStack):
    """Asks the origins of the skills of a lock. Downloads are there until it is closed.

    `base` is the folder of the lock, and `hosts` may be asked besides those in it. `tell_step` gets the name
    of each skill: of the first of an origin before that is asked.
    """

    def __init__(self, base: str, hosts: Iterable[str] = (), tell_step: TellStep = ignore_step) -> None:
        super().__init__()
        self.base, self.hosts = base, hosts
        self.diagnostics: list[Diagnostic] = []
        self._tell_step = tell_step

    def open(self, entries: Iterable[LockEntry], *, is_exact: bool, refs: Refs = NO_REFS) -> Iterator[Result]:
        """Yield each skill with what matches it in a download, or with the reason why nothing does.

        If it `is_exact`, the commits and versions of the lock are opened, else what is there now, or of some
        skills what `refs` says. Skills of one origin are asked for at once.
        """
        groups: dict[tuple[Origin, str], list[LockEntry]] = {}
        for entry in entries:
            try:
                origin = entry.origin(self.base, self.hosts)
                if entry.name in refs:
                    origin = origin.at(refs[entry.name])
            except SkillcError as error:
                yield entry, SkillcError(error.message)
                continue
            if is_exact and origin.is_registry:
                origin = replace(origin, ref=entry.own_text("version") or origin.ref)
            whole = replace(origin, path="") if entry.text("skillPath") else origin
            groups.setdefault((whole, entry.commit if is_exact else ""), []).append(entry)
        for (origin, commit), group in groups.items():
            self._tell_step(group[0].name)
            for number, result in enumerate(self._open_group(origin, commit, group, is_exact)):
                if number:
                    self._tell_step(result[0].name)
                yield result

    def _open_group(
        self, origin: Origin, commit: str, entries: Sequence[LockEntry], is_exact: bool
    ) -> Iterator[Result]:
        """Yield each skill of one origin as `open` does; where one is gone, each is asked for alone."""
        names = [entry.text("skillPath") or entry.name for entry in entries]
        try:
            if is_exact:
                download = self._open_exactly(origin, commit, names)
            else:
                download = self.enter_context(open_download(origin, names=names, lazy=True))
        except SkillcError as error:
            if len(entries) > 1 and isinstance(error, OriginNotFound) and "there is no skill" in error.reason:
                for entry in entries:
                    yield from self._open_group(origin, commit, [entry], is_exact)
            else:
                yield from ((entry, error) for entry in entries)
        else:
            yield from _match(entries, download)

    def _open_exactly(self, origin: Origin, commit: str, names: Sequence[str]) -> Download:
        """Return the download of a commit: by its ref while that leads there; a moved tag is a warning."""
        if commit and not COMMIT.fullmatch(commit):
            raise OriginNotFound(origin.label(), "its commit is no commit")
        if commit and origin.ref and not COMMIT.fullmatch(origin.ref):
            try:
                download = self.enter_context(open_download(origin, names=names, lazy=True))
            except OriginNotFound:  # the ref or the skill is not there any more; the commit may be
                pass
            else:
                if download.commit == commit:
                    download.complete(download.candidates)
                    return download
                if download.is_tag:
                    new = download.commit[:12]
                    self.diagnostics.append(warning("W087", origin.ref, origin.source, commit[:12], new))
        return self.enter_context(
            open_download(origin, commit=commit, names=names, report=self.diagnostics.append)
        )


def _match(
    entries: Iterable[LockEntry], download: Download
) -> Iterator[tuple[LockEntry, Candidate | OriginNotFound]]:
    """Yield entries with their skills in a download: by the path, else by a name."""
    candidates = download.candidates[::-1]  # of two with one name, the first counts
    by_path = {each.path: each for each in candidates if each.path}
    by_name = {posixpath.basename(each.inside): each for each in by_path.values()}
    by_name |= {each.name: each for each in candidates}
    for entry in entries:
        candidate = by_path.get(entry.text("skillPath")) or by_name.get(entry.name)
        if candidate is None and candidates and download.origin.is_registry:  # asked for this skill alone
            candidate = candidates[-1]
        label = download.origin.label()
        missing = OriginNotFound(label, f"it is not in {label} any more")
        yield entry, candidate or missing


def reason_of(error: SkillcError) -> str:
    """Return why an origin could not be asked."""
    return error.reason if isinstance(error, OriginNotFound) else error.message
