"""Fetch the files of a git repository at a ref with dulwich: no git program, nothing of git left behind.

The pack of one fetch goes into a temporary object store, the files of one commit are written from it,
and the store is removed: what stays is plain files, without a `.git`, a configuration or hooks. What the
server sends is bounded in size, number and time, and only the destination folder is written to.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from dulwich.errors import GitProtocolError
from dulwich.object_store import DiskObjectStore, ObjectStoreGraphWalker, PackCapableObjectStore
from dulwich.objects import Commit, ObjectID, Tag
from dulwich.refs import Ref

from skillc import atomic
from skillc.remotes.git.config import FetchError, GitRef, GitRemote, RefNotFound, Refusal
from skillc.remotes.git.pack import MAX_HISTORY, MAX_OBJECT, PackObjects
from skillc.remotes.git.transport import Advertisement, Greeting, Watchdog, explain, open_client
from skillc.remotes.git.tree import read_object, sync_to_disk, write_tree
from skillc.remotes.secrets import private_logs
from skillc.remotes.traffic import Download, follow_download

Wants = Callable[..., list[ObjectID]]


def check_out(
    remote: GitRemote, ref: GitRef, depth: int | None, folder: str, has_commit: Callable[[str], bool]
) -> tuple[str, Sequence[str]]:
    """Write the files of what `ref` points to into a new `folder`; return the commit and the links left out.

    Where `has_commit` says that the commit is there already, no folder is made.
    """
    if ref.kind == "commit" and has_commit(ref.name):
        return ref.name, ()
    objects = atomic.temporary_path(folder)
    store = DiskObjectStore.init(objects)
    try:
        tip = Fetch(remote, store, has_commit).fetch_ref(ref, depth)
        if has_commit(tip):
            return tip, ()
        commit = peel(store, tip, ref.name)
        skipped_links = write_tree(store, commit.tree, folder, remote.max_bytes)
        sync_to_disk(folder)
        return commit.id.decode(), skipped_links
    finally:
        store.close()
        atomic.discard(objects)


def peel(store: PackCapableObjectStore | PackObjects, tip: str, name: str) -> Commit:
    """Follow tags to the commit that they point to."""
    target = read_object(store, ObjectID(tip.encode()))
    while isinstance(target, Tag):
        target = read_object(store, target.object[1])
    if not isinstance(target, Commit):
        raise FetchError(f"'{name}' is not a commit")
    return target


@dataclass(frozen=True, slots=True)
class Fetch:
    """One request to a remote, or two; the objects that it sends go into `store`.

    A `filter` leaves objects out, where the server can: `blob:none` gives commits and trees alone.
    """

    remote: GitRemote
    store: DiskObjectStore | PackObjects
    has_commit: Callable[[str], bool] = lambda commit: False
    filter: bytes | None = None

    def fetch_ref(self, ref: GitRef, depth: int | None) -> str:
        if ref.kind == "commit":
            return self.fetch_commit(ref.name, depth)
        name = Ref(f"refs/{'heads' if ref.kind == 'branch' else 'tags'}/{ref.name}".encode())
        tips: list[ObjectID] = []

        def want_tip(refs: dict[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
            tips.extend([refs[name]] if name in refs else [])
            return [tip for tip in tips if not self.has_commit(tip.decode())]

        self.request(want_tip, depth, [name])
        if not tips:
            raise RefNotFound(ref.name)
        if not re.fullmatch(b"[0-9a-f]{40}", tips[0]):
            raise FetchError("the server sent an ID that is none")
        return tips[0].decode()

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
            except (FetchError, RefNotFound):
                raise
            except Exception as error:
                if watchdog.is_late:
                    raise FetchError(watchdog.reason()) from None
                is_refusal = isinstance(error, GitProtocolError | KeyError | AssertionError)
                raise (Refusal if is_refusal else FetchError)(explain(error)) from None

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
            if size and isinstance(self.store, DiskObjectStore):
                _check_sizes(file, limit)
        except BaseException:
            abort()
            raise
        finally:
            client.close()
        try:
            (commit if size else abort)()
        finally:
            file.close()


def _check_sizes(file: BinaryIO, limit: int) -> None:
    """Refuse a decompression bomb before anything decompresses the pack in memory."""
    file.flush()
    file.seek(0)
    reader = PackReader(file)
    max_object, total = min(limit, MAX_OBJECT), 0
    for _ in range(int.from_bytes(reader.read(12)[8:], "big")):
        size = reader.read_object_size()
        total += size
        if size > max_object:
            raise FetchError(f"a file is over {max_object / (1 << 20):g} MiB")
        if total > limit * MAX_HISTORY:
            raise FetchError("the history is too large")
    file.seek(0, os.SEEK_END)


class PackReader:
    """Reads the sizes of a pack's objects, one after the other, without keeping their contents."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._buffer = b""

    def read(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._buffer += self._read_chunk()
        data, self._buffer = self._buffer[:count], self._buffer[count:]
        return data

    def read_object_size(self) -> int:
        """Return the uncompressed size of the next object; of a delta, that of its result."""
        byte = self.read(1)[0]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            byte = self.read(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
        if kind == 6:  # delta to an object at an offset
            while self.read(1)[0] & 0x80:
                pass
        elif kind == 7:  # delta to an object by its ID
            self.read(20)
        head = self._skip(size)
        return max(size, _delta_result(head)) if kind in (6, 7) else size

    def _skip(self, size: int) -> bytes:
        """Skip compressed data that claims `size` bytes; return the first of them."""
        stream = zlib.decompressobj()
        head, total = b"", 0
        data = self._buffer
        while not stream.eof:
            piece = stream.decompress(data or self._read_chunk(), 1 << 16)
            head, total = (head + piece)[:20], total + len(piece)
            if total > size:
                raise FetchError("the server sent a damaged pack")
            data = stream.unconsumed_tail
        self._buffer = stream.unused_data
        return head

    def _read_chunk(self) -> bytes:
        chunk = self._file.read(1 << 16)
        if not chunk:
            raise FetchError("the server stopped in the middle")
        return chunk


def _delta_result(head: bytes) -> int:
    """Return the second of the two sizes that a delta starts with."""
    sizes, size, shift = [], 0, 0
    for byte in head:
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            sizes.append(size)
            size = shift = 0
    return sizes[1] if len(sizes) > 1 else 0
