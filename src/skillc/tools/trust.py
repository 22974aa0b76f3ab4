"""Trust: a skill's level, and the user's decisions about skills [D46, D54].

Decisions are in trust.json in the home directory, with a checksum. A file that is damaged allows nothing:
every tool asks again, and the next decision keeps the damaged file beside the new one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum

from skillc import atomic, paths, records
from skillc.errors import Diagnostic, InvalidConfiguration, warning
from skillc.skills import SkillDigest

# Runs until a file changes; runs so while it can't write; never runs.
ALLOW, YES, DENY = "allow", "yes", "deny"
MAX_FILE = 64 << 20  # bytes of trust.json
VERSION = 3  # the digests of versions 1 and 2 were others; what they allowed is asked for again [D64]


class TrustLevel(StrEnum):
    """The trust in a skill: decided by where it comes from, never by what it says of itself."""

    BUNDLED = "bundled"
    USER = "user"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Decision:
    """The user's decision about the skill at a path, whose files then had this digest.

    Without a digest, an allowance no longer counts: it is from an older version.
    """

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
        self._last: tuple[bytes | None, list[Decision]] = (None, [])  # what was read, and what it says

    def decisions(self) -> list[Decision]:
        """Return all decisions; raises InvalidConfiguration (E071) for a file that can't be used."""
        data = self._read()
        try:
            return self._parse(data)
        except _Damage:
            return _find_denials(data or b"")

    def damage(self) -> Diagnostic | None:
        """Return a warning if trust.json is damaged; nothing runs unasked while it is."""
        try:
            self._parse(self._read())
        except _Damage:
            return warning("W067", self.path, records.damaged_name(self.path))
        return None

    def _read(self) -> bytes | None:
        """Return the content of trust.json; None without one."""
        try:
            status = os.stat(self.path)
            data = paths.read_regular(self.path, MAX_FILE)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from None
        if os.name == "posix" and status.st_mode & 0o022:
            raise self._unusable("others can write it; check what it allows, then run 'chmod 600' on it")
        return data

    def _parse(self, data: bytes | None) -> list[Decision]:
        """Return the decisions of trust.json; nothing is skipped or guessed. Raises _Damage."""
        if data is None:
            return []
        if data == self._last[0]:
            return self._last[1]
        try:
            version, decisions = _parse(data)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise _Damage from None
        if version > VERSION:
            raise self._unusable("a newer skc wrote it; update this one")
        self._last = (data, decisions)
        return decisions

    def _unusable(self, reason: str) -> InvalidConfiguration:
        return InvalidConfiguration(self.path, reason)

    def find(self, path: str) -> Decision | None:
        """Return the decision about the skill at a path, whatever its files are now."""
        return next((decision for decision in self.decisions() if decision.path == path), None)

    def verdict(self, path: str, now: SkillDigest) -> str | None:
        """Return what was decided about a skill as it is now, None where the user has to be asked.

        A denial covers the path, whatever files are there, and those files, wherever they are.
        """
        decisions = self.decisions()
        if any(d.decision == DENY and (d.path == path or d.digest == now.digest) for d in decisions):
            return DENY
        return next((d.decision for d in decisions if d.path == path and d.digest == now.digest), None)

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
            before, damage = self.decisions(), self._read() if self.damage() else None
            after = sorted(change(before), key=lambda decision: decision.path)
            if after == before and damage is None:
                return
            decisions = [asdict(decision) for decision in after]
            checksum = records.digest([VERSION, decisions])
            content = {"version": VERSION, "sha256": checksum, "decisions": decisions}
            data = json.dumps(content, indent=1).encode()
            if len(data) > MAX_FILE:  # it could not be read again
                raise self._unusable(f"over {MAX_FILE >> 20} MiB; 'skc trust prune' makes room")
            if damage is not None:
                atomic.write(records.damaged_name(self.path), damage, durable=True, private=True)
            atomic.write(self.path, data, durable=True, private=True)


class _Damage(Exception):
    """The content of trust.json is not what was written."""


def _parse(data: bytes) -> tuple[int, list[Decision]]:
    """Return version and decisions of trust.json; raises ValueError and the like for anything odd."""
    content = json.loads(data)
    version, entries, checksum = content["version"], content["decisions"], content.get("sha256")
    is_first = version == 1 and len(content) == 2  # it had no checksum
    if not (is_first or checksum == records.digest([version, entries])):
        raise ValueError(checksum)
    if version > VERSION:
        return version, []
    decisions = [Decision(**entry) for entry in entries]
    for decision in decisions:
        texts = [decision.skill, decision.path, decision.digest, decision.directory]
        texts += [*decision.files, *decision.files.values()]
        if decision.decision not in (ALLOW, YES, DENY) or not all(isinstance(text, str) for text in texts):
            raise ValueError(decision)
    if len({decision.path for decision in decisions}) != len(decisions):
        raise ValueError("one path twice")
    is_old = version < VERSION
    return version, [replace(d, digest="", files={}) for d in decisions] if is_old else decisions


def _find_denials(data: bytes) -> list[Decision]:
    """Return the denials that are still legible in a damaged file: those can't do harm."""
    denials: dict[str, Decision] = {}
    try:
        for entry in json.loads(data)["decisions"]:
            if DENY in entry.values():
                skill, path, digest = (str(entry.get(name, "")) for name in ("skill", "path", "digest"))
                denials[path] = Decision(skill, path, DENY, digest, directory=str(entry.get("directory", "")))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return list(denials.values())


def may_run(
    level: TrustLevel, verdict: str | None, *, read_only: bool, always_ask: bool, sandbox: bool
) -> bool | None:
    """Return whether a tool runs (True), does not (False), or the user has to be asked (None) [D54].

    `read_only` counts only in a sandbox, which is what keeps a tool from writing.
    """
    if verdict == DENY:
        return False
    if always_ask:
        return None
    is_harmless = read_only and sandbox
    has_trust = level is TrustLevel.BUNDLED or (level is TrustLevel.USER and verdict == YES)
    return True if verdict == ALLOW or (is_harmless and has_trust) else None
