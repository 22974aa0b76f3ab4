"""Keep the names that skills have in lists of other protocols: each leads to one ID, for good.

Their clients know a skill by one name without slashes. There is a list of the whole registry and one of each
prefix, and in each a skill takes its name when it is first approved: the last segment of its ID, or its whole
ID with hyphens where another one has that. The name stays when the skill is yanked, deleted or gone, so that
a client that asks for it later never gets the skill of another namespace.
"""

from __future__ import annotations

from collections.abc import Mapping

from skillc.registry.model.model import APPROVED
from skillc.registry.store.database import Connection, marks
from skillc.skills import MAX_SEGMENT, SkillId, is_name, to_segment

_INSERT = "INSERT INTO names (place, name, skill) VALUES (?, ?, ?)"


def to_name(text: str) -> str:
    """Return an ID as a name of the Agent Skills format; empty where it is too long for one."""
    name = text.replace("/", "-")
    if is_name(name):
        return name
    return to_segment(name) if len(name) <= MAX_SEGMENT else ""


def claim_names(connection: Connection, skill_id: str) -> None:
    """Give a skill a name in each list that it has none in, unless both that it could have are taken."""
    places, wanted = _places_of(skill_id), _names_of(skill_id)
    query = f"""SELECT place, name, skill FROM names
        WHERE place IN ({marks(len(places))}) AND name IN ({marks(len(wanted))})"""  # noqa: S608
    rows = connection.execute(query, *places, *wanted)
    owners = {(place, name): owner for place, name, owner in rows}
    connection.execute_many(_INSERT, _choose_names(skill_id, owners))


def complete_names(connection: Connection) -> None:
    """Give names to skills that have none, in the order in which they were first published."""
    ids = connection.execute(
        "SELECT skill, min(published_at) FROM versions WHERE status = ? "
        "AND skill NOT IN (SELECT skill FROM names) GROUP BY skill ORDER BY 2, 1",
        APPROVED,
    )
    rows = connection.execute("SELECT place, name, skill FROM names") if ids else []
    owners = {(place, name): owner for place, name, owner in rows}
    added: list[tuple[str, str, str]] = []
    for skill_id, _ in ids:
        more = _choose_names(skill_id, owners)
        owners |= {(place, name): skill_id for place, name, _ in more}
        added += more
    connection.execute_many(_INSERT, added)


def _choose_names(skill_id: str, owners: Mapping[tuple[str, str], str]) -> list[tuple[str, str, str]]:
    """Return the rows that a skill lacks; `owners` has those of its names that are taken, also by itself."""
    rows = []
    wanted = _names_of(skill_id)
    for place in _places_of(skill_id):
        free = [name for name in wanted if (place, name) not in owners]
        if free and all(owners.get((place, name)) != skill_id for name in wanted):
            rows.append((place, free[0], skill_id))
    return rows


def _names_of(skill_id: str) -> list[str]:
    """Return the names that a skill could have, the best first."""
    return [name for name in (to_name(SkillId(skill_id).name), to_name(skill_id)) if name]


def _places_of(skill_id: str) -> list[str]:
    """Return the prefixes whose lists have a skill.

    >>> _places_of("payments/refunds")
    ['', 'payments', 'payments/refunds']
    """
    words = skill_id.split("/")
    return ["/".join(words[:count]) for count in range(len(words) + 1)]
