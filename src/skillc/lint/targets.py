"""Which skills someone means: a name, a folder, a file of a skill, or everything below a folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skillc import paths
from skillc.errors import InvalidSkill, SkillNotFound
from skillc.library import at_path, is_skill, locate_skill as anywhere

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.library import Skill

_PASSED_OVER = (".git", ".hg", ".svn", ".skillc-meta", ".venv", "node_modules", "__pycache__")


def locate(name: str, cwd: str) -> Skill:
    """The skill that a name, a path to its folder, or a path to one of its files means in `cwd`."""
    try:
        return anywhere(name, cwd)
    except SkillNotFound:
        path = os.path.join(cwd, name)
        if not name or "\0" in name or not os.path.lexists(path):
            raise
    directory = os.path.dirname(os.path.abspath(path))
    while not is_skill(directory):
        parent = os.path.dirname(directory)
        if parent == directory:
            raise InvalidSkill(name, "no SKILL.md beside it or above")
        directory = parent
    return at_path(directory)


def skills_below(folder: str) -> Iterator[Skill]:
    """Every skill in a folder or below it; folders below a skill are its files, not skills [D25].

    Dot-directories are looked into, because that is where agents keep skills, but not what build made.
    """
    for directory, folders, _ in os.walk(folder):
        if is_skill(directory):
            folders[:] = []
            yield at_path(directory)
        built = ("runtime",) if os.path.basename(directory) == paths.DIRECTORY else ()
        folders[:] = sorted(name for name in folders if name not in (*_PASSED_OVER, *built))
