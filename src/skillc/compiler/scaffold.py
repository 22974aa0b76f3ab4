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
_GITIGNORE = "# Built by skc; 'skc build --all' makes it again.\nruntime/\nlogs/\n"


def create_store(root: str) -> str:
    """Create `.skillc/skills/` below `root` if it is missing, and return its path."""
    store = paths.skills_store(root)
    os.makedirs(store, exist_ok=True)
    ignore = os.path.join(root, paths.DIRECTORY, ".gitignore")
    if not os.path.lexists(ignore):
        atomic.write(ignore, _GITIGNORE.encode())
    return store


def create_skill(root: str, name: str) -> str:
    """Create a skill with a SKILL.md to fill in, and return that file's path."""
    if not is_name(name):
        raise InvalidSkillId(name, "hint: a name has 1 to 64 of a-z, 0-9 and single hyphens, none at an end.")
    directory = os.path.join(paths.skills_store(root), name)
    path = os.path.join(directory, paths.SKILL_FILE)
    if any(os.path.lexists(os.path.join(directory, main)) for main in paths.SKILL_FILES):
        raise SkillExists(name)
    create_store(root)
    os.makedirs(directory, exist_ok=True)
    title = " ".join(word.capitalize() for word in name.split("-"))
    atomic.write(path, _SKILL.format(name=name, title=title).encode(), durable=True)
    return path
