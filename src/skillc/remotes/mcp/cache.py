"""Files of other servers' skills on disk, by digest; verified whenever they are used.

    <home>/.skillc/cache/mcp/<label>/.files/<sha256>
    <home>/.skillc/cache/mcp/<label>/<path of the skill, %2F for />/<digest of its set of files>/<name>/

A path tells the server and the skill, and is in no folder that is searched for local skills.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Container, Mapping
from urllib.parse import quote

from skillc import atomic, paths
from skillc.errors import SkillcError
from skillc.remotes.files import evict
from skillc.remotes.mcp.entries import FileEntry, Refusal, SkillEntry
from skillc.skills import list_files, write_files

MAX_AGE = 30 * 24 * 3600.0  # seconds after which a file of no listed skill is removed

log = logging.getLogger("skillc.library")


class Cache:
    """The files of one server, named `label` here."""

    def __init__(self, label: str, base: str | os.PathLike[str] | None = None) -> None:
        parent = os.path.abspath(os.fspath(base) if base else paths.cache_directory())
        self._root = os.path.join(parent, "mcp", label)
        self._files = os.path.join(self._root, ".files")

    def get(self, file: FileEntry) -> bytes | None:
        """Return a file's bytes, verified now; None where they are missing or changed."""
        try:
            return _read(os.path.join(self._files, file.digest), file)
        except (OSError, Refusal):
            return None

    def put(self, file: FileEntry, data: bytes) -> None:
        """Store a file; a cache that can't be written is only a warning."""
        try:
            os.makedirs(self._files, mode=0o700, exist_ok=True)
            atomic.write(os.path.join(self._files, file.digest), data)
        except OSError as error:
            log.warning("the cache can't be written: %s", error.strerror)

    def folder(self, entry: SkillEntry) -> str | None:
        """Return the folder of a skill, if it holds exactly the files of its entry."""
        folder = self._folder(entry)
        try:
            names = {file.name: file.path for file in list_files(folder, hidden=True)}
            if names.keys() != {file.path for file in entry.files}:
                return None
            for file in entry.files:
                _read(names[file.path], file)
        except (OSError, SkillcError, Refusal):
            return None
        return folder

    def make_folder(self, entry: SkillEntry, files: Mapping[str, bytes]) -> str:
        """Write a skill's files into a folder, atomically; its old one stays for an hour."""
        folder = self._folder(entry)
        digest = os.path.dirname(folder)
        skill = os.path.dirname(digest)
        os.makedirs(skill, mode=0o700, exist_ok=True)
        atomic.sweep(skill)
        temporary = atomic.temporary_path(os.path.join(skill, "skill"))
        try:
            write_files(os.path.join(temporary, entry.path.name), files)
            atomic.replace(temporary, digest)
        finally:
            atomic.discard(temporary)
        evict(skill, {os.path.basename(digest)}, atomic.ABANDONED_AFTER)
        return folder

    def sweep(self, digests: Container[str]) -> None:
        """Remove old files other than those with the digests of listed skills."""
        evict(self._files, digests, MAX_AGE)

    def _folder(self, entry: SkillEntry) -> str:
        return os.path.join(self._root, quote(entry.path, safe=""), entry.digest[:32], entry.path.name)


def _read(path: str, file: FileEntry) -> bytes:
    with open(path, "rb") as stream:
        data = stream.read(file.size + 1)
    file.verify(data)
    return data
