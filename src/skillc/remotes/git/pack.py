"""The objects of a fetch, read from its packs in one pass.

A general object store writes an index, and unpacks each object once to check its size, once to index it and
once to read it. Of a download, all folders are read once and a few files: here each object is unpacked and
hashed once, in bounded memory, and files are unpacked again when they are wanted.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO

from dulwich.objects import ObjectID, ShaFile
from dulwich.pack import apply_delta

from skillc.remotes.git.address import FetchError

MAX_OBJECT = 256 << 20  # bytes of one file, unpacked
MAX_HISTORY = 64  # times the limit of a pack: all that is unpacked of it
MAX_CACHE = 64 << 20  # bytes of folders, commits and bases of deltas in memory
LARGE = 1 << 20  # bytes; larger files are hashed in pieces
PIECE = 1 << 16
MAX_CHAIN = 4096  # deltas on deltas; git makes no longer ones
KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
BLOB, OFFSET_DELTA, ID_DELTA = 3, 6, 7
_DAMAGED = "the server sent a damaged pack"


class PackObjects:
    """Objects by their ID, from one pack or several in a folder."""

    def __init__(self, folder: str, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        self._packs: list[_Pack] = []
        os.mkdir(folder)

    def close(self) -> None:
        for pack in self._packs:
            pack.close()

    def __contains__(self, name: ObjectID) -> bool:
        return any(name in pack.places for pack in self._packs)

    def __getitem__(self, name: ObjectID) -> ShaFile:
        kind, data = self.get_raw(name)
        return ShaFile.from_raw_string(kind, data)

    def get_raw(self, name: ObjectID) -> tuple[int, bytes]:
        """Return the kind of an object and its content; raises KeyError."""
        for pack in self._packs:
            if name in pack.places:
                return pack.read(pack.places[name])
        raise KeyError(name)

    def iter_prefix(self, prefix: bytes) -> Iterator[ObjectID]:
        return (name for pack in self._packs for name in pack.places if name.startswith(prefix))

    def add_pack(self) -> tuple[BinaryIO, Callable[[], None], Callable[[], None]]:
        """Return a file to write a pack to, and functions that take it over or drop it."""
        path = os.path.join(self._folder, f"{len(self._packs)}.pack")
        file = open(path, "w+b")  # noqa: SIM115 -- the caller closes it

        def take_over() -> None:
            file.flush()
            self._packs.append(_Pack(path, self._limit, self._find_base))

        def drop() -> None:
            file.close()
            os.unlink(path)

        return file, take_over, drop

    def _find_base(self, name: ObjectID) -> tuple[int, bytes] | None:
        return self.get_raw(name) if name in self else None


class _Pack:
    """One pack: where each object starts, by its ID. Contents that are needed again are cached."""

    def __init__(
        self, path: str, limit: int, find_base: Callable[[ObjectID], tuple[int, bytes] | None]
    ) -> None:
        self.places: dict[ObjectID, int] = {}
        self._cache: dict[int, tuple[int, bytes]] = {}
        self._cache_size = 0
        self._find_base = find_base
        with open(path, "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                raise FetchError(_DAMAGED)
            self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._max_object, self._max_total = min(limit, MAX_OBJECT), limit * MAX_HISTORY
        self._work = 0
        self._index()

    def close(self) -> None:
        self._data.close()

    def read(self, place: int) -> tuple[int, bytes]:
        """Return kind and content of the object at an offset."""
        chain: list[bytes] = []
        while place not in self._cache:
            kind, size, base, start = self._header(place)
            data = self._unpack(start, size)[0]
            if kind in KINDS:
                content = kind, data
                break
            chain.append(data)
            if len(chain) > MAX_CHAIN:
                raise FetchError(_DAMAGED)
            if isinstance(base, int):
                place = base
            elif base in self.places:
                place = self.places[base]
            else:
                base_content = self._find_base(base)
                if base_content is None:
                    raise KeyError(base)
                content = base_content
                break
        else:
            content = self._cache[place]
        for delta in reversed(chain):
            content = content[0], self._apply(content[1], delta)
        return content

    def _spend(self, count: int) -> None:
        """Bound the work: a pack can be made so that each object takes all before it."""
        self._work += count + 1024
        if self._work > self._max_total:
            raise FetchError("the repository takes too long to read")

    def _index(self) -> None:
        """Hash every object; those whose base comes later are tried again."""
        data = self._data
        if len(data) < 32 or data[:8] != b"PACK\0\0\0\2" or hashlib.sha1(data[:-20]).digest() != data[-20:]:  # noqa: S324
            raise FetchError(_DAMAGED)
        place, total, queue = 12, 0, []
        for _ in range(int.from_bytes(data[8:12], "big")):
            kind, size, _, start = self._header(place)
            total += size
            if size > self._max_object:
                raise FetchError(f"a file is over {self._max_object / (1 << 20):g} MiB")
            if total > self._max_total:
                raise FetchError("the history is too large")
            if kind == BLOB and size > LARGE:
                end = self._hash_large(place, start, size)
            else:
                content, end = self._unpack(start, size)
                if not self._add(place, kind, content):
                    queue.append(place)
            place = end
        while queue:
            rest = [each for each in queue if not self._add_later(each)]
            if len(rest) == len(queue):
                raise FetchError(_DAMAGED)
            queue = rest

    def _add(self, place: int, kind: int, content: bytes) -> bool:
        """Note the ID of an object; return False for a delta whose base is not there yet."""
        if kind not in KINDS:
            return self._add_later(place)
        head = b"%s %d\0" % (KINDS[kind], len(content))
        name = ObjectID(hashlib.sha1(head + content).hexdigest().encode())  # noqa: S324 -- git's own hash
        self.places[name] = place
        if kind != BLOB:
            self._keep(place, kind, content)
        return True

    def _add_later(self, place: int) -> bool:
        try:
            kind, content = self.read(place)
        except KeyError:
            return False
        self._add(place, kind, content)
        self._keep(place, kind, content)  # the next delta is often one to it
        return True

    def _keep(self, place: int, kind: int, content: bytes) -> None:
        if place not in self._cache and self._cache_size + len(content) <= MAX_CACHE:
            self._cache[place] = kind, content
            self._cache_size += len(content)

    def _hash_large(self, place: int, start: int, size: int) -> int:
        """Hash a large file in pieces; return where the next object starts."""
        whole = hashlib.sha1(b"blob %d\0" % size)  # noqa: S324
        stream, total = zlib.decompressobj(), 0
        while not stream.eof:
            rest = stream.unconsumed_tail
            if not rest:
                rest = self._data[start : start + PIECE]
                start += len(rest)
            piece = self._inflate(stream, rest, PIECE)
            total += len(piece)
            if total > size:
                raise FetchError(_DAMAGED)
            whole.update(piece)
        if total != size:
            raise FetchError(_DAMAGED)
        self.places[ObjectID(whole.hexdigest().encode())] = place
        return start - len(stream.unused_data)

    def _header(self, place: int) -> tuple[int, int, int | ObjectID, int]:
        """Return kind, size, base of a delta, and where the packed content of an object starts."""
        data = self._data
        try:
            byte = data[place]
            kind, size, shift, at = byte >> 4 & 7, byte & 15, 4, place + 1
            while byte & 0x80:
                byte = data[at]
                size |= (byte & 0x7F) << shift
                shift += 7
                at += 1
            if kind in KINDS:
                return kind, size, 0, at
            if kind == ID_DELTA:
                return kind, size, ObjectID(data[at : at + 20].hex().encode()), at + 20
            if kind != OFFSET_DELTA:
                raise FetchError(_DAMAGED)
            byte = data[at]
            distance = byte & 0x7F
            while byte & 0x80:
                at += 1
                byte = data[at]
                distance = (distance + 1 << 7) | byte & 0x7F
        except IndexError:
            raise FetchError("the server stopped in the middle") from None
        if not 12 <= place - distance < place:
            raise FetchError(_DAMAGED)
        return kind, size, place - distance, at + 1

    def _unpack(self, start: int, size: int) -> tuple[bytes, int]:
        """Return the content that claims `size` bytes, and where the next object starts."""
        if size > self._max_object:
            raise FetchError(f"a file is over {self._max_object / (1 << 20):g} MiB")
        self._spend(size)
        stream = zlib.decompressobj()
        end = min(start + size + (size >> 6) + 64, len(self._data))  # mostly more than enough
        content = self._inflate(stream, self._data[start:end], size + 1)
        pieces = [content]
        total = len(content)
        while not stream.eof and total <= size:
            rest = stream.unconsumed_tail
            if not rest:
                rest = self._data[end : end + PIECE]
                end += len(rest)
            pieces.append(self._inflate(stream, rest, size + 1 - total))
            total += len(pieces[-1])
        if total != size:
            raise FetchError(_DAMAGED)
        return b"".join(pieces) if len(pieces) > 1 else content, end - len(stream.unused_data)

    def _inflate(self, stream: zlib._Decompress, data: bytes, most: int) -> bytes:
        if not data:
            raise FetchError("the server stopped in the middle")
        try:
            return stream.decompress(data, most)
        except zlib.error:
            raise FetchError(_DAMAGED) from None

    def _apply(self, base: bytes, delta: bytes) -> bytes:
        if _result_size(delta) > self._max_object:
            raise FetchError(f"a file is over {self._max_object / (1 << 20):g} MiB")
        self._spend(_result_size(delta))
        try:
            return b"".join(apply_delta(base, delta))
        except Exception:  # dulwich has several for what is no delta
            raise FetchError(_DAMAGED) from None


def _result_size(delta: bytes) -> int:
    """Return the second of the two sizes that a delta starts with."""
    sizes, size, shift = [], 0, 0
    for byte in delta[:20]:
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            sizes.append(size)
            size = shift = 0
    return sizes[1] if len(sizes) > 1 else 0
