"""The files of a server's skills on disk: one folder for each skill, complete and verified.

    <home>/.skillc/cache/http/<key of the server>/<ID, %2F for />/<key of the set of files>/<name>/
    <home>/.skillc/cache/http/<key of the server>/<ID, %2F for />/.parts/<sha256>

Files that arrived before all had are `.parts`, so that the next attempt goes on from there. Of a new set of
files, those that an earlier folder has are taken from it. A folder is verified whenever it is used.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container, Iterator, Mapping
from urllib.parse import quote

from skillc import atomic, paths
from skillc.errors import SkillcError
from skillc.remotes.http import FileEntry, FileListing
from skillc.skills import SkillId, list_files
from skillc.startup import sha256_hex

PARTS = ".parts"
MAX_FOLDERS = 4  # of a skill that are looked through for its files


class FileCache:
    """The files of the skills of one server."""

    def __init__(self, base_url: str) -> None:
        self._key = sha256_hex(base_url.encode("utf-8", "replace"))[:16]

    def find(self, skill_id: SkillId, listing: FileListing) -> str | None:
        """Return the folder of a skill, if it holds exactly these files."""
        folder = self._folder(skill_id, listing)
        try:
            names = {file.name: file.path for file in list_files(folder, hidden=True)}
            if names.keys() != {file.path for file in listing.files}:
                return None
            if any(_read(names[file.path], file) is None for file in listing.files):
                return None
        except (OSError, SkillcError):
            return None
        return folder

    def collect(self, skill_id: SkillId, listing: FileListing) -> dict[str, bytes]:
        """Return the bytes of the files that are at hand, by digest."""
        sizes = {file.digest: file.size for file in listing.files}
        contents: dict[str, bytes] = {}
        for path in self._candidates(skill_id):
            try:
                if os.path.getsize(path) not in sizes.values():
                    continue
                data = paths.read_regular(path, max(sizes.values()))
            except OSError:
                continue
            digest = f"sha256:{sha256_hex(data)}"
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

    def make(self, skill_id: SkillId, listing: FileListing, contents: Mapping[str, bytes]) -> str:
        """Write the files into a folder, all or none, and remove what it replaces."""
        folder = self._folder(skill_id, listing)
        place = os.path.dirname(folder)
        skill = os.path.dirname(place)
        os.makedirs(skill, mode=0o700, exist_ok=True)
        atomic.sweep(skill)
        temporary = atomic.temporary_path(place)
        try:
            for file in listing.files:
                target = os.path.join(temporary, skill_id.name, *file.path.split("/"))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "xb") as stream:
                    stream.write(contents[file.digest])
                if file.is_executable:
                    os.chmod(target, 0o700)
            atomic.replace(temporary, place)
        finally:
            atomic.discard(temporary)
        atomic.discard(os.path.join(skill, PARTS))
        evict(skill, {os.path.basename(place)}, atomic.ABANDONED_AFTER)
        return folder

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
        return os.path.join(paths.cache_directory(), "http", self._key, quote(skill_id, safe=""))

    def _folder(self, skill_id: SkillId, listing: FileListing) -> str:
        return os.path.join(self._skill(skill_id), listing.key, skill_id.name)


def _read(path: str, file: FileEntry) -> bytes | None:
    """Return a file's bytes; None where they are others than its digest says."""
    with open(path, "rb") as stream:
        data = stream.read(file.size + 1)
        mode = os.fstat(stream.fileno()).st_mode
    is_same = f"sha256:{sha256_hex(data)}" == file.digest
    return data if is_same and (os.name != "posix" or bool(mode & 0o111) == file.is_executable) else None


def evict(directory: str, keep: Container[str], max_age: float) -> None:
    """Remove what is older than `max_age` seconds from a directory, but for the names in `keep`."""
    try:
        for entry in os.scandir(directory):
            age = time.time() - entry.stat(follow_symlinks=False).st_mtime
            if entry.name not in keep and age > max_age:
                atomic.discard(entry.path)
    except OSError:
        pass  # there is none yet, or the next call tries again
