"""The files of a skill: one list for hash, index, outline, sources, lint and archives [D1, D2, D3].

All regular files below the root, except what has a dot at the start of its name or of a
directory's on the way. A link that stays inside counts as the file it points to.
"""

from __future__ import annotations

import os
from stat import S_ISDIR, S_ISREG

from skillc import errors
from skillc.paths import is_inside
from skillc.startup.digest import new_sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

NOT_OF_A_SKILL = (".git", ".hg", ".svn", ".skillc", ".skillc-meta")
MAX_FILES = 100_000  # links can multiply a folder without end; a skill with more is not valid
MAX_LINKED = 1000  # directories that links lead to, which can multiply without a single file


class SourceFile:
    """A file of a skill: its path below the root with `/`, and what tells that it changed."""

    __slots__ = ("name", "path", "size", "stamp")

    def __init__(self, name: str, path: str, status: os.stat_result) -> None:
        self.name = name
        self.path = path
        self.size = status.st_size
        # Equal stamps mean an unchanged file; different ones mean that its hash must tell.
        self.stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def __repr__(self) -> str:
        return f"<SourceFile {self.name!r}>"


def list_files(root: str, *, hidden: bool = False) -> list[SourceFile]:
    """The files below `root`, sorted bytewise by path; with `hidden`, those with a dot as well.

    Raises PathEscapes for a link that leaves the root. Broken links, loops, pipes and the
    like are passed over, and so is a version control system's directory.
    """
    real_root = os.path.realpath(root)
    found: list[SourceFile] = []
    linked = 0  # directories reached through a link
    # Directories still to read: path prefix, path, the real directories on the way (for loops).
    pending: list[tuple[str, str, tuple[str, ...]]] = [("", root, (real_root,))]
    while pending:
        prefix, directory, chain = pending.pop()
        for entry in _entries(directory, required=not prefix):
            name = entry.name
            if name[0] == "." and (not hidden or name in NOT_OF_A_SKILL):
                continue
            status = _follow(entry, prefix + name, real_root)
            if status is None:
                continue
            if S_ISREG(status.st_mode):
                found.append(SourceFile(prefix + name, entry.path, status))
            elif S_ISDIR(status.st_mode):
                inner = f"{chain[-1]}{os.sep}{name}"
                real = os.path.realpath(inner) if entry.is_symlink() else inner
                if real not in chain:
                    linked += entry.is_symlink()
                    pending.append((f"{prefix}{name}/", entry.path, (*chain, real)))
        if len(found) > MAX_FILES:
            raise errors.InvalidSkill(root, f"more than {MAX_FILES} files")
        if linked > MAX_LINKED:
            raise errors.InvalidSkill(root, f"more than {MAX_LINKED} directories by way of links")
    found.sort(key=_bytewise)
    return found


def _bytewise(file: SourceFile) -> bytes:
    return file.name.encode("utf-8", "surrogateescape")


def _entries(directory: str, required: bool) -> list[os.DirEntry[str]]:
    """What is in a directory; nothing where it was removed meanwhile, unless it is `required`."""
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except FileNotFoundError:
        if required:
            raise
        return []


def _follow(entry: os.DirEntry[str], name: str, real_root: str) -> os.stat_result | None:
    """What an entry is, or its link leads to; None for one that leads nowhere, to itself, or is gone."""
    try:
        status = entry.stat()
    except OSError:
        if entry.is_symlink() or not os.path.lexists(entry.path):
            return None
        raise
    if entry.is_symlink() and not is_inside(os.path.realpath(entry.path), real_root):
        raise errors.PathEscapes(name)
    return status


def resolve_inside(root: str, relative: str) -> str:
    """The canonical path of something in a skill; raises PathEscapes for one outside of it.

    It need not exist. An absolute path is refused even where it leads inside.
    """
    if os.path.isabs(relative) or "\0" in relative or (os.sep == "\\" and ":" in relative):
        raise errors.PathEscapes(relative)
    real_root = os.path.realpath(root)
    try:
        os.fsencode(relative)  # behind a link that leads nowhere the next line would not try
        real = os.path.realpath(os.path.join(real_root, relative))
        # Behind a link to itself nothing was resolved: what is left must lead nowhere else.
        inside = is_inside(real, real_root) and os.path.realpath(real) == real
    except ValueError:  # no file can have that name
        inside = False
    if not inside:
        raise errors.PathEscapes(relative)
    return real


def source_hash(digests: Iterable[tuple[str, str]]) -> str:
    """The hash of a skill from its sorted (path, hex SHA-256 of the file) pairs [D3]."""
    whole = new_sha256()
    for name, digest in digests:
        whole.update(os.fsencode(name))
        whole.update(digest.encode())
    return whole.hexdigest()
