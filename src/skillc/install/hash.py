"""The lock file's `computedHash`, as the npm package `skills` computes it.

A SHA-256 over the path and the bytes of one file after the other, in the order of JavaScript's
`localeCompare` of the paths. Dot-files count; links, `.git` and `node_modules` do not.
"""

from __future__ import annotations

import os

from skillc.collation import sort_names
from skillc.startup import MUCH, file_sha256_hex, new_sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

LEFT_OUT = (".git", "node_modules")


def compute_hash(folder: str, links: Collection[str] = ()) -> str:
    """Return the `computedHash` of a skill's folder; `links` are names that were links where it came from."""
    names = dict(walk_files(folder))
    if links:
        names = {name: path for name, path in names.items() if not _is_below(name, links)}
    whole = new_sha256(MUCH)
    for name in sort_names(names):
        whole.update(name.encode("utf-8", "replace"))
        with open(names[name], "rb") as file:
            while piece := file.read(MUCH):
                whole.update(piece)
    return whole.hexdigest()


def _is_below(name: str, links: Collection[str]) -> bool:
    words = name.split("/")
    return any("/".join(words[: count + 1]) in links for count in range(len(words)))


def walk_files(folder: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and path of each file that counts below a folder; names have forward slashes."""
    with os.scandir(folder) as entries:
        children = sorted(entries, key=lambda entry: entry.name)
    for entry in children:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in LEFT_OUT:
                yield from walk_files(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_file(follow_symlinks=False):
            yield prefix + entry.name, entry.path


def hash_files(folder: str) -> dict[str, str]:
    """Return the SHA-256 of each file that counts for `computedHash`, by its name."""
    digests = {}
    for name, path in walk_files(folder):
        with open(path, "rb") as file:
            digests[name] = file_sha256_hex(file, os.path.getsize(path))
    return digests
