"""Fetch the commits of git repositories with dulwich: no git program, nothing of git left behind.

The first request gets the commit and its trees, where the server can leave the contents of files out
(protocol 2 with the filter `blob:none`); a second one gets the files that are read or written. A server that
can't sends everything at once, without history. A repository on this machine is read where it is. What a
server sends is bounded in size, number and time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace

from dulwich.errors import GitProtocolError, NotGitRepository
from dulwich.object_store import ObjectStoreGraphWalker
from dulwich.objects import Commit, ObjectID
from dulwich.refs import Ref
from dulwich.repo import Repo

from skillc import atomic
from skillc.errors import InvalidConfiguration
from skillc.remotes.git.address import FetchError, GitRemote, LoginRefused, RefNotFound, Refusal
from skillc.remotes.git.pack import PackObjects
from skillc.remotes.git.transport import Advertisement, Greeting, Watchdog, explain, open_client
from skillc.remotes.git.tree import Choice, RemoteTree, read_tree
from skillc.remotes.http import Download, Hosts, follow_download, host_of, private_logs

MANY = 2000  # files; to fetch more, everything is fetched at once
NO_FILES = b"blob:none"
KINDS = ("heads", "tags")  # of refs, in the order in which they count

Wants = Callable[..., list[ObjectID]]
Refs = dict[Ref, ObjectID]


@dataclass(frozen=True, slots=True)
class Revision:
    """What is wanted of a repository: a commit by its ID, else what a ref of some kinds points to, else HEAD.

    Words at the start of `path` may belong to the ref: an address does not tell where one ends.
    """

    ref: str = ""
    path: str = ""
    commit: str = ""
    kinds: Sequence[str] = KINDS
    depth: int | None = 1  # commits to fetch; None for all history


@dataclass(frozen=True, slots=True)
class Fetch:
    """Requests to a remote; the objects that it sends go into `store`.

    A `filter` leaves objects out, where the server can: `blob:none` gives commits and trees alone.
    """

    remote: GitRemote
    store: PackObjects
    filter: bytes | None = None
    greeting: Greeting = field(default_factory=Greeting)  # of the request that asked for a ref

    def fetch(self, revision: Revision, has_commit: Callable[[str], bool]) -> Choice:
        """Fetch a revision, unless `has_commit` says that what it points to is there."""
        if revision.commit:
            tip = self.fetch_commit(revision.commit, revision.depth)
            return Choice(tip, revision.ref, revision.path)
        choices: list[Choice] = []

        def want(refs: Refs, depth: int | None = None) -> list[ObjectID]:
            choice = _choose(refs, revision)
            choices.append(choice)
            return [ObjectID(choice.tip.encode())] if choice.tip and not has_commit(choice.tip) else []

        names = [f"refs/{kind}/{revision.ref}".encode() for kind in revision.kinds] if revision.ref else []
        prefixes = [b"HEAD", *names] if revision.kinds == KINDS else names
        try:
            self.request(want, revision.depth, prefixes, self.greeting)
        except RefNotFound as error:  # among the refs that were asked for, which are few
            raise RefNotFound(str(error), self._list_names(revision.kinds) if revision.ref else ()) from None
        choice = choices[0]
        if not choice.tip:
            return choice._replace(tip=self.fetch_commit(choice.ref, revision.depth))
        if not re.fullmatch("[0-9a-f]{40}", choice.tip):
            raise FetchError("the server sent an ID that is none")
        return choice

    def _list_names(self, kinds: Sequence[str]) -> set[str]:
        """Return the names of all refs of some kinds; none where the server can't be asked again."""
        names: set[str] = set()

        def note(refs: Refs, depth: int | None = None) -> list[ObjectID]:
            names.update(_names_of(refs, kinds))
            return []

        with suppress(FetchError):
            self.request(note, None, [f"refs/{kind}/".encode() for kind in kinds])
        return names

    def fetch_files(self, commit: str, ids: list[ObjectID]) -> None:
        """Fetch the contents of files by their IDs; where the server refuses, all files of the commit."""
        whole = replace(self, filter=None)
        with suppress(Refusal):
            if len(ids) <= MANY:
                whole.request(lambda refs, depth=None: ids, None, [b"HEAD"], self.greeting)
        if any(sha not in self.store for sha in ids):
            whole.fetch_commit(commit, 1)

    def fetch_commit(self, name: str, depth: int | None) -> str:
        """Fetch a commit by its whole ID; where the server refuses, or the ID is short, fetch everything."""
        if len(name) == 40:
            try:
                self.request(lambda refs, depth=None: [ObjectID(name.encode())], depth, [b"HEAD"])
                return name
            except Refusal:
                pass
        self.request(
            lambda refs, depth=None: sorted({refs[ref] for ref in refs if not ref.endswith(b"^{}")}),
            None,
            [b"HEAD", b"refs/heads/", b"refs/tags/"],
        )
        commits = [i for i in self.store.iter_prefix(name.encode()) if isinstance(self.store[i], Commit)]
        if len(commits) > 1:
            raise FetchError(f"more than one commit starts with '{name}'")
        if not commits:
            raise RefNotFound(name)
        return commits[0].decode()

    def request(
        self, wants: Wants, depth: int | None, prefixes: list[bytes], greeting: Greeting | None = None
    ) -> None:
        """Send one request; every failure becomes FetchError. A `greeting` is that of an earlier one."""
        with private_logs(), Watchdog(self.remote.time_out) as watchdog, follow_download() as download:
            try:
                self._receive(watchdog, download, wants, depth, prefixes, greeting or Greeting())
            except FetchError:
                raise
            except Exception as error:
                if watchdog.is_late:
                    raise FetchError(watchdog.reason()) from None
                is_refusal = isinstance(error, GitProtocolError | KeyError | AssertionError)
                reason = self.remote.hide(explain(error, host_of(self.remote.url)))
                raise (Refusal if is_refusal else FetchError)(reason) from None

    def _receive(
        self,
        watchdog: Watchdog,
        download: Download,
        wants: Wants,
        depth: int | None,
        prefixes: list[bytes],
        greeting: Greeting,
    ) -> None:
        advertisement = Advertisement()
        client, path = open_client(self.remote, watchdog, advertisement, greeting)
        file, commit, abort = self.store.add_pack()
        limit, size = self.remote.max_bytes, 0

        def write(data: bytes) -> int:
            nonlocal size
            watchdog.feed()
            advertisement.complete = True
            if not size:
                download.objects = int.from_bytes(data[8:12], "big")  # in the head of a pack
            size += len(data)
            download.add(len(data))
            if size > limit:
                raise FetchError(f"the repository is over {limit / (1 << 20):g} MiB")
            return file.write(data)

        def hear(remark: bytes) -> None:
            watchdog.feed()
            download.remark = re.split(b"[\r\n]+", remark.strip())[-1].decode("utf-8", "replace")

        try:
            result = client.fetch_pack(
                path,
                wants,
                ObjectStoreGraphWalker([], lambda _: []),  # the store is empty
                write,
                progress=hear,
                depth=depth,
                ref_prefix=prefixes,
                filter_spec=self.filter,
            )
            if result.object_format not in (None, "sha1"):
                raise FetchError(f"{result.object_format} repositories are not supported")
        except BaseException:
            abort()
            raise
        finally:
            client.close()
        try:
            (commit if size else abort)()
        finally:
            file.close()


