"""The digest that an approval is bound to: everything below a skill's folder, as a run would find it.

It is not the source hash [D3], which leaves files out and joins names and hashes without separators, so
that two folders can have the same. Here every part has its length before it, and nothing is left out:
hidden files, `.git` and the like, executable bits, the targets of links, empty directories.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from stat import S_ISDIR, S_ISREG

from skillc.errors import InvalidSkill, PathEscapes
from skillc.library import ORIGIN, at_path
from skillc.paths import is_inside
from skillc.startup import file_sha256_hex, new_sha256

MAX_SKILL = 1 << 30  # bytes of all files of a skill; more can't be approved
MAX_ENTRIES = 100_000  # files, links and empty directories of a skill
SETTLED = 2 * 10**9  # nanoseconds; file systems may not tell apart two changes within that time
EXECUTABLE, LINK, EMPTY, SPECIAL = " executable", "-> ", "empty directory", "special file"
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # nor a pipe that never ends

Stamp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The folder of a skill at one moment: what an approval is bound to.

    `files` maps each path to what is there: the SHA-256 of a file and whether it is executable, the target
    of a link, an empty directory.
    """

    digest: str
    files: Mapping[str, str]
    stamps: Mapping[str, Stamp] = field(default_factory=dict, compare=False, repr=False)

    def has_content(self, path: str, sha256: str) -> bool:
        """Return whether the file at a path has this SHA-256."""
        return self.files.get(path, "").removesuffix(EXECUTABLE) == sha256

    def changes_since(self, before: Mapping[str, str]) -> list[str]:
        """Return how the files differ from earlier ones: `changed: path`, `added: path`, `removed: path`."""
        kinds = dict.fromkeys(before.keys() - self.files.keys(), "removed")
        for name, state in self.files.items():
            if state != before.get(name):
                kinds[name] = "changed" if name in before else "added"
        return [f"{kinds[name]}: {name}" for name in sorted(kinds)]


def fingerprint(directory: str, before: Fingerprint | None = None) -> Fingerprint:
    """Read and hash everything in a folder; raises PathEscapes for a link that leads out of it.

    Files that have not changed since `before` was taken are not read again.
    """
    begin = time.time_ns()
    note = ORIGIN if at_path(directory).is_copy else ""  # ours, and another for each state of a repository
    entries = sorted(_walk(directory), key=lambda entry: os.fsencode(entry[0]))
    if sum(status.st_size for _, _, status in entries if S_ISREG(status.st_mode)) > MAX_SKILL:
        raise InvalidSkill(directory, f"more than {MAX_SKILL >> 30} GiB of files")
    files: dict[str, str] = {}
    stamps: dict[str, Stamp] = {}
    for name, path, status in entries:
        if name == note:
            continue
        stamp = _stamp(status)
        if before and before.stamps.get(name) == stamp:
            files[name] = before.files[name]
        else:
            files[name] = _describe(path, status)
        if status.st_ctime_ns < begin - SETTLED:
            stamps[name] = stamp
    return Fingerprint(_hash(files), files, stamps)


def _walk(directory: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """Yield name, path and status of all files, links and empty directories; links are not followed."""
    root = os.path.realpath(directory)
    stack = [("", directory)]
    count = 0
    while stack:
        prefix, folder = stack.pop()
        with os.scandir(folder) as scan:
            entries = list(scan)
        if prefix and not entries:
            yield prefix, folder, os.lstat(folder)
        count += len(entries) or 1
        if count > MAX_ENTRIES:
            raise InvalidSkill(directory, f"more than {MAX_ENTRIES} files")
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                stack.append((f"{prefix}{entry.name}/", entry.path))
                continue
            if entry.is_symlink() and _leads_out(entry.path, root):
                raise PathEscapes(prefix + entry.name)
            yield prefix + entry.name, entry.path, entry.stat(follow_symlinks=False)


def _leads_out(link: str, root: str) -> bool:
    """Return whether a link leads to something outside of `root`; a broken one leads nowhere yet."""
    return os.path.exists(link) and not is_inside(os.path.realpath(link), root)


def _describe(path: str, status: os.stat_result) -> str:
    """Return what is at a path, in a way that no two kinds of things share."""
    if S_ISDIR(status.st_mode):
        return EMPTY
    if os.path.islink(path):
        return LINK + os.readlink(path)
    if not S_ISREG(status.st_mode):
        return SPECIAL
    with open(path, "rb", opener=lambda path, flags: os.open(path, flags | _NO_LINK)) as file:
        now = os.fstat(file.fileno())
        if _stamp(now) != _stamp(status):
            raise InvalidSkill(path, "it changes while it is read")
        return file_sha256_hex(file, now.st_size) + (EXECUTABLE if now.st_mode & 0o111 else "")


def _stamp(status: os.stat_result) -> Stamp:
    """Return what differs after any change of a file, and can't be set back without being root."""
    return (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _hash(files: Mapping[str, str]) -> str:
    whole = new_sha256()
    whole.update(b"skillc approval 2\0")
    for entry in files.items():
        for text in entry:
            data = os.fsencode(text)
            whole.update(len(data).to_bytes(8, "big"))
            whole.update(data)
    return whole.hexdigest()
