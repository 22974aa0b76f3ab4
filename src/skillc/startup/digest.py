"""SHA-256, without loading OpenSSL for a few bytes as `hashlib` does: that costs agents half a command."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import _Hash as Hash
    from typing import BinaryIO

MUCH = 1 << 20  # bytes from which OpenSSL is worth loading


def new_sha256(size: int = 0) -> Hash:
    """An empty hash for about `size` bytes."""
    if size < MUCH:
        try:
            made: Hash = __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256()
        except ImportError:
            pass
        else:
            return made
    from hashlib import sha256

    return sha256()


def sha256_hex(data: bytes) -> str:
    """The hex SHA-256 of some bytes."""
    whole = new_sha256(len(data))
    whole.update(data)
    return whole.hexdigest()


def file_sha256_hex(file: BinaryIO, size: int) -> str:
    """The hex SHA-256 of what is left in a file of about `size` bytes, read in pieces."""
    whole = new_sha256(size)
    while piece := file.read(MUCH):
        whole.update(piece)
    return whole.hexdigest()
