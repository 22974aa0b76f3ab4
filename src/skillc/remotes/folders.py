"""Skills of a remote on disk: one folder for each version, complete.

    <root>/<skill>/<version>/<name>/        a skill's files
    <root>/<skill>/.parts/<sha256>          files that arrived before all had

The parts are there so that the next attempt goes on from them. Of a new set of files, those that an earlier
folder has are taken from it. Where a remote names the digests of files, a folder is verified whenever it is
used. An older version stays for an hour, for what still reads it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

from skillc import atomic, paths
from skillc.errors import SkillcError
from skillc.remotes.protocol import RemoteFile, digest_of
from skillc.skills import SkillId, list_files, write_file
from skillc.startup import sha256_hex

PARTS = ".parts"
MAX_FOLDERS = 4  # of a skill that are looked through for its files


@dataclass(frozen=True, slots=True)
class SkillFolders:
    """The folders of the skills of one remote, by its kind and a name for it."""

    kind: str
    name: str
    parent: str = ""  # in place of the user's cache

    @classmethod
    def of(cls, kind: str, address: str) -> SkillFolders:
        """Return those of a remote by its kind and its address."""
        return cls(kind, sha256_hex(address.encode("utf-8", "replace"))[:16])

    @property
    def root(self) -> str:
        return os.path.join(self.parent or paths.cache_directory(), self.kind, self.name)

    def place(self, skill_id: SkillId, version: str) -> str:
        """Return the folder for a version, whether it is there or not."""
        return os.path.join(self._skill(skill_id), version, skill_id.name)

    def make(self, folder: str, write: Callable[[str], object]) -> str:
        """Have a skill written into its folder, and remove what it replaces.

        `write` writes into a path that is not there, whole or not at all.
        """
        version = os.path.dirname(folder)
        skill = os.path.dirname(version)
        os.makedirs(version, mode=0o700, exist_ok=True)
        atomic.sweep(skill)
        atomic.sweep(version)
        write(folder)
        os.utime(version)
        atomic.discard(os.path.join(skill, PARTS))
        evict(skill, {os.path.basename(version)}, atomic.ABANDONED_AFTER)
        return folder

    def holds(self, folder: str, files: Sequence[RemoteFile]) -> bool:
        """Return whether a folder holds exactly these files, all verified now."""
        try:
            names = {file.name: file.path for file in list_files(folder, hidden=True)}
            if names.keys() != {file.path for file in files}:
                return False
            return all(_is_same(names[file.path], file) for file in files)
        except (OSError, SkillcError):
            return False

    def write(self, folder: str, files: Sequence[RemoteFile], contents: Mapping[str, bytes]) -> None:
        """Write files into a folder, all or none; `contents` are by digest."""
        with write_folder(folder) as temporary:
            for file in files:
                target = write_file(temporary, file.path, contents[file.digest])
                if file.is_executable:
                    os.chmod(target, 0o700)

    def collect(self, skill_id: SkillId, files: Sequence[RemoteFile]) -> dict[str, bytes]:
        """Return the bytes of the files that are at hand, by digest, verified now."""
        sizes = {file.digest: file.size for file in files}
        contents: dict[str, bytes] = {}
        for path in self._candidates(skill_id):
            try:
                if os.path.getsize(path) not in sizes.values():
                    continue
                data = paths.read_regular(path, max(sizes.values()))
            except OSError:
                continue
            digest = digest_of(data)
            if digest in sizes:
                contents[digest] = data
        return contents

    def put(self, skill_id: SkillId, digest: str, data: bytes) -> None:
        """Keep a file until all have arrived; a cache that can't be written keeps none."""
        parts = os.path.join(self._skill(skill_id), PARTS)
        try:
            os.makedirs(parts, mode=0o700, exist_ok=True)
            atomic.write(os.path.join(parts, digest.partition(":")[2]), data)
        except OSError:
            pass

    def _candidates(self, skill_id: SkillId) -> Iterator[str]:
        """Yield the files of earlier folders, and those of a download that was not finished."""
        skill = self._skill(skill_id)
        try:
            names = sorted(os.listdir(skill))[: MAX_FOLDERS + 1]
            folders = [os.path.join(skill, name) for name in names if not name.endswith(".tmp")]
            for folder in folders:
                yield from (file.path for file in list_files(folder, hidden=True))
        except (OSError, SkillcError):
            return

    def _skill(self, skill_id: SkillId) -> str:
        return os.path.join(self.root, quote(skill_id, safe=""))


def _is_same(path: str, file: RemoteFile) -> bool:
    with open(path, "rb") as stream:
        data = stream.read(file.size + 1)
        mode = os.fstat(stream.fileno()).st_mode
    return file.matches(data) and (os.name != "posix" or bool(mode & 0o111) == file.is_executable)


@contextmanager
def write_folder(folder: str) -> Iterator[str]:
    """Give a path to write into; it takes the place of a folder at the end, or is gone after an error."""
    temporary = atomic.temporary_path(folder)
    try:
        yield temporary
        atomic.replace(temporary, folder)
    finally:
        atomic.discard(temporary)


def evict(directory: str, keep: Container[str], max_age: float) -> None:
    """Remove what is older than `max_age` seconds from a directory, but for the names in `keep`."""
    try:
        for entry in os.scandir(directory):
            age = time.time() - entry.stat(follow_symlinks=False).st_mtime
            if entry.name not in keep and age > max_age:
                atomic.discard(entry.path)
    except OSError:
        pass  # there is none yet, or the next call tries again