@contextmanager
def open_tree(
    address: str, ref: str, path: str, folder: str, *, hosts: Hosts, commit: str = ""
) -> Iterator[RemoteTree]:
    """Give the tree of a commit: of `commit`, a whole ID, else of what `ref` points to, else of HEAD.

    If the server wants a login, it gets that of a variable or of git's credential helpers. `folder` is a
    place for temporary files. Raises FetchError, and RefNotFound for a ref that is not there.
    """
    try:
        remote = replace(GitRemote.parse(address), hosts=hosts).with_token()
    except InvalidConfiguration as error:
        raise FetchError(error.message.rpartition(": ")[2]) from None
    revision = Revision(ref, path, commit)
    with ExitStack() as stack:
        try:
            tree = stack.enter_context(open_revision(remote, revision, folder))
        except LoginRefused as error:
            login = remote.ask_helpers()
            if login is None:
                raise _explain_login(error, remote) from None
            try:
                tree = stack.enter_context(open_revision(login, revision, folder))
            except LoginRefused as again:
                raise _explain_login(again, login) from None
        yield tree


def _explain_login(error: LoginRefused, remote: GitRemote) -> LoginRefused:
    way = "git's credential helpers have no login for it that works"
    return LoginRefused(f"{error}; {way}; {remote.describe_variable()}")


