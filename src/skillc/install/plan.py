"""What a store has of its lock, what is to be done, and what came of it.

Folders are hashed anew only where they changed: notes on them are in ~/.skillc/cache/installed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from skillc.contract import HIDDEN
from skillc.errors import Diagnostic, SkillcError, unexpected
from skillc.install.entry import LockEntry, compute_hash
from skillc.install.notes import Memo, stamp_folder
from skillc.skills import digest_files, digest_skill

KIND = "installed"  # of notes


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


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """Entries of a lock: `additions` to the store, the `same` there, of these the `idle` and the `loose`.

    What is idle is not deployed; what is loose has no digest of ours, because another tool or an older skc
    wrote its entry. `removals` are names of skills that left the lock.
    """

    additions: list[LockEntry]
    same: list[LockEntry]
    idle: list[LockEntry]
    loose: list[LockEntry]
    removals: list[str]

    @property
    def is_empty(self) -> bool:
        return not (self.additions or self.idle or self.loose or self.removals)


@dataclass(slots=True)
class InstallResult(Outcome):
    """Names of skills."""

    installed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


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


def read_states(
    root: str, folders: Mapping[str, str], entries: Mapping[str, LockEntry]
) -> dict[str, FolderState]:
    """Return the state of each folder that is there, by name; `entries` are those of the lock."""
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
    memo.keep(is_all=True)
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
