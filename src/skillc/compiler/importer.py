"""Take a folder from anywhere into a store, whole or not at all [D10]."""

from __future__ import annotations

import os

from skillc import atomic, paths
from skillc.errors import InvalidOption, InvalidSkill, SkillExists
from skillc.library import Skill, import_root, is_compiled
from skillc.paths import is_inside
from skillc.skills import list_files, main_file, metadata, parse
from skillc.skills.folder import make_folder


def import_skill(found: Skill, cwd: str, *, force: bool = False) -> Skill:
    """Copy a folder that is in no store into the project's store, or the global one.

    Links inside the folder become the files they point to. Hidden files come along.
    """
    main = main_file(found.source)
    if is_compiled(found.source):
        raise InvalidSkill(found.source, "a compiled skill; build its source")
    scope, root = import_root(cwd)
    store = paths.skills_store(root)
    path = os.path.join(store, found.name)
    if is_inside(os.path.realpath(store), found.source):
        raise InvalidOption(f'"{found.source}" holds the store it would be copied into')
    if os.path.lexists(path) and not force:
        raise SkillExists(
            found.name, f"hint: --force replaces it; 'skc build {path}' builds the one that is there"
        )
    list_files(found.source)  # a link that leaves ends the import here, and so does an unusable SKILL.md
    with open(os.path.join(found.source, main), "rb") as file:
        metadata(parse(file.read()), found.name)
    os.makedirs(store, exist_ok=True)
    atomic.sweep(store)
    make_folder(path, copy_of=found.source)
    return Skill(found.name, os.path.realpath(path), scope, root, is_stored=True)
