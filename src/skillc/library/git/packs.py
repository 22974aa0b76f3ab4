"""How large what is in a pack is when it is unpacked, found out without keeping it."""

from __future__ import annotations

import os
import zlib
from typing import BinaryIO

from skillc.library.git.errors import FetchFailed

MAX_OBJECT = 256 << 20  # bytes of one file, unpacked
MAX_HISTORY = 64  # times the limit of what is sent: all versions of all files, unpacked


def weigh(file: BinaryIO, limit: int) -> None:
    """Refuse a pack that is far larger when unpacked, before anything unpacks it in memory."""
    file.flush()
    file.seek(0)
    reader = PackReader(file)
    most, total = min(limit, MAX_OBJECT), 0
    for _ in range(int.from_bytes(reader.take(12)[8:], "big")):
        size = reader.object_size()
        total += size
        if size > most:
            raise FetchFailed(f"a file is over {most / (1 << 20):g} MiB")
        if total > limit * MAX_HISTORY:
            raise FetchFailed("the history is too large")
    file.seek(0, os.SEEK_END)


class PackReader:
    """Goes through a pack from object to object without keeping what is in them."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ahead = b""

    def take(self, count: int) -> bytes:
        while len(self._ahead) < count:
            more = self._file.read(1 << 16)
            if not more:
                raise FetchFailed("the server stopped in the middle")
            self._ahead += more
        taken, self._ahead = self._ahead[:count], self._ahead[count:]
        return taken

    def object_size(self) -> int:
        """The size of the next object when it is unpacked; of a delta, that of its result."""
        byte = self.take(1)[0]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            byte = self.take(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
        if kind == 6:  # delta to an object at an offset
            while self.take(1)[0] & 0x80:
                pass
        elif kind == 7:  # delta to an object by its ID
            self.take(20)
        start = self._skip(size)
        return max(size, _delta_result(start)) if kind in (6, 7) else size

    def _skip(self, size: int) -> bytes:
        """Go past compressed data that claims `size`; gives its first bytes."""
        unpack = zlib.decompressobj()
        start, seen = b"", 0
        data = self._ahead
        while not unpack.eof:
            data = data or self._file.read(1 << 16)
            if not data:
                raise FetchFailed("the server stopped in the middle")
            piece = unpack.decompress(data, 1 << 16)
            start, seen = (start + piece)[:20], seen + len(piece)
            if seen > size:
                raise FetchFailed("the server sent a damaged pack")
            data = unpack.unconsumed_tail
        self._ahead = unpack.unused_data
        return start


def _delta_result(start: bytes) -> int:
    """The second of the two numbers that a delta starts with."""
    numbers, size, shift = [], 0, 0
    for byte in start:
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(size)
            size = shift = 0
    return numbers[1] if len(numbers) > 1 else 0
