"""The digest of a skill: what a lock, an approval and a signature are bound to [D64].

    SHA-256("skillc-digest-1\\n", then for each file, sorted bytewise by path:
            length of the path (8 bytes, big-endian), path, "x" or "-",
            length of the content (8 bytes), content)

Every part has its length before it, so that no two folders share a digest, as they can with the source
hash [D3] and with npm's `computedHash`. Every file counts, hidden ones too; a link that stays inside the
folder counts as the file it leads to, and one that leaves it refuses the digest. What is never installed
(`is_left_out`) does not count. What a person signs leaves out the signatures themselves (`SIGNATURES`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from stat import S_ISREG
from typing import TYPE_CHECKING

from skillc.errors import InvalidSkill
from skillc.skills.files import SourceFile, list_files
from skillc.startup import MUCH, new_sha256

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

HEADER = b"skillc-digest-1\n"
MAX_SKILL = 1 << 30  # bytes of all files of a skill; more can't be locked, approved or signed
SETTLED = 2 * 10**9  # nanoseconds; file systems may not tell apart two changes within that time
EXECUTABLE = " executable"
SIGNATURES = ("skill.oms.sig", "skill.ssh.sig")  # at the top of a skill; they can't sign themselves
_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # not waiting for a pipe


@dataclass(frozen=True, slots=True)
class SkillDigest:
    """The folder of a skill at one moment: its digest, and what each file was.

    `files` maps each path to the SHA-256 of the file, and whether it is executable.
    """

    digest: str
    files: Mapping[str, str]
    stamps: Mapping[str, tuple[int, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def hashes(self) -> dict[str, str]:
        """The SHA-256 of each file, by its path."""
        return {name: state.removesuffix(EXECUTABLE) for name, state in self.files.items()}

    @property
    def executables(self) -> list[str]:
        """The paths of the executable files."""
        return [name for name, state in self.files.items() if state.endswith(EXECUTABLE)]

    def has_content(self, path: str, sha256: str) -> bool:
        """Return whether the file at a path has this SHA-256."""
        return self.files.get(path, "").removesuffix(EXECUTABLE) == sha256

    def changes_since(self, before: Mapping[str, str]) -> list[tuple[str, str]]:
        """Return how the files differ from earlier ones: `changed`, `added` or `removed`, and the path."""
        kinds = dict.fromkeys(before.keys() - self.files.keys(), "removed")
        for name, state in self.files.items():
            if state != before.get(name):
                kinds[name] = "changed" if name in before else "added"
        return [(kinds[name], name) for name in sorted(kinds, key=os.fsencode)]


def digest_skill(
    folder: str,
    *,
    executables: Collection[str] | None = None,
    before: SkillDigest | None = None,
    without: Collection[str] = (),
) -> SkillDigest:
    """Read and hash every file of a skill; raises PathEscapes for a link that leads out of its folder.

    Where the file system has no modes, the files in `executables` are the executable ones, if given. Those
    in `without` do not count. If nothing changed since `before` was taken, that is returned.
    """
    begin = time.time_ns()
    files = [file for file in list_files(folder, hidden=True) if file.name not in without]
    stamps = {file.name: file.stamp for file in files}
    if before is not None and before.stamps == stamps:
        return before
    if sum(file.size for file in files) > MAX_SKILL:
        raise InvalidSkill(folder, f"more than {MAX_SKILL >> 30} GiB of files")
    if executables is not None and not _has_modes(folder, files):
        modes = {file.name: file.name in executables for file in files}
    else:
        modes = {file.name: file.is_executable for file in files}
    whole = new_sha256(MUCH)
    whole.update(HEADER)
    states: dict[str, str] = {}
    for file in files:
        whole.update(_header(file.name, modes[file.name], file.size))
        states[file.name] = _add_content(file, whole) + (EXECUTABLE if modes[file.name] else "")
    # A file that changed just now may change again with the same stamp.
    is_settled = all(max(file.stamp[1:]) < begin - SETTLED for file in files)
    return SkillDigest(whole.hexdigest(), states, stamps if is_settled else {})


def digest_contents(files: Iterable[tuple[str, bool, bytes]]) -> str:
    """Return the digest of files in memory: of the path of each, whether it is executable, and its bytes.

    >>> digest_contents([("SKILL.md", False, b"# PDF\\n")])[:16]
    '6cca52d40c8733e0'
    """
    whole = new_sha256(MUCH)
    whole.update(HEADER)
    for name, is_executable, content in sorted(files, key=lambda file: os.fsencode(file[0])):
        whole.update(_header(name, is_executable, len(content)) + content)
    return whole.hexdigest()


def _header(name: str, is_executable: bool, size: int) -> bytes:
    """Return what precedes the content of a file in the digest."""
    path = os.fsencode(name)
    mark = b"x" if is_executable else b"-"
    return len(path).to_bytes(8, "big") + path + mark + size.to_bytes(8, "big")


def _has_modes(folder: str, files: Collection[SourceFile]) -> bool:
    """Return whether modes tell something: Windows has none, and some mounts make all files executable.

    Where all are, a new file tells such a mount from a skill whose files somebody made executable.
    """
    if os.name != "posix":
        return False
    if not all(file.is_executable for file in files):
        return True
    from tempfile import TemporaryFile  # rarely needed

    try:
        with TemporaryFile(dir=folder) as file:
            return not os.fstat(file.fileno()).st_mode & 0o111
    except OSError:  # a folder that can't be written
        return True


def _add_content(file: SourceFile, whole: Hash) -> str:
    """Add the bytes of a file to a hash, and return the SHA-256 of the file itself."""
    own = new_sha256(file.size)
    with open(file.path, "rb", opener=lambda path, flags: os.open(path, flags | _FLAGS)) as stream:
        rest = file.size if S_ISREG(os.fstat(stream.fileno()).st_mode) else -1
        while piece := stream.read(MUCH) if rest >= 0 else b"":
            whole.update(piece)
            own.update(piece)
            rest -= len(piece)
    if rest:
        raise InvalidSkill(file.path, "it changes while it is read")
    return own.hexdigest()
