"""JSON as JavaScript writes it, so that two tools that share a file leave it byte for byte the same."""

from __future__ import annotations

import json


def dump(content: object) -> str:
    """Return what `JSON.stringify(content, null, 2)` gives."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # half a character is an escape there, too


def key_order(key: str) -> tuple[bool, int, bytes]:
    """Return what the keys of an object are sorted by: numbers come first, then text in UTF-16.

    >>> sorted(["b", "a", "10", "9", "01", "B"], key=key_order)
    ['9', '10', '01', 'B', 'a', 'b']
    """
    text = key.encode("utf-16-be", "surrogatepass")
    is_index = key.isascii() and key.isdecimal() and len(key) <= 10 and str(int(key)) == key
    is_index = is_index and int(key) < 2**32 - 1
    return (False, int(key), b"") if is_index else (True, 0, text)
