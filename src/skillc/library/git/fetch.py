"""Talking to a remote: what a ref points to, and its objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import BinaryIO

from dulwich.client import GitClient, LocalGitClient
from dulwich.errors import GitProtocolError
from dulwich.object_store import DiskObjectStore, ObjectStoreGraphWalker
from dulwich.objects import Commit, ObjectID
from dulwich.refs import Ref

from skillc.library.git.errors import FetchFailed, RefMissing, Refused, reason_for
from skillc.library.git.https import HttpClient
from skillc.library.git.limits import Greeting, Watch
from skillc.library.git.packs import weigh
from skillc.library.git.refs import GitRef
from skillc.library.git.remote import Remote
from skillc.library.git.ssh import ssh_client
from skillc.library.git.wire_log import unlogged


class Fetch:
    """One conversation, or two, with a remote; what it sends goes into `store`."""

    def __init__(self, remote: Remote, store: DiskObjectStore, known: Callable[[str], bool]) -> None:
        self._remote = remote
        self._store = store
        self._known = known
        self._taken = 0

    def ref(self, ref: GitRef, depth: int | None) -> str:
        """Fetch what a ref points to; gives its ID."""
        if ref.kind == "commit":
            return self._commit(ref.name, depth)
        name = Ref(f"refs/{'heads' if ref.kind == 'branch' else 'tags'}/{ref.name}".encode())
        tips: list[ObjectID] = []

        def wants(refs: dict[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
            tips.extend([refs[name]] if name in refs else [])
            return [tip for tip in tips if not self._known(tip.decode())]

        self._converse(wants, depth, [name])
        if not tips:
            raise RefMissing(ref.name)
        if not re.fullmatch(b"[0-9a-f]{40}", tips[0]):
            raise FetchFailed("the server sent an ID that is none")
        return tips[0].decode()

    def _commit(self, name: str, depth: int | None) -> str:
        """A commit itself, where the server gives it and its ID is whole; else everything, to find it in."""
        if len(name) == 40:
            try:
                self._converse(lambda refs, depth=None: [ObjectID(name.encode())], depth, [b"HEAD"])
                return name
            except Refused:
                pass
        self._converse(_all_wanted, None, [b"HEAD", b"refs/heads/", b"refs/tags/"])
        found = [i for i in self._store.iter_prefix(name.encode()) if isinstance(self._store[i], Commit)]
        if len(found) > 1:
            raise FetchFailed(f"more than one commit starts with '{name}'")
        if not found:
            raise RefMissing(name)
        return found[0].decode()

    def _converse(
        self, wants: Callable[..., list[ObjectID]], depth: int | None, prefixes: Sequence[bytes]
    ) -> None:
        """Talk to the remote once; every way in which that fails becomes FetchFailed."""
        with unlogged(), Watch(self._remote.time_out) as watch:
            try:
                self._receive(watch, wants, depth, prefixes)
            except (FetchFailed, RefMissing):
                raise
            except Exception as error:
                if watch.expired:
                    raise FetchFailed(watch.complaint()) from None
                refused = isinstance(error, (GitProtocolError, KeyError, AssertionError))
                raise (Refused if refused else FetchFailed)(reason_for(error)) from None

    def _receive(
        self, watch: Watch, wants: Callable[..., list[ObjectID]], depth: int | None, prefixes: Sequence[bytes]
    ) -> None:
        greeting = Greeting()
        client, path = _client(self._remote, watch, greeting)
        file, commit, abort = self._store.add_pack()
        self._taken = 0
        try:
            result = client.fetch_pack(
                path,
                wants,
                ObjectStoreGraphWalker([], lambda _: []),  # we have nothing yet
                self._taking(file, watch, greeting),
                progress=lambda _: watch.fed(),
                depth=depth,
                ref_prefix=prefixes,
            )
            if result.object_format not in (None, "sha1"):
                raise FetchFailed(f"{result.object_format} repositories are not supported")
            if self._taken:
                weigh(file, self._remote.max_bytes)
        except BaseException:
            abort()
            raise
        finally:
            client.close()
        try:
            (commit if self._taken else abort)()
        finally:
            file.close()

    def _taking(self, file: BinaryIO, watch: Watch, greeting: Greeting) -> Callable[[bytes], int]:
        """What the pack is written with, up to the limit."""

        def take(data: bytes) -> int:
            watch.fed()
            greeting.over = True
            self._taken += len(data)
            if self._taken > self._remote.max_bytes:
                raise FetchFailed(f"the repository is over {self._remote.max_bytes / (1 << 20):g} MiB")
            return file.write(data)

        return take


def _client(remote: Remote, watch: Watch, greeting: Greeting) -> tuple[GitClient, str]:
    if remote.scheme == "file":
        return LocalGitClient(), remote.path
    if remote.scheme == "ssh":
        return ssh_client(remote, watch, greeting), remote.path
    return HttpClient(remote, watch, greeting), ""


def _all_wanted(refs: dict[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
    return sorted({refs[name] for name in refs if not name.endswith(b"^{}")})
