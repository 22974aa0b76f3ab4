"""Make a git repository with one commit: its ID, and a pack of all its objects.

The same files, message and time make the same repository, byte by byte.

>>> files = {"SKILL.md": (b"text", False)}
>>> make_repository(files, "one", 0).commit
'e07041314b5c462ff0fee466df01b9a7930d6b99'
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

AUTHOR = "skillc <registry@skillc.invalid>"
COMMIT, TREE, BLOB = 1, 2, 3
_NAMES = {COMMIT: "commit", TREE: "tree", BLOB: "blob"}

Files = Mapping[str, tuple[bytes, bool]]  # by path: the bytes, and whether the file can be run


@dataclass(frozen=True, slots=True)
class Repository:
    """A commit, and the pack with it and all that it needs."""

    commit: str
    pack: bytes


def make_repository(files: Files, message: str, time: int) -> Repository:
    """Return a repository whose one commit, of this time in seconds since 1970, has these files."""
    objects: dict[bytes, bytes] = {}
    tree = _add_tree(objects, _nest(files))
    lines = (f"tree {tree.hex()}", f"author {AUTHOR} {time} +0000", f"committer {AUTHOR} {time} +0000")
    commit = _add(objects, COMMIT, "\n".join([*lines, "", message, ""]).encode())
    content = b"".join([b"PACK", (2).to_bytes(4), len(objects).to_bytes(4), *objects.values()])
    return Repository(commit.hex(), content + hashlib.sha1(content, usedforsecurity=False).digest())


def _nest(files: Files) -> dict[str, Any]:
    """Return the files as folders within folders."""
    root: dict[str, Any] = {}
    for path, file in sorted(files.items()):
        *folders, name = path.split("/")
        place = root
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = file
    return root


def _add_tree(objects: dict[bytes, bytes], folder: dict[str, Any]) -> bytes:
    entries: list[tuple[bytes, bytes]] = []  # git sorts a folder as if its name ended in a slash
    for name, value in folder.items():
        if isinstance(value, dict):
            key, mode, digest = f"{name}/", "40000", _add_tree(objects, value)
        else:
            data, is_executable = value
            key, mode = name, "100755" if is_executable else "100644"
            digest = _add(objects, BLOB, data)
        entries.append((key.encode(), f"{mode} {name}".encode() + b"\0" + digest))
    return _add(objects, TREE, b"".join(entry for _, entry in sorted(entries)))


def _add(objects: dict[bytes, bytes], kind: int, data: bytes) -> bytes:
    """Add an object, packed, and return its ID."""
    digest = hashlib.sha1(
        f"{_NAMES[kind]} {len(data)}".encode() + b"\0" + data, usedforsecurity=False
    ).digest()
    if digest not in objects:
        objects[digest] = _head(kind, len(data)) + zlib.compress(data)
    return digest


def _head(kind: int, size: int) -> bytes:
    """Return the type and the size of an object, as a pack has them: 4 bits, and then 7 in each byte."""
    head, size = [kind << 4 | size & 15], size >> 4
    while size:
        head[-1] |= 128
        head.append(size & 127)
        size >>= 7
    return bytes(head)
