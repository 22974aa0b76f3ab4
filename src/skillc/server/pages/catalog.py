"""Say what pages show: a catalog of skills, of a registry as one caller sees it, or of one's own machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from skillc.audit import Audit
from skillc.index.skills import FoundSkills, Scope
from skillc.registry import VersionSource
from skillc.registry.model import Review, Skill, Version

MAX_AUDITS = 256  # that a process keeps; the oldest goes first
MAX_QUICK_AUDIT = 256 << 10  # bytes of a skill whose text is not shown before it was audited
MAX_AUDIT_BYTES = 4 << 20  # of a version's files, which takes seconds; larger ones are not audited for a page


@dataclass(frozen=True, slots=True)
class Usage:
    """What agents did with the skills of a catalog, or with one of them. Empty where nothing was counted.

    `unread` are sections that no agent read, by file, as (level, heading); `misses` are searches that found
    nothing.
    """

    days: tuple[tuple[str, int], ...] = ()
    skills: tuple[tuple[str, int], ...] = ()
    sections: tuple[tuple[str, str, int], ...] = ()
    unread: Mapping[str, list[tuple[int, str]]] = field(default_factory=dict)
    misses: tuple[tuple[str, int], ...] = ()
    total: int = 0
    untold_misses: int = 0  # searches that found nothing, of machines that keep their words to themselves


class Catalog(VersionSource, Protocol):
    """Skills to show. Its operations block, so pages call them in threads."""

    def collections(self) -> dict[str, int]:
        """Return every collection with the number of skills below it."""
        ...

    def find(self, task: str, limit: int, scope: Scope) -> FoundSkills: ...

    def audit(self, version: Version) -> Audit | None:
        """Return what a version asks for; None where it is too large to look at."""
        ...

    def mark(self, skills: Sequence[Skill]) -> Sequence[Skill]:
        """Return skills of a list with the levels of their audits; one may be pending, or unaudited."""
        ...

    def review(self, version: Version) -> Review | None:
        """Return what became of a version that had to be reviewed; None for any other."""
        ...

    def usage(self, skill_id: str = "", since: str = "") -> Usage: ...
