"""What an install has to do, and what it did."""

from __future__ import annotations

from skillc.startup import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.errors import Diagnostic, SkillcError
    from skillc.install.entry import LockEntry


@value
class Plan:
    """Entries of a lock: `additions` to the store, the `same` there, of these the `idle` and the `loose`.

    What is idle is not deployed; what is loose has no note of ours, because another tool wrote its entry.
    `removals` are names of skills that left the lock.
    """

    additions: list[LockEntry]
    same: list[LockEntry]
    idle: list[LockEntry]
    loose: list[LockEntry]
    removals: list[str]


@value
class Restoration:
    """Names of skills, warnings, and the errors of skills that failed."""

    installed: list[str]
    unchanged: list[str]
    removed: list[str]
    diagnostics: list[Diagnostic]
    failures: list[SkillcError]

    def as_json(self) -> dict[str, Any]:
        return {"installed": self.installed, "unchanged": self.unchanged, "removed": self.removed}
