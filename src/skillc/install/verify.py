"""Say where a store differs from its lock: by file ('skc verify') or by skill ('skc lock --check')."""

from __future__ import annotations

import os

from skillc.install.hash import hash_files
from skillc.install.lock import read_lock
from skillc.install.names import store_folders
from skillc.install.restore import is_exact
from skillc.install.state import read_states
from skillc.install.versions import find_version, installed_versions
from skillc.startup import value
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.install.entry import LockEntry

ABSENT = "not installed"
DIFFERENT = "not what the lock says"
UNLOCKED = "installed, but not in the lock"
INCOMPLETE = "the lock does not say which commit"


@value
class LockProblem:
    """A difference between lock and store; `file` is empty if it is about the whole skill."""

    id: str
    file: str
    problem: str

    def as_json(self) -> dict[str, str]:
        return {"id": self.id, "file": utf8_text(self.file), "problem": self.problem}


def verify_store(root: str) -> list[LockProblem]:
    """Return every file of the store that is not what the lock says."""
    entries = read_lock(root)
    folders = store_folders(root, entries)
    states = read_states(root, folders)
    problems: list[LockProblem] = []
    for name, entry in sorted(entries.items()):
        if name not in states:
            problems.append(LockProblem(name, "", ABSENT))
        elif not is_exact(entry, states[name]):
            files = list(_compare(entry, folders[name]))
            problems += files or [LockProblem(name, "", DIFFERENT)]
    return problems


def check_lock(root: str) -> list[LockProblem]:
    """Return the skills for which lock and store differ, and the entries that can't be installed exactly."""
    entries = read_lock(root)
    states = read_states(root, store_folders(root, entries))
    problems = [
        LockProblem(name, "", UNLOCKED) for name in sorted(installed_versions(root)) if name not in entries
    ]
    for name, entry in sorted(entries.items()):
        if not entry.is_complete:
            problems.append(LockProblem(name, "", INCOMPLETE))
        if not is_exact(entry, states.get(name)):
            problems.append(LockProblem(name, "", DIFFERENT if name in states else ABSENT))
    return problems


def _compare(entry: LockEntry, folder: str) -> Iterator[LockProblem]:
    """Yield the files that differ from the version that was installed, where that is still known."""
    version = find_version(entry.store_hash)
    if version is None:
        return
    before, now = hash_files(version), hash_files(folder)
    for name in sorted({*before, *now}, key=os.fsencode):
        if before.get(name) != now.get(name):
            problem = "added" if name not in before else "missing" if name not in now else "changed"
            yield LockProblem(entry.name, name, problem)
