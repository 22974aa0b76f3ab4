"""Long lists, page by page: a cursor names the entry after which the next page begins.

A cursor has a short checksum of its list, so that one of another list, or one that was made up, is refused
instead of beginning anywhere. It stays valid when its entry is gone.
"""

from __future__ import annotations

from skillc.errors import InvalidOption
from skillc.startup import sha256_hex

CHECKSUM = 8  # characters


def make_cursor(listing: str, key: str) -> str:
    """Return the cursor for what follows `key` in a list.

    >>> find_key("skills", make_cursor("skills", "pdf"))
    'pdf'
    """
    return f"{_checksum(listing, key)}.{key}"


def find_key(listing: str, cursor: str) -> str:
    """Return the key in a cursor; raises InvalidOption for one that is not of this list."""
    checksum, _, key = cursor.partition(".")
    if checksum != _checksum(listing, key):
        raise InvalidOption("this cursor is not from the last answer; leave it out to begin again")
    return key


def _checksum(listing: str, key: str) -> str:
    return sha256_hex(f"{listing}\0{key}".encode("utf-8", "surrogatepass"))[:CHECKSUM]
