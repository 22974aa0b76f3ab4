"""The files of a git repository at a ref, fetched by dulwich: no git program, nothing of git left behind.

The pack of one fetch goes into a temporary object store, the files of one commit are written from it,
and the store is thrown away: what stays is plain files, without a `.git`, a configuration or hooks.
What comes from the server is bounded in size, number and time, and nothing is written but below the
folder that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dulwich.object_store import DiskObjectStore
from dulwich.objects import Commit, ObjectID, Tag

from skillc import atomic
from skillc.library.git.errors import FetchFailed
from skillc.library.git.fetch import Fetch
from skillc.library.git.refs import GitRef
from skillc.library.git.remote import Remote
from skillc.library.git.tree import settle, write_tree


class Checkout(NamedTuple):
    """The commit whose files are there, and the links that were left out because they lead out of it."""

    commit: str
    dropped: Sequence[str] = ()


def check_out(
    remote: Remote, ref: GitRef, depth: int | None, folder: str, known: Callable[[str], bool]
) -> Checkout:
    """Put the files of what `ref` points to into `folder`, which is made.

    Where the commit is `known`, nothing is fetched and no folder is made.
    """
    if ref.kind == "commit" and known(ref.name):
        return Checkout(ref.name)
    objects = atomic.beside(folder)
    store = DiskObjectStore.init(objects)
    try:
        tip = Fetch(remote, store, known).ref(ref, depth)
        if known(tip):
            return Checkout(tip)
        commit = _peeled(store, tip, ref)
        dropped = write_tree(store, commit.tree, folder, remote.max_bytes)
        settle(folder)
        return Checkout(commit.id.decode(), dropped)
    finally:
        store.close()
        atomic.discard(objects)


def _peeled(store: DiskObjectStore, tip: str, ref: GitRef) -> Commit:
    """The commit that an ID leads to, through tags."""
    try:
        found = store[ObjectID(tip.encode())]
        while isinstance(found, Tag):
            found = store[found.object[1]]
    except KeyError:
        raise FetchFailed("the server did not send what was asked for") from None
    if not isinstance(found, Commit):
        raise FetchFailed(f"'{ref.name}' is not a commit")
    return found
