"""Trust: a skill's level, the fingerprint of its files, and the user's decisions about it [D46].

Decisions are in trust.json in the home directory. While that file can't be read nothing runs: it may
hold a denial.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from skillc import atomic, paths
from skillc.errors import InvalidConfiguration, InvalidSkill
from skillc.library import ORIGIN, at_path
from skillc.skills import hash_source, list_files
from skillc.startup import file_sha256_hex

ALLOW, DENY = "allow", "deny"
MAX_FILE = 64 << 20  # bytes of trust.json
MAX_SKILL = 1 << 30  # bytes of all files of a skill; more can't be approved
VERSION = 1


class TrustLevel(StrEnum):
    """How far a skill is trusted: decided by where it comes from, never by what it says of itself."""

    BUNDLED = "bundled"
    USER = "user"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The files of a skill at one moment, each with its hash: what an approval is bound to."""

    digest: str  # the source hash [D3], over files with a dot too, since a script may read them
    files: Mapping[str, str]

    def changes_since(self, before: Mapping[str, str]) -> list[str]:
        """Return how the files differ from earlier ones: `changed: path`, `added: path`, `removed: path`."""
        kinds = dict.fromkeys(before.keys() - self.files.keys(), "removed")
        for name, digest in self.files.items():
            if digest != before.get(name):
                kinds[name] = "changed" if name in before else "added"
        return [f"{kinds[name]}: {name}" for name in sorted(kinds)]


def fingerprint(directory: str) -> Fingerprint:
    """Read and hash every file of a skill; raises PathEscapes for a link that leads out of it."""
    note = ORIGIN if at_path(directory).is_copy else ""  # ours, and another for each state of a repository
    files = [file for file in list_files(directory, hidden=True) if file.name != note]
    if sum(file.size for file in files) > MAX_SKILL:
        raise InvalidSkill(directory, f"more than {MAX_SKILL >> 30} GiB of files")
    digests = {}
    for file in files:
        with open(file.path, "rb") as stream:
            digests[file.name] = file_sha256_hex(stream, file.size)
    return Fingerprint(hash_source(digests.items()), digests)


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's decision about the skill at a path, whose files then had this digest."""

    skill: str
    path: str
    decision: str
    digest: str
    files: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""  # where the files were: `path` itself, except for a git checkout


class TrustStore:
    """The user's decisions, one for each path. Safe for many processes at once."""

    def __init__(self, path: str = "") -> None:
        self.path = path or paths.trust_file(paths.require_home())

    def decisions(self) -> list[Decision]:
        """Return all decisions; raises InvalidConfiguration (E071) for a file that can't be trusted."""
        try:
            with open(self.path, "rb") as file:
                status = os.fstat(file.fileno())
                data = file.read(MAX_FILE + 1)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from None
        if os.name == "posix" and status.st_mode & 0o022:
            raise self._unusable("others can write it; check what it allows, then run 'chmod 600' on it")
        try:
            return _parse(data)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            reason = "damaged, and nothing runs while it is; mend it, or delete it and decide anew"
            raise self._unusable(reason) from None

    def _unusable(self, reason: str) -> InvalidConfiguration:
        return InvalidConfiguration(self.path, reason)

    def find(self, path: str) -> Decision | None:
        """Return the decision about the skill at a path, whatever its files are now."""
        return next((decision for decision in self.decisions() if decision.path == path), None)

    def verdict(self, path: str, now: Fingerprint) -> str | None:
        """Return `allow` or `deny` for a skill as it is now, None where the user has to be asked.

        A denial covers the path, whatever files are there, and those files, wherever they are.
        """
        decisions = self.decisions()
        if any(d.decision == DENY and (d.path == path or d.digest == now.digest) for d in decisions):
            return DENY
        same = (d.decision == ALLOW and d.path == path and d.digest == now.digest for d in decisions)
        return ALLOW if any(same) else None

    def record(self, decision: Decision) -> None:
        """Store a decision; it replaces the one before about the same path."""
        self._change(lambda decisions: [d for d in decisions if d.path != decision.path] + [decision])

    def remove(self, matches: Callable[[Decision], bool]) -> list[Decision]:
        """Remove the decisions that match, and return them."""
        removals: list[Decision] = []

        def change(decisions: list[Decision]) -> list[Decision]:
            removals.extend(d for d in decisions if matches(d))
            return [d for d in decisions if not matches(d)]

        self._change(change)
        return removals

    def _change(self, change: Callable[[list[Decision]], Sequence[Decision]]) -> None:
        """Read, change and write under a lock, so that writers do not lose each other's decisions."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with atomic.Lock(f"{self.path}.lock"):
            before = self.decisions()
            after = sorted(change(before), key=lambda decision: decision.path)
            if after == before:
                return
            content = {"version": VERSION, "decisions": [asdict(decision) for decision in after]}
            data = json.dumps(content, indent=1).encode()
            if len(data) > MAX_FILE:  # it could not be read again
                raise self._unusable(f"over {MAX_FILE >> 20} MiB; 'skc trust prune' makes room")
            atomic.write(self.path, data, durable=True, private=True)


def _parse(data: bytes) -> list[Decision]:
    """Return the decisions of trust.json; nothing is skipped or guessed. Raises ValueError and the like."""
    content = json.loads(data)
    if len(data) > MAX_FILE or content["version"] != VERSION:
        raise ValueError(VERSION)
    decisions = [Decision(**entry) for entry in content["decisions"]]
    for decision in decisions:
        texts = [decision.skill, decision.path, decision.digest, decision.directory]
        texts += [*decision.files, *decision.files.values()]
        if decision.decision not in (ALLOW, DENY) or not all(isinstance(text, str) for text in texts):
            raise ValueError(decision)
    if len({decision.path for decision in decisions}) != len(decisions):
        raise ValueError("one path twice")
    return decisions


def may_run(level: TrustLevel, read_only: bool, always_ask: bool, verdict: str | None) -> bool | None:
    """Return whether a tool runs (True), does not (False), or the user has to be asked (None)."""
    if verdict == DENY:
        return False
    is_harmless = level is TrustLevel.BUNDLED and read_only
    return True if not always_ask and (verdict == ALLOW or is_harmless) else None
