"""Recall what the index has of a folder, without looking at the folder or changing the index."""

from __future__ import annotations

from skillc import startup
from skillc.index.skills.database import IN_MEMORY, library_file
from skillc.index.skills.snapshot import split_lines, stored_path

# An ID, the capabilities that the skill needs, and its tags.
Memory = tuple[str, tuple[str, ...], tuple[str, ...]]

MAX_SKILLS = 20_000


def recall_folder(root: str) -> list[Memory]:
    """Return the skills that a folder had when it was indexed; none if it was not, or can't be read."""
    file = library_file()
    if file == IN_MEMORY:
        return []
    sql = (
        "SELECT skills.id, skills.capabilities, skills.tags FROM skills JOIN folders"
        " ON folders.number = skills.folder WHERE folders.root = ? AND skills.description IS NOT NULL LIMIT ?"
    )
    try:
        connection = startup.sqlite.connect(startup.sqlite_uri(file, "mode=ro"), uri=True, timeout=0.2)
        try:
            rows = connection.execute(sql, (stored_path(root), MAX_SKILLS)).fetchall()
        finally:
            connection.close()
        return [(str(skill_id), split_lines(needs), split_lines(tags)) for skill_id, needs, tags in rows]
    except (startup.sqlite.Error, AttributeError, TypeError):  # the last two of a value that we did not write
        return []
