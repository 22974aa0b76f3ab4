"""Say what pages show: a shelf of skills, of a registry as one caller sees it, or of one's own machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from skillc.audit import Audit
from skillc.index.skills import FoundSkills
from skillc.registry import Review, Skill, StoredFile, Version

MAX_AUDITS = 256  # that a process keeps; the oldest goes first
MAX_AUDIT_BYTES = 4 << 20  # of a version's files, which takes seconds; larger ones are not audited for a page


@dataclass(frozen=True, slots=True)
class Usage:
    """What agents did with the skills of a shelf, or with one of them. Empty where nothing was counted.

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


class Shelf(Protocol):
    """Skills to show. Its operations block, so pages call them in threads."""

    def skills(self, prefix: str = "", after: str = "", limit: int = 50) -> list[Skill]:
        """Return skills below a prefix, by ID, behind the ID `after`."""
        ...

    def collections(self) -> dict[str, int]:
        """Return every collection with the number of skills below it."""
        ...

    def skill(self, skill_id: str) -> Skill: ...

    def files(self, version: Version) -> tuple[StoredFile, ...]: ...

    def read_file(self, version: Version, path: str) -> bytes: ...

    def find(self, task: str, limit: int) -> FoundSkills: ...

    def audit(self, version: Version) -> Audit | None:
        """Return what a version asks for; None where it is too large to look at."""
        ...

    def review(self, version: Version) -> Review | None:
        """Return what became of a version that had to be reviewed; None for any other."""
        ...

    def usage(self, skill_id: str = "", since: str = "") -> Usage: ...


class Audits:
    """Audits of versions, kept by digest, at most MAX_AUDITS: equal files have equal audits."""

    def __init__(self) -> None:
        self._audits: dict[tuple[str, str], Audit | None] = {}
        self._lock = Lock()

    def get(self, version: Version, make: Callable[[], Audit | None]) -> Audit | None:
        """Return the audit of a version."""
        return self.find((version.skill, version.digest), make)

    def find(self, key: tuple[str, str], make: Callable[[], Audit | None]) -> Audit | None:
        """Return an audit by skill and digest. One is made at a time: visitors can't take all processors."""
        if key not in self._audits:
            with self._lock:
                if key not in self._audits:
                    self._audits[key] = make()
                while len(self._audits) > MAX_AUDITS:
                    del self._audits[next(iter(self._audits))]
        return self._audits.get(key)
