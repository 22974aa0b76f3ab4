"""New skills: the store and the first SKILL.md (RFC-0006)."""

from __future__ import annotations

import os

from skillc import atomic, paths
from skillc.errors import InvalidSkillId, SkillExists
from skillc.skills import is_name

_SKILL = """\
---
name: {name}
description: "TODO: Add skill description"
---

# {title}
"""
_IGNORED = "# Built by skc; 'skc build --all' makes it again.\nruntime/\nlogs/\n"


def new_store(root: str) -> str:
    """Make `.skillc/skills/` below `root`, where it is not there, and return its path."""
    store = paths.skills_store(root)
    os.makedirs(store, exist_ok=True)
    ignore = os.path.join(root, paths.DIRECTORY, ".gitignore")
    if not os.path.lexists(ignore):
        atomic.write(ignore, _IGNORED.encode())
    return store


def new_skill(root: str, name: str) -> str:
    """Make a skill with a SKILL.md to fill in, and return that file's path."""
    if not is_name(name):
        raise InvalidSkillId(name, "hint: a name has 1 to 64 of a-z, 0-9 and single hyphens, none at an end.")
    directory = os.path.join(paths.skills_store(root), name)
    path = os.path.join(directory, paths.SKILL_FILE)
    if any(os.path.lexists(os.path.join(directory, main)) for main in paths.SKILL_FILES):
        raise SkillExists(name)
    new_store(root)
    os.makedirs(directory, exist_ok=True)
    title = " ".join(word.capitalize() for word in name.split("-"))
    atomic.write(path, _SKILL.format(name=name, title=title).encode(), durable=True)
    return path
