"""Say where a store differs from its lock, file by file."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from skillc import paths
from skillc.compiler import find_damage
from skillc.contract import hidden
from skillc.errors import InvalidConfiguration, SignatureBroken, SignerRefused, SkillcError
from skillc.install.entry import LockEntry
from skillc.install.lock import (
    DAMAGED,
    change_lock,
    find_entries,
    find_root,
    lock_file,
    read_lock,
    skill_of,
    store_folders,
)
from skillc.install.state import find_version, installed_versions, is_exact, read_states
from skillc.library import is_path, locate_skill
from skillc.library.records import deployments_by_source, lock_store
from skillc.origins import (
    BROKEN,
    NONE,
    NOT_SAFE,
    Signature,
    Trust,
    check_skill,
    combine,
    describe_change,
    read_trust,
    require_signer,
)
from skillc.skills import digest_skill
from skillc.surface import Here
from skillc.text import count_of, one_line, utf8_text

ABSENT = "not installed"
DIFFERENT = "not what the lock says"
UNLOCKED = "installed, but not in the lock"
INCOMPLETE = "the lock has no digest of its files; 'skc install' adds it"
STUB = "the stub that agents read is not as it was built; 'skc build' writes it anew"
MANIFEST = "the manifest of a build is not as it was written; 'skc build' writes it anew"
FIXES = dict.fromkeys((ABSENT, INCOMPLETE), "skc install")  # of a problem
KINDS = {"changed": "changed", "added": "added", "removed": "missing"}


def verify_all(cwd: str) -> Iterator[tuple[str, str, LockProblems | InvalidConfiguration]]:
    """Yield root, file and problems of the lock that counts in a directory, and of the home's."""
    home = paths.home()
    projects = (*paths.lock_roots(cwd), *paths.project_roots(cwd))
    roots = [*projects[:1], *([home] if home else [])]
    for root in {os.path.realpath(root): root for root in roots}.values():
        file = lock_file(root)
        if os.path.lexists(file):
            try:
                yield root, file, verify_store(root)
            except InvalidConfiguration as error:
                yield root, file, error


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

    @property
    def summary(self) -> str:
        """What is wrong with the skill as a whole."""
        return DIFFERENT if self.file else self.problem

    @property
    def is_of_entry(self) -> bool:
        """Whether it is the entry that is wrong, which a person has to look at."""
        return self.problem == DAMAGED

    def accept(self, root: str) -> str:
        """Take our part of the entry as it is now, after a person looked at it; return what was done."""
        with lock_store(root):
            change_lock(root, record=[read_lock(root)[self.id].sealed()])
        return f"took the lock's entry of '{self.id}' as it is"

    @property
    def is_of_store(self) -> bool:
        """Whether it is about what the lock names, not about what agents read of it."""
        return self.problem != STUB

    @property
    def fix(self) -> str:
        """The command that puts it right, or says more."""
        return FIXES.get(self.summary, "skc verify")


@dataclass(frozen=True, slots=True)
class VerifiedSkill:
    """A skill and its signature: the one that counts, and all that it has."""

    id: str
    signature: Signature
    signatures: tuple[Signature, ...]

    @property
    def line(self) -> str:
        return one_line(f"{self.id}: {self.signature.line()}")


@dataclass(frozen=True, slots=True)
class LockProblems:
    """All differences between lock and store, and by whom the skills are signed."""

    problems: tuple[LockProblem, ...]
    skills: tuple[VerifiedSkill, ...] = ()
    is_of_lock: bool = hidden(True)  # or else of folders that no lock has to know
    is_named: bool = hidden(False)  # whether these skills were asked for

    def lines(self) -> Iterator[str]:
        """Yield the problems, or that there are none, and who signed what, for people."""
        yield from (each.line for each in self.problems)
        if self.is_of_lock and self.skills and not self.problems:
            yield "Every file is what the lock says."
        signed = [each for each in self.skills if each.signature.state != NONE]
        shown = self.skills if self.is_named else signed
        yield from (each.line for each in shown if each.signature.state != BROKEN)  # which is a problem
        if signed:
            rest = len(self.skills) - len(signed)
            yield (
                f"{count_of(rest, 'other')} unsigned. {NOT_SAFE}" if rest and not self.is_named else NOT_SAFE
            )


def verify_locked(here: Here, *names: str, is_global: bool = False) -> LockProblems:
    """Return where the store of the project, or else of the home, differs from its lock, and who signed.

    With names, of these skills alone; of a path, which no lock has to know, just by whom it is signed.
    """
    folders = [name for name in names if is_path(name) or _is_folder(name, here.cwd)]
    skills = [name for name in names if name not in folders]
    result = LockProblems((), is_of_lock=False)
    if skills or not names:
        root = find_root(here.cwd, is_global=is_global)
        only = {entry.name for entry in find_entries(root, skills, here.cwd)} if skills else None
        result = verify_store(root, only)
    trust = read_trust() if folders else Trust()
    for name in folders:
        skill = locate_skill(name, here.cwd)
        verified = _check_signer(skill.segment, skill.source, trust)
        problems = _judge(verified, (skill.source,), trust)
        result = replace(result, problems=(*result.problems, *problems), skills=(*result.skills, verified))
    return replace(result, is_named=bool(names))


def _is_folder(name: str, cwd: str) -> bool:
    """Return whether a name such as skills/pdf is a folder here: no entry of a lock has a slash."""
    return "/" in name and os.path.isdir(os.path.join(cwd, name))


def _check_signer(name: str, folder: str, trust: Trust, digest: str = "") -> VerifiedSkill:
    signatures = tuple(check_skill(folder, name, trust, digest))
    return VerifiedSkill(name, combine(signatures), signatures)


def _judge(
    skill: VerifiedSkill, sources: Sequence[str], trust: Trust, pin: Signature | None = None
) -> Iterator[LockProblem]:
    """Yield what is wrong with the signature of a skill: it is broken, or not of whom the user accepts."""
    try:
        require_signer(skill.id, sources, skill.signature, trust)
    except (SignatureBroken, SignerRefused) as error:
        yield LockProblem(skill.id, "", f"{error.code}: {error.reason}")
        return
    if change := describe_change(pin, combine(skill.signatures, pin), is_locked=True):
        yield LockProblem(skill.id, "", f"{SignerRefused.code}: {change}")


def verify_store(root: str, only: Collection[str] | None = None) -> LockProblems:
    """Return every file of the store that is not what the lock says, and stubs that are not as built.

    A skill that is installed and not in the lock is a problem, too. `only` limits it to some skills.
    """
    locked, deployments, trust = read_lock(root), deployments_by_source(), read_trust()
    entries = {name: entry for name, entry in locked.items() if only is None or name in only}
    folders = store_folders(root, entries)
    states = read_states(root, folders, entries)
    unlocked = () if only is not None else installed_versions(root).keys() - entries.keys()
    verified: list[VerifiedSkill] = []
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
        stubs, manifests = find_damage(skill, records)
        problems += [LockProblem(name, path, STUB) for path in stubs]
        problems += [LockProblem(name, path, MANIFEST) for path in manifests]
        if name in states and states[name].content:  # without, a link leads out, which was said
            # What an origin said counts for the files as they are, not for those of the lock.
            verified.append(_check_signer(name, folders[name], trust, states[name].content))
            problems += _judge(verified[-1], entry.names, trust, entry.signer)
    return LockProblems(tuple(problems), tuple(verified))


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
