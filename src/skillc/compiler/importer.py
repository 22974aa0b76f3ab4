"""Copy a folder from elsewhere into a store, completely or not at all [D10]."""

from __future__ import annotations

import os

from skillc import atomic, paths
from skillc.errors import InvalidOption, InvalidSkill, SkillExists
from skillc.library import Skill, import_root, is_compiled
from skillc.paths import is_inside
from skillc.skills import list_files, main_file, make_folder, parse, read_metadata


def import_skill(skill: Skill, cwd: str, *, force: bool = False) -> Skill:
    """Copy a folder that is in no store into the project's store, or the global one.

    Links in the folder become the files they point to. Hidden files are copied too.
    """
    main = main_file(skill.source)
    if is_compiled(skill.source):
        raise InvalidSkill(skill.source, "a compiled skill; build its source")
    scope, root = import_root(cwd)
    store = paths.skills_store(root)
    path = os.path.join(store, skill.name)
    if is_inside(os.path.realpath(store), skill.source):
        raise InvalidOption(f'"{skill.source}" holds the store it would be copied into')
    if os.path.lexists(path) and not force:
        raise SkillExists(
            skill.name, f"hint: --force replaces it; 'skc build {path}' builds the one that is there"
        )
    list_files(skill.source)  # raises for a link that leaves the folder
    with open(os.path.join(skill.source, main), "rb") as file:
        read_metadata(parse(file.read()), skill.name)  # raises for an unusable SKILL.md
    os.makedirs(store, exist_ok=True)
    atomic.sweep(store)
    make_folder(path, copy_of=skill.source)
    return Skill(skill.name, os.path.realpath(path), scope, root, is_stored=True)
