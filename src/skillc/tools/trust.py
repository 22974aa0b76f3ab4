"""Who may run: where a skill comes from, and what the user decided about it [D46].

Decisions are kept in the home directory. A file there that can't be read stops everything: it may
hold a denial.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from skillc import atomic, paths
from skillc.errors import InvalidConfiguration
from skillc.tools.fingerprint import Fingerprint

ALLOW, DENY = "allow", "deny"
MAX_FILE = 64 << 20  # bytes
VERSION = 1


class TrustLevel(StrEnum):
    """Where a skill comes from, as far as running it is concerned; never what it says of itself."""

    BUNDLED = "bundled"
    USER = "user"
    UNTRUSTED = "untrusted"


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about the skill at a path, when its files were those of `digest`.

    `directory` is where they were then: `path` itself, except for a git checkout.
    """

    skill: str
    path: str
    decision: str
    digest: str
    files: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "skill": self.skill,
            "path": self.path,
            "decision": self.decision,
            "digest": self.digest,
            "files": dict(self.files),
            "directory": self.directory,
        }


class TrustStore:
    """The user's decisions, one for each path. Safe for many processes at once."""

    def __init__(self, path: str = "") -> None:
        self.path = path or paths.trust_file(paths.require_home())

    def decisions(self) -> list[Decision]:
        """All of them; raises InvalidConfiguration (E071) for a file that can't be relied upon."""
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
            return _read(data)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise self._unusable(
                "damaged, and nothing runs while it is; mend it, or delete it and decide anew"
            ) from None

    def _unusable(self, reason: str) -> InvalidConfiguration:
        return InvalidConfiguration(self.path, reason)

    def find(self, path: str) -> Decision | None:
        """What was decided about the skill at a path, whatever its files are now."""
        return next((decision for decision in self.decisions() if decision.path == path), None)

    def verdict(self, path: str, now: Fingerprint) -> str | None:
        """`allow` or `deny` for a skill as it is now, None where that is to be asked.

        A denial is for the path, whatever becomes of its files, and for those files wherever they are.
        """
        decisions = self.decisions()
        if any(d.decision == DENY and (d.path == path or d.digest == now.digest) for d in decisions):
            return DENY
        allowed = any(d.path == path and d.digest == now.digest for d in decisions if d.decision == ALLOW)
        return ALLOW if allowed else None

    def record(self, decision: Decision) -> None:
        """Keep a decision; it replaces the one before about the same path."""
        self._change(lambda known: [d for d in known if d.path != decision.path] + [decision])

    def remove(self, unwanted: Callable[[Decision], bool]) -> list[Decision]:
        """Forget decisions; those that were."""
        removed: list[Decision] = []

        def kept(known: list[Decision]) -> list[Decision]:
            removed.extend(d for d in known if unwanted(d))
            return [d for d in known if not unwanted(d)]

        self._change(kept)
        return removed

    def _change(self, change: Callable[[list[Decision]], Sequence[Decision]]) -> None:
        """Read, change and write under a lock, so that no two writers lose one another's decisions."""
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with atomic.Lock(f"{self.path}.lock"):
            known = self.decisions()
            changed = sorted(change(known), key=lambda decision: decision.path)
            if changed != known:
                text = {"version": VERSION, "decisions": [decision.as_json() for decision in changed]}
                data = json.dumps(text, indent=1).encode()
                if len(data) > MAX_FILE:  # it could not be read again
                    raise self._unusable(f"over {MAX_FILE >> 20} MiB; 'skc trust prune' makes room")
                atomic.write(self.path, data, durable=True, private=True)


def _read(data: bytes) -> list[Decision]:
    """Decisions from JSON, nothing left out and nothing guessed; raises ValueError and the like."""
    whole = json.loads(data)
    if len(data) > MAX_FILE or whole["version"] != VERSION:
        raise ValueError(VERSION)
    found = [Decision(**entry) for entry in whole["decisions"]]
    for decision in found:
        texts = [decision.skill, decision.path, decision.digest, decision.directory]
        texts += [*decision.files, *decision.files.values()]
        if decision.decision not in (ALLOW, DENY) or not all(isinstance(text, str) for text in texts):
            raise ValueError(decision)
    if len({decision.path for decision in found}) != len(found):
        raise ValueError("one path twice")
    return found


def may_run(level: TrustLevel, read_only: bool, always_ask: bool, verdict: str | None) -> bool | None:
    """Whether a tool runs (True), does not (False), or is to be asked about (None).

    >>> may_run(TrustLevel.BUNDLED, True, False, None)
    True
    >>> may_run(TrustLevel.USER, True, False, None) is None
    True
    """
    if verdict == DENY:
        return False
    if always_ask:
        return None
    if verdict == ALLOW or (level is TrustLevel.BUNDLED and read_only):
        return True
    return None
