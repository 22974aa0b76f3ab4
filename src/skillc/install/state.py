"""What a store has: the versions that skc installed, as they came, and the state of its folders.

    ~/.skillc/versions/<digest>/                  the files of one version of one skill [D64]
    ~/.skillc/installed/<hash of the root>.json   {"root": "/project", "skills": {"pdf": "<digest>"}}

Versions tell an edit, and an update is merged against them. One is there while a store has it installed. It
is checked before it is used; one that is missing or damaged can be fetched again by its commit.

Folders and files are read where their stamp changed: names, sizes, modes and times. What changed just now may
change again within one tick of its clock, and is read again. What origins said last (`note_latest`) is about
the files that were installed then, and says nothing any more once others are. These notes are in
~/.skillc/cache.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from time import time_ns
from typing import Any

from skillc import atomic, paths, records
from skillc.contract import HIDDEN
from skillc.errors import Diagnostic, InvalidSkill, SkillcError, unexpected
from skillc.install.entry import LockEntry, compute_hash
from skillc.install.lock import store_folder
from skillc.records import read_notes, write_notes
from skillc.skills import digest_files, digest_skill, make_folder
from skillc.startup import new_sha256
from skillc.text import utf8_text

KIND = "installed"  # of notes
LATEST = "latest"  # likewise
NEW_FILES = "new files"  # the name of a version that has none
RECENT = 2_000_000_000  # nanoseconds; what changed so lately has no stamp
LEFT_OUT = ".git"
MAX_BYTES = 16 << 20
VERSION = 1  # records from before have neither a version nor a digest inside
UNSEALED = 0
DAMAGE = (OSError, ValueError, KeyError, TypeError, AttributeError)  # of a record that can't be read

TellStep = Callable[[str], None]  # gets the name of each skill


def ignore_step(name: str) -> None:
    """Show no progress."""


@dataclass(slots=True)
class Outcome:
    """What came of several skills: warnings, and the errors of those that failed."""

    diagnostics: list[Diagnostic] = field(default_factory=list, metadata=HIDDEN)
    failures: list[SkillcError] = field(default_factory=list, metadata=HIDDEN)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Note an error in the block as that of one skill; the others go on."""
        try:
            yield
        except (SkillcError, OSError) as error:
            self.failures.append(unexpected(error))


