"""List what a caller may install: the latest version of each skill, under names that clients can use.

Clients of other protocols know a skill by one name without slashes, which the store keeps for good: for the
list of each prefix, and of the whole. A caller that may read below one prefix alone gets the names of that
prefix's list, so that they tell nothing of other skills.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from skillc.registry import APPROVED, Caller, Registry, Role, Skill, Version

MAX_SKILLS = 20_000  # in a list that has no pages
MAX_DESCRIPTION = 1024  # characters, which is what the format allows


@dataclass(frozen=True, slots=True)
class Entry:
    """The latest version of a skill, under a name; `since` is when the skill was first published."""

    version: Version
    name: str
    since: float = 0

    @property
    def description(self) -> str:
        text = " ".join(str(self.version.frontmatter.get("description", "")).split())
        return text[:MAX_DESCRIPTION] or self.version.skill.name


def list_entries(registry: Registry, caller: Caller, prefix: str = "") -> list[Entry]:
    """Return the skills below a prefix by ID, each with a name of its own.

    Those without a version to choose are left out, and those for which no name is left.
    """
    skills = [skill for skill in read_skills(registry, caller, prefix) if skill.latest]
    readable = caller.narrow_prefix(Role.READER, prefix)
    place = readable[0] if len(readable) == 1 else prefix
    names = registry.read_names(place, [skill.id for skill in skills])
    return [
        Entry(skill.latest, names[skill.id], _find_start(skill))
        for skill in skills
        if skill.latest and skill.id in names
    ]


def read_skills(registry: Registry, caller: Caller, prefix: str = "") -> list[Skill]:
    """Return the skills that a caller may read, by ID: as many as a list may have."""
    return list(islice(registry.source(caller).skills(prefix), MAX_SKILLS))


def _find_start(skill: Skill) -> float:
    """Return when a skill was first published, the same for all its readers: what waits does not count."""
    return min(v.published_at for v in skill.versions if v.status == APPROVED).timestamp()