@contextmanager
def open_revision(
    remote: GitRemote,
    revision: Revision,
    folder: str,
    *,
    whole: bool = False,
    has_commit: Callable[[str], bool] = lambda commit: False,
) -> Iterator[RemoteTree]:
    """Give the tree of a revision; `whole` gets all its files with the first request.

    Where `has_commit` says that the commit is there already, nothing is fetched, and the tree is empty.
    """
    if remote.scheme == "file":
        with _open_local(remote) as repository:
            choice = _find_local(repository, revision)
            yield read_tree(repository.object_store, choice, remote.max_bytes, url=remote.url)
        return
    packs = PackObjects(os.path.join(folder, "objects"), remote.max_bytes)
    try:
        fetch = Fetch(remote, packs, None if whole else NO_FILES)
        commit = revision.commit
        choice = Choice(commit, "") if has_commit(commit) else fetch.fetch(revision, has_commit)
        url = fetch.greeting.url or remote.url
        if has_commit(choice.tip):
            yield RemoteTree(choice.tip, choice.ref, choice.path, packs)
        else:
            yield read_tree(packs, choice, remote.max_bytes, fetch.fetch_files, url=url)
    finally:
        packs.close()
        atomic.discard(os.path.join(folder, "objects"))


@contextmanager
def _open_local(remote: GitRemote) -> Iterator[Repo]:
    try:
        repository = Repo(remote.path)
    except (NotGitRepository, OSError):
        is_folder = os.path.isdir(remote.path)
        raise FetchError("it is no git repository" if is_folder else "there is no such folder") from None
    except Exception as error:  # a configuration that can't be read, or a format of a later git
        raise FetchError(f"the repository can't be read ({type(error).__name__})") from None
    try:
        if repository.object_format.name != "sha1":
            raise FetchError(f"{repository.object_format.name} repositories are not supported")
        yield repository
    finally:
        repository.close()


def _find_local(repository: Repo, revision: Revision) -> Choice:
    choice = Choice("", revision.commit, revision.path)
    if not revision.commit:
        choice = _choose(repository.get_refs(), revision)
    if choice.tip:
        return choice
    store, name = repository.object_store, choice.ref.encode()
    commits = [i for i in store.iter_prefix(name) if isinstance(store[i], Commit)]
    if len(commits) != 1:
        raise RefNotFound(choice.ref)
    return choice._replace(tip=commits[0].decode(), ref=revision.ref if revision.commit else choice.ref)


def _choose(refs: Refs, revision: Revision) -> Choice:
    """Return the tip of a ref of some kinds, with the ref and the path as they are to be divided.

    The tip is empty for what may be a commit's ID, where any kind is wanted. Raises RefNotFound.
    """
    ref, path, kinds = revision.ref, revision.path, revision.kinds
    if not ref:
        if b"HEAD" not in refs:
            raise RefNotFound("HEAD")
        return Choice(refs[Ref(b"HEAD")].decode(), "", path)
    words = path.split("/") if path else []
    for count in range(len(words) + 1):
        name = "/".join([ref, *words[:count]])
        for kind in kinds:
            tip = refs.get(Ref(f"refs/{kind}/{name}".encode()))
            if tip is not None:
                return Choice(tip.decode(), name, "/".join(words[count:]), kind == "tags")
    if kinds == KINDS and re.fullmatch("[0-9a-fA-F]{7,40}", ref):
        return Choice("", ref.lower(), path)
    raise RefNotFound(ref, _names_of(refs, kinds))


def _names_of(refs: Refs, kinds: Sequence[str]) -> set[str]:
    """Return the names of refs of some kinds, as people write them."""
    there = (name.decode("utf-8", "replace").split("/", 2) for name in refs if not name.endswith(b"^{}"))
    return {words[2] for words in there if len(words) == 3 and words[1] in kinds}
