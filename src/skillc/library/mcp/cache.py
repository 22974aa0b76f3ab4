"""Files of other servers' skills on disk, by digest; verified whenever they are used.

    <home>/.skillc/cache/mcp/<label>/.files/<sha256>
    <home>/.skillc/cache/mcp/<label>/<path of the skill, %2F for />/<digest of its set of files>/<name>/

A path tells the server and the skill, and is in no place where skills of this machine are looked for.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from skillc import atomic, paths
from skillc.errors import SkillcError
from skillc.library.mcp.entries import HeldEntry, HeldFile, Refused
from skillc.skills import list_files

OLD = 30 * 24 * 3600.0  # seconds after which a file that no listed skill has is removed

log = logging.getLogger("skillc.library")


class Cache:
    """What was fetched from one server, which goes by `label`."""

    def __init__(self, label: str, base: str | os.PathLike[str] | None = None) -> None:
        above = os.fspath(base) if base else os.path.join(paths.require_home(), paths.DIRECTORY, "cache")
        self._root = os.path.join(os.path.abspath(above), "mcp", label)
        self._files = os.path.join(self._root, ".files")

    def get(self, file: HeldFile) -> bytes | None:
        """A file's bytes, verified now; None where they are not there, or not those."""
        try:
            with open(os.path.join(self._files, file.digest), "rb") as cached:
                data = cached.read(file.size + 1)
            file.verify(data)
        except (OSError, Refused):
            return None
        return data

    def keep(self, file: HeldFile, data: bytes) -> None:
        """Keep what was fetched; that it can't be kept fails nothing."""
        try:
            os.makedirs(self._files, mode=0o700, exist_ok=True)
            atomic.write(os.path.join(self._files, file.digest), data)
        except OSError as error:
            log.warning("the cache can't be written: %s", error.strerror)

    def folder(self, entry: HeldEntry) -> str | None:
        """The folder of a skill, if it holds just the files of its entry, byte by byte."""
        folder = self._place(entry)
        return folder if _holds(folder, entry) else None

    def make_folder(self, entry: HeldEntry, files: Mapping[str, bytes]) -> str:
        """Put a skill's files into a folder, whole or not at all; what it was before stays for an hour."""
        folder = self._place(entry)
        digest = os.path.dirname(folder)
        skill = os.path.dirname(digest)
        os.makedirs(skill, mode=0o700, exist_ok=True)
        atomic.sweep(skill)
        temporary = atomic.beside(os.path.join(skill, "skill"))
        try:
            for path, data in files.items():
                target = os.path.join(temporary, entry.path.name, *path.split("/"))
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "xb") as file:
                    file.write(data)
            atomic.replace(temporary, digest)
        finally:
            atomic.discard(temporary)
        _retire(skill, os.path.basename(digest))
        return folder

    def sweep(self, listed: Iterable[str]) -> None:
        """Remove files that are old and that no listed skill has."""
        needed = set(listed)
        try:
            for entry in os.scandir(self._files):
                if entry.name not in needed and time.time() - entry.stat().st_mtime > OLD:
                    atomic.discard(entry.path)
        except OSError:
            pass  # none yet, or another time

    def _place(self, entry: HeldEntry) -> str:
        return os.path.join(self._root, quote(entry.path, safe=""), entry.digest[:32], entry.path.name)


def _holds(folder: str, entry: HeldEntry) -> bool:
    try:
        found = {file.name: file for file in list_files(folder, hidden=True)}
        if found.keys() != {file.path for file in entry.files}:
            return False
        for file in entry.files:
            with open(found[file.path].path, "rb") as cached:
                file.verify(cached.read(file.size + 1))
    except (OSError, SkillcError, Refused):
        return False
    return True


def _retire(skill: str, current: str) -> None:
    """Remove what a skill was before, once nobody has been sent there for an hour."""
    try:
        for entry in os.scandir(skill):
            age = time.time() - entry.stat(follow_symlinks=False).st_mtime
            if entry.name != current and age > atomic.ABANDONED_AFTER:
                atomic.discard(entry.path)
    except OSError:
        pass
