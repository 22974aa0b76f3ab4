"""List what a caller may install: the latest version of each skill, under names that clients can use.

Clients of other protocols know a skill by one name without slashes, which the store keeps for good: for the
list of each prefix, and of the whole. A caller that may read below one prefix alone gets the names of that
prefix's list, so that they tell nothing of other skills.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from skillc.registry import APPROVED, Caller, Registry, Role, Skill, Version
from skillc.skills import SkillId

MAX_SKILLS = 20_000  # in a list that has no pages
MAX_DESCRIPTION = 1024  # characters, which is what the format allows
PAGE = 500


@dataclass(frozen=True, slots=True)
class Entry:
    """What a list says of the latest version of a skill; `since` is when the skill was first published."""

    id: SkillId
    version: str
    description: str
    archive: str
    since: float
    name: str = ""


def list_entries(registry: Registry, caller: Caller, prefix: str = "") -> list[Entry]:
    """Return the skills below a prefix by ID, each with a name of its own.

    Those without a version to choose are left out, and those for which no name is left.
    """
    entries = [entry for skill in read_skills(registry, caller, prefix) if (entry := _entry(skill))]
    readable = caller.narrow_prefix(Role.READER, prefix)
    place = readable[0] if len(readable) == 1 else prefix
    names = registry.read_names(place, [entry.id for entry in entries])
    return [replace(entry, name=names[entry.id]) for entry in entries if entry.id in names]


def read_skills(registry: Registry, caller: Caller, prefix: str = "") -> list[Skill]:
    """Return the skills that a caller may read, by ID: as many as a list may have."""
    skills: list[Skill] = []
    while len(skills) < MAX_SKILLS:
        after, size = skills[-1].id if skills else "", min(PAGE, MAX_SKILLS - len(skills))
        page = registry.skills(caller, prefix, after, size)
        if not page:
            break
        skills += page
    return skills


def to_entry(version: Version, name: str = "", since: float = 0) -> Entry:
    """Return the entry of one version."""
    text = " ".join(str(version.frontmatter.get("description", "")).split())[:MAX_DESCRIPTION]
    return Entry(version.skill, version.version, text or version.skill.name, version.archive, since, name)


def _entry(skill: Skill) -> Entry | None:
    """Return the entry of a skill, the same for all its readers: what waits for a review does not count."""
    since = [version.published_at for version in skill.versions if version.status == APPROVED]
    return to_entry(skill.latest, since=min(since).timestamp()) if skill.latest else None
