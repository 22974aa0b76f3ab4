"""The hashes of a skill's folder that a lock has; one of them is that of the npm package `skills`.

Theirs, `computedHash`, is a SHA-256 over the path and the bytes of one file after the other, in the order of
JavaScript's `localeCompare` of the paths. Dot-files count; links, `.git` and `node_modules` do not. Other
files can have the same: what is installed is compared by its digest [D64].
"""

from __future__ import annotations

import os

from skillc.collation import sort_names
from skillc.skills import digest_files, digest_skill
from skillc.startup import MUCH, new_sha256, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from skillc.skills import SkillDigest

LEFT_OUT = (".git", "node_modules")


@value
class FolderHashes:
    """A folder's `computedHash`, its source hash [D3], and the digest of every file [D64]."""

    computed: str
    source: str
    content: SkillDigest


def hash_folder(
    folder: str, links: Collection[str] = (), executables: Collection[str] | None = None
) -> FolderHashes:
    """Return all hashes of a folder; raises PathEscapes for a link that leads out of it.

    `links` are as for `compute_hash`, `executables` as for `digest_skill`.
    """
    content = digest_skill(folder, executables=executables or None)
    return FolderHashes(compute_hash(folder, links), digest_files(folder), content)


def compute_hash(folder: str, links: Collection[str] = ()) -> str:
    """Return the `computedHash` of a skill's folder; `links` are names that were links where it came from."""
    names = dict(_walk_files(folder))
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


def _walk_files(folder: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and path of each file that counts for `computedHash`; names have forward slashes."""
    with os.scandir(folder) as entries:
        children = sorted(entries, key=lambda entry: entry.name)
    for entry in children:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in LEFT_OUT:
                yield from _walk_files(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_file(follow_symlinks=False):
            yield prefix + entry.name, entry.path
