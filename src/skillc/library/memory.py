"""Recall the skills of repositories from what is on this machine; no host is asked, nothing is changed.

Completion asks at each Tab: what it needs is quick names, not the truth about every skill.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass

from skillc import paths
from skillc.errors import SkillcError
from skillc.index.skills import recall_folder
from skillc.library.config import SkillRepositoryConfig, SkillsConfig, repositories_in_force
from skillc.library.skill_cache import copies_folder, list_copies
from skillc.skills import id_prefix

MAX_SECONDS = 0.3  # for the walk of a folder that was never indexed
MAX_DEPTH = 6

Row = tuple[str, tuple[str, ...], tuple[str, ...]]  # an ID, its capabilities and its tags


@dataclass(frozen=True, slots=True)
class SkillMemory:
    """What is remembered of a skill."""

    id: str
    repository: str
    capabilities: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def recall_skills(cwd: str) -> Iterator[SkillMemory]:
    """Yield the skills of the repositories of `cwd` that are here.

    They are those of folders and of git's checkouts; of servers, those that were copied.
    """
    config = SkillsConfig.load(cwd)
    for repository in repositories_in_force(config, next(paths.library_roots(cwd), None)):
        for skill_id, capabilities, tags in _recall(repository):
            yield SkillMemory(skill_id, repository.name, capabilities, tags)


def _recall(repository: SkillRepositoryConfig) -> list[Row]:
    if repository.type not in ("filesystem", "git"):
        return [(str(skill_id), (), ()) for skill_id, _ in list_copies(copies_folder(repository))]
    root = _folder_of(repository)
    if root is None:
        return []
    return recall_folder(root) or [(skill_id, (), ()) for skill_id in _walk(root)]


def _folder_of(repository: SkillRepositoryConfig) -> str | None:
    """Return the folder of a repository, or of its last checkout."""
    if repository.type == "filesystem":
        return os.path.abspath(repository.path)
    from skillc.library.repositories import source_of  # with asyncio and git, longer than all else here

    try:
        return getattr(source_of(repository), "folder", None)
    except (SkillcError, OSError):
        return None


def _walk(root: str) -> Iterator[str]:
    """Yield the IDs of the skills in a folder, as many as there is time for."""
    end = time.monotonic() + MAX_SECONDS
    directories = [("", 0)]
    seen: set[tuple[int, int]] = set()  # links may lead in circles
    while directories and time.monotonic() < end:
        path, depth = directories.pop()
        directory = os.path.join(root, path)
        try:
            status = os.stat(directory)
            entries = list(os.scandir(directory))
        except OSError:
            continue
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        if path and any(entry.name == "SKILL.md" for entry in entries):
            yield id_prefix(path)
        elif depth < MAX_DEPTH:
            below = (entry.name for entry in entries if entry.name[0] != "." and _is_directory(entry))
            directories += [(f"{path}/{name}".lstrip("/"), depth + 1) for name in below]


def _is_directory(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
