"""Put a skill into a store: a new one to fill in (RFC-0006), or a copy of a folder [D10]."""

from __future__ import annotations

import os

from skillc import atomic, paths
from skillc.errors import InvalidOption, InvalidSkill, InvalidSkillId, SkillExists
from skillc.library import Skill, import_root, is_compiled
from skillc.skills import is_name, list_files, main_file, make_folder, parse, read_main_file, read_metadata

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
    if any(os.path.lexists(os.path.join(directory, main)) for main in paths.SKILL_FILES):
        raise SkillExists(name)
    create_store(root)
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, paths.SKILL_FILE)
    title = " ".join(word.capitalize() for word in name.split("-"))
    atomic.write(path, _SKILL.format(name=name, title=title).encode(), durable=True)
    return path


def import_skill(skill: Skill, cwd: str, *, force: bool = False) -> Skill:
    """Copy a folder from elsewhere into the project's store or the global one, completely or not at all.

    Links in the folder become the files they point to. Hidden files are copied too.
    """
    main_file(skill.source)  # raises without one
    if is_compiled(skill.source):
        raise InvalidSkill(skill.source, "a compiled skill; build its source")
    scope, root = import_root(cwd)
    store = paths.skills_store(root)
    path = os.path.join(store, skill.name)
    if paths.is_inside(os.path.realpath(store), skill.source):
        raise InvalidOption(f'"{skill.source}" holds the store it would be copied into')
    if os.path.lexists(path) and not force:
        hint = f"hint: --force replaces it; 'skc build {path}' builds the one that is there"
        raise SkillExists(skill.name, hint)
    list_files(skill.source)  # raises for a link that leaves the folder
    read_metadata(parse(read_main_file(skill.source)), skill.name)  # raises for an unusable SKILL.md
    os.makedirs(store, exist_ok=True)
    atomic.sweep(store)
    make_folder(path, copy_of=skill.source)
    return Skill(skill.name, os.path.realpath(path), scope, root, is_stored=True)
