"""Find the skills of a registry on this machine, whose use it may be told.

They were added from it, in any project, or are of a repository with its address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from skillc import paths
from skillc.errors import InvalidSkillId, SkillcError
from skillc.install.lock import read_lock, store_folder
from skillc.install.origin import OURS
from skillc.install.versions import installed_roots
from skillc.library import GLOBAL, PROJECT, Skill, SkillsConfig, copy_path, list_copies
from skillc.remotes import parse_registry
from skillc.skills import SkillId


def find_shared(registry: str, cwd: str) -> dict[str, list[Skill]]:
    """Return the skills of a registry on this machine: their folders, by ID."""
    folders: dict[str, dict[str, Skill]] = {}
    for skill_id, skill in (*_find_locked(registry, cwd), *_find_copies(registry, cwd)):
        folders.setdefault(skill_id, {})[skill.source] = skill
    return {skill_id: list(skills.values()) for skill_id, skills in folders.items()}


def _roots(cwd: str) -> Sequence[str]:
    """Return the projects of this machine that skills were added to, that of `cwd`, and the home."""
    home = paths.require_home()
    return list(dict.fromkeys((home, *paths.lock_roots(cwd), *paths.project_roots(cwd), *installed_roots())))


def _find_locked(registry: str, cwd: str) -> Iterator[tuple[str, Skill]]:
    home = os.path.realpath(paths.require_home())
    for root in _roots(cwd):
        try:
            entries = read_lock(root)
        except (SkillcError, OSError):
            continue  # another command says what is wrong with it
        scope = GLOBAL if os.path.realpath(root) == home else PROJECT
        for name, entry in entries.items():
            source = entry.text("source")
            if source.startswith(f"{OURS}{registry}/"):
                folder = store_folder(root, name)
                skill = Skill(os.path.basename(folder), os.path.realpath(folder), scope, root, is_stored=True)
                try:
                    yield SkillId(source[len(f"{OURS}{registry}/") :]), skill
                except InvalidSkillId:
                    continue


def _find_copies(registry: str, cwd: str) -> Iterator[tuple[str, Skill]]:
    home = paths.require_home()
    for root in (cwd, *_roots(cwd)):
        try:
            repositories = SkillsConfig.load(root).repositories
        except (SkillcError, OSError):
            continue
        for repository in repositories:
            if repository.type != "http" or _address(repository.settings.get("url", "")) != registry:
                continue
            for skill_id, folder in list_copies(os.path.dirname(copy_path(repository, "x"))):
                yield skill_id, Skill(skill_id, folder, GLOBAL, home, True, repository.name, is_copy=True)


def _address(url: str) -> str:
    try:
        return parse_registry(url)
    except SkillcError:
        return ""
