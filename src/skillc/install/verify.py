"""Say where a store differs from its lock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skillc.compiler import find_damaged_manifests, find_damaged_stubs
from skillc.errors import SkillcError
from skillc.install.entry import LockEntry
from skillc.install.lock import DAMAGED, read_lock, store_folders
from skillc.install.plan import is_exact, read_states
from skillc.install.store import skill_of
from skillc.install.versions import find_version, installed_versions
from skillc.library import deployments_by_source
from skillc.skills import digest_skill
from skillc.text import one_line, utf8_text

ABSENT = "not installed"
DIFFERENT = "not what the lock says"
UNLOCKED = "installed, but not in the lock"
INCOMPLETE = "the lock has no digest of its files; 'skc install' adds it"
STUB = "the stub that agents read is not as it was built; 'skc build' writes it anew"
MANIFEST = "the manifest of a build is not as it was written; 'skc build' writes it anew"
FIXES = {ABSENT: "skc install", INCOMPLETE: "skc install", DIFFERENT: "skc verify"}  # of a problem
KINDS = {"changed": "changed", "added": "added", "removed": "missing"}


@dataclass(frozen=True, slots=True)
class LockProblem:
    """A difference between lock and store; `file` is empty if it is about the whole skill."""

    id: str
    file: str
    problem: str

    @property
    def line(self) -> str:
        """The difference, for people."""
        return one_line(f"{self.id}{f'/{self.file}' if self.file else ''}: {self.problem}")


@dataclass(frozen=True, slots=True)
class LockProblems:
    """All differences between lock and store."""

    problems: tuple[LockProblem, ...]


def verify_store(root: str) -> LockProblems:
    """Return every file of the store that is not what the lock says, and stubs that are not as built.

    A skill that is installed and not in the lock is a problem, too.
    """
    entries, deployments = read_lock(root), deployments_by_source()
    folders = store_folders(root, entries)
    states = read_states(root, folders, entries)
    unlocked = installed_versions(root).keys() - entries.keys()
    problems = [LockProblem(name, "", UNLOCKED) for name in sorted(unlocked)]
    for name, entry in sorted(entries.items()):
        if entry.is_damaged or not entry.is_complete:
            problems.append(LockProblem(name, "", DAMAGED if entry.is_damaged else INCOMPLETE))
        if name not in states:
            problems.append(LockProblem(name, "", ABSENT))
        elif not entry.is_damaged and not is_exact(entry, states[name]):
            files = list(_compare(entry, folders[name]))
            problems += files or [LockProblem(name, "", DIFFERENT)]
        skill = skill_of(root, name)
        records = deployments.get(utf8_text(skill.source), ())
        problems += [LockProblem(name, path, STUB) for path in find_damaged_stubs(skill, records)]
        problems += [LockProblem(name, path, MANIFEST) for path in find_damaged_manifests(skill)]
    return LockProblems(tuple(problems))


def _compare(entry: LockEntry, folder: str) -> Iterator[LockProblem]:
    """Yield the files that differ from the version that was installed, where that is still known."""
    version = find_version(entry.content, entry.executables)
    if version is None:
        return
    try:
        now = digest_skill(folder, executables=entry.executables)
    except SkillcError as error:  # a link that leaves the folder
        yield LockProblem(entry.name, "", error.message)
        return
    before = digest_skill(version, executables=entry.executables)
    for kind, name in now.changes_since(before.files):
        yield LockProblem(entry.name, name, KINDS[kind])