def stamp_folder(folder: str) -> str:
    """Return a digest of names, sizes and times of everything in a folder; empty if it changed just now."""
    lines: list[str] = []
    newest = 0
    stack = [folder]
    while stack:
        with os.scandir(stack.pop()) as scan:
            entries = sorted(scan, key=_name)
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                if entry.name != LEFT_OUT:
                    stack.append(entry.path)
                continue
            newest = max(newest, status.st_mtime_ns, status.st_ctime_ns)
            lines.append(f"{_numbers(status)} {entry.path[len(folder) :]}")
    if time_ns() - newest <= RECENT:
        return ""
    whole = new_sha256()
    whole.update("\0".join(lines).encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def stamp_files(*files: str) -> str:
    """Return the sizes and times of files; empty if one changed just now, or is not there."""
    try:
        states = [os.stat(path) for path in files]
    except OSError:
        return ""
    newest = max(max(status.st_mtime_ns, status.st_ctime_ns) for status in states)
    return "" if time_ns() - newest <= RECENT else " ".join(str(_numbers(status)) for status in states)


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _numbers(status: os.stat_result) -> tuple[int, ...]:
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


class Memo:
    """What was found out about files of one store, by their stamps; a new one reads the notes of its kind.

    It holds an entry for each question that was asked since the last `keep` of all of them. What has no stamp
    counts for this command alone.
    """

    def __init__(self, kind: str, root: str) -> None:
        self._kind, self._root = kind, root
        self._last = read_notes(kind, root)
        self._new: dict[str, Any] = {}

    def find(self, key: str, stamp: str) -> Any:
        """Return what is known for a stamp; None if nothing is."""
        note = self._new.get(key) or (self._last.get(key) if stamp else None)
        if isinstance(note, list) and len(note) == 2 and note[0] == stamp:
            self._new[key] = note
            return note[1]
        return None

    def get(self, key: str, stamp: str, find_out: Callable[[], Any]) -> Any:
        """Return what is known for a stamp, else what is found out now."""
        known = self.find(key, stamp)
        if known is None:
            known = find_out()
            self.put(key, stamp, known)
        return known

    def put(self, key: str, stamp: str, known: object) -> None:
        self._new[key] = [stamp, known]

    def keep(self, *, is_all: bool) -> None:
        """Write what is new; if `is_all` was asked for, forget the rest."""
        new = {key: note for key, note in self._new.items() if note[0]}
        notes = new if is_all else {**self._last, **new}
        if notes != self._last:
            write_notes(self._kind, self._root, notes)


@dataclass(frozen=True, slots=True)
class FolderState:
    """A skill's folder: the digest of its content, its weaker hashes, and whether just that is deployed.

    `content` and `digest` are empty for a folder that has none. It is not deployed if other files were: a
    pull may change a store and its lock together.
    """

    content: str
    hash: str
    digest: str
    is_deployed: bool


def is_exact(entry: LockEntry, state: FolderState | None) -> bool:
    """Return whether a folder is what the lock says; by weaker hashes where that has no digest [D64]."""
    if state is None:
        return False
    if entry.content:
        return state.content == entry.content
    return bool(entry.hash) and state.hash == entry.installed_hash and entry.digest in ("", state.digest)


def find_edited(root: str, entries: Iterable[LockEntry], *, is_all: bool = False) -> set[str]:
    """Return the names of skills whose folders in a store have other files than were installed."""
    by_name = {entry.name: entry for entry in entries}
    folders = {name: store_folder(root, name) for name in by_name}
    states = read_states(root, folders, by_name, is_all=is_all)
    return {name for name, state in states.items() if not is_exact(by_name[name], state)}


def read_states(
    root: str, folders: Mapping[str, str], entries: Mapping[str, LockEntry], *, is_all: bool = True
) -> dict[str, FolderState]:
    """Return the state of each folder that is there, by name; `entries` are those of the lock, or some."""
    memo = Memo(KIND, root)
    states: dict[str, FolderState] = {}
    for name, folder in folders.items():
        if not os.path.isdir(folder):
            continue
        with suppress(FileNotFoundError):  # another command takes it out just now
            compute = partial(_compute, folder, entries[name].executables)
            hashes = memo.get(f"hashes {name}", stamp_folder(folder), compute)
            content, computed, source = map(str, hashes)
            places = memo.find(f"places {name}", content)
            is_deployed = isinstance(places, list) and all(map(os.path.lexists, places))
            states[name] = FolderState(content, computed, source, is_deployed)
    memo.keep(is_all=is_all)
    return states


def note_deployments(root: str, deployments: Mapping[str, tuple[str, list[str]]]) -> None:
    """Note the digest of what was deployed from skills, and where, so that it need not be looked up again."""
    memo = Memo(KIND, root)
    for name, (digest, places) in deployments.items():
        memo.put(f"places {name}", digest, sorted(places))
    memo.keep(is_all=False)


def _compute(folder: str, executables: Collection[str]) -> tuple[str, str, str]:
    try:
        content = digest_skill(folder, executables=executables).digest
        return content, compute_hash(folder), digest_files(folder)
    except SkillcError:  # a link that leaves the folder
        return "", compute_hash(folder), ""


@dataclass(frozen=True, slots=True)
class KnownVersion:
    """What an origin had at a time; `name` is empty if that is what is installed."""

    name: str
    time: str


def note_latest(root: str, versions: Iterable[tuple[LockEntry, str]]) -> None:
    """Note the latest version of skills of a store, by its name; an empty one is what is installed."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    memo = Memo(LATEST, root)
    for entry, name in versions:
        memo.put(entry.name, _installed(entry), [name, now])
    memo.keep(is_all=False)


def recall_latest(root: str, entries: Mapping[str, LockEntry]) -> dict[str, KnownVersion]:
    """Return what is known of the latest versions of the skills of a lock."""
    memo = Memo(LATEST, root)
    notes = {name: memo.find(name, _installed(entry)) for name, entry in entries.items()}
    return {name: KnownVersion(*map(str, note)) for name, note in notes.items() if note}


def _installed(entry: LockEntry) -> str:
    return entry.content or entry.hash


def keep_version(folder: str, digest: str, executables: Collection[str] = ()) -> str:
    """Keep a copy of a folder that was verified to have this digest, and return the copy.

    Raises InvalidSkill where the folder has other files by now: what was verified and audited is installed.
    """
    last = find_version(digest, executables)
    if last is not None:
        return last
    path = _version_folder(digest)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    atomic.sweep(os.path.dirname(path))
    make_folder(path, copy_of=folder)
    if find_version(digest, executables) is None:
        atomic.discard(path)
        raise InvalidSkill(folder, "it changes while it is read")
    return path


def find_version(digest: str, executables: Collection[str] = ()) -> str | None:
    """Return the folder of a version; None where there is none, or it is not what its name says."""
    path = _version_folder(digest)
    if len(digest) != 64 or not digest.isalnum() or not os.path.isdir(path):
        return None
    try:
        return path if digest_skill(path, executables=executables).digest == digest else None
    except (SkillcError, OSError):
        return None


def installed_versions(root: str) -> dict[str, str]:
    """Return which version of each skill was installed into a store."""
    return _read_record(_record(root))


def installed_roots() -> list[str]:
    """Return the projects, and the home, whose stores have something installed."""
    try:
        return [root for _, root, _ in list_records() if os.path.isabs(root)]
    except DAMAGE:
        return []


def list_records() -> list[tuple[str, str, set[str]]]:
    """Return of each store the file of its record, its root, and its versions; raises DAMAGE."""
    folder = os.path.dirname(_record(""))
    result = []
    for path in (os.path.join(folder, name) for name in paths.list_names(folder) if name.endswith(".json")):
        record = records.read_record(path, MAX_BYTES, unsealed=UNSEALED)
        result.append((path, str(record["root"]), set(map(str, record["skills"].values()))))
    return result


def note_versions(root: str, versions: dict[str, str], forget: Iterable[str] = ()) -> None:
    """Note what was installed into a store, and drop versions that no store has any more."""
    path = _record(root)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    removals = set(forget)
    with atomic.Lock(paths.mutex_file(path)):
        last = _read_record(path)
        skills = {name: each for name, each in {**last, **versions}.items() if name not in removals}
        if skills != last:
            note = {"version": VERSION, "root": utf8_text(os.path.realpath(root)), "skills": skills}
            records.write_record(path, note)
    _drop(set(last.values()) - set(skills.values()))


def _drop(versions: set[str]) -> None:
    from skillc.origins import drop_evidence  # with programs that sign; mostly no version goes

    try:
        used = {digest for _, _, digests in list_records() for digest in digests} if versions else set()
    except DAMAGE:
        return  # the record that can't be read may have them
    for digest in versions - used:
        atomic.discard(_version_folder(digest))
        drop_evidence(digest)


def _version_folder(digest: str) -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "versions", digest)


def _record(root: str) -> str:
    name = paths.path_hash(os.path.realpath(root)) if root else ""
    return os.path.join(paths.require_home(), paths.DIRECTORY, "installed", f"{name}.json")


def _read_record(path: str) -> dict[str, str]:
    try:
        skills = records.read_record(path, MAX_BYTES, unsealed=UNSEALED)["skills"]
        return {str(name): str(digest) for name, digest in skills.items()}
    except DAMAGE:
        return {}
