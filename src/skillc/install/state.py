"""What is in a store now: the hashes of its skills, computed anew only for folders that changed.

A folder whose files have the same names, sizes and times as before has the same hashes. What is noted is a
cache: ~/.skillc/cache/installed/<hash of the root>.json, an entry for each skill of the lock, safe to delete.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from time import time_ns

from skillc import atomic, paths
from skillc.errors import SkillcError
from skillc.install.hash import compute_hash
from skillc.skills import digest_files, digest_skill
from skillc.startup import new_sha256, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from skillc.install.entry import LockEntry

    Notes = dict[str, list[object]]

RECENT = (
    2_000_000_000  # nanoseconds; a file that changed so lately may change again within one tick of its clock
)
MAX_BYTES = 64 << 20
LEFT_OUT = ".git"
HASHES = 4  # values of a note before the deployments: the stamp and three hashes


@value
class FolderState:
    """A skill's folder: the digest of its content, its weaker hashes, and what was deployed from it.

    `content` and `digest` are empty for a folder that has none. `deployments` are paths that have to exist.
    """

    content: str
    hash: str
    digest: str
    deployments: tuple[str, ...] | None = None

    @property
    def is_deployed(self) -> bool:
        return self.deployments is not None and all(map(os.path.lexists, self.deployments))


def read_states(
    root: str, folders: Mapping[str, str], entries: Mapping[str, LockEntry]
) -> dict[str, FolderState]:
    """Return the state of each folder that is there, by name; `entries` are those of the lock."""
    last = _read(root)
    notes: Notes = {}
    for name, folder in folders.items():
        if os.path.isdir(folder):
            with suppress(FileNotFoundError):  # another command takes it out just now
                notes[name] = _note(folder, last.get(name), entries[name].executables)
    if notes != last:
        _write(root, notes)
    return {name: _state(note) for name, note in notes.items()}


def note_deployments(root: str, deployments: Mapping[str, list[str]]) -> None:
    """Note what was deployed from skills, so that it need not be looked up again."""
    notes = _read(root)
    for name, places in deployments.items():
        notes[name] = [*notes.get(name, [""] * HASHES)[:HASHES], sorted(places)]
    _write(root, notes)


def _note(folder: str, last: list[object] | None, executables: Collection[str]) -> list[object]:
    """Return stamp, hashes and deployments of a folder; what can't be told by its stamp has none."""
    stamp, newest = _stamp(folder)
    if last is not None and last[0] == stamp:
        return last
    hashes = _compute(folder, executables)
    is_stable = time_ns() - newest > RECENT and _stamp(folder)[0] == stamp
    return [stamp if is_stable else "", *hashes, last[HASHES] if last is not None else None]


def _state(note: list[object]) -> FolderState:
    places = note[HASHES]
    deployments = tuple(map(str, places)) if isinstance(places, list) else None
    content, computed, source = map(str, note[1:HASHES])
    return FolderState(content, computed, source, deployments)


def _compute(folder: str, executables: Collection[str]) -> tuple[str, str, str]:
    try:
        content = digest_skill(folder, executables=executables).digest
        return content, compute_hash(folder), digest_files(folder)
    except SkillcError:  # a link that leaves the folder
        return "", compute_hash(folder), ""


def _stamp(folder: str) -> tuple[str, int]:
    """Return a digest of the names, sizes and times of everything in a folder, and the newest time."""
    lines: list[str] = []
    newest = 0
    stack = [folder]
    while stack:
        directory = stack.pop()
        with os.scandir(directory) as scan:
            entries = sorted(scan, key=_name)
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                if entry.name != LEFT_OUT:
                    stack.append(entry.path)
                continue
            newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
            numbers = status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
            lines.append(f"{numbers} {entry.path[len(folder) :]}")
    whole = new_sha256()
    whole.update("\0".join(lines).encode("utf-8", "surrogateescape"))
    return whole.hexdigest(), newest


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _file(root: str) -> str:
    return os.path.join(
        paths.cache_directory(), "installed", f"{paths.path_hash(os.path.realpath(root))}.json"
    )


def _read(root: str) -> Notes:
    try:
        notes = json.loads(paths.read_regular(_file(root), MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(notes, dict):
        return {}
    is_valid = all(isinstance(note, list) and len(note) == HASHES + 1 for note in notes.values())
    return notes if is_valid else {}


def _write(root: str, notes: Notes) -> None:
    try:
        os.makedirs(os.path.dirname(_file(root)), mode=0o700, exist_ok=True)
        atomic.write(_file(root), json.dumps(notes).encode(), private=True)
    except OSError:
        pass  # a home that can't be written has no cache
