"""Recall the skills of repositories from what is on this machine; no host is asked, nothing is changed.

Completion asks at each Tab: what it needs is quick names, not the truth about every skill.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator

from skillc import paths
from skillc.errors import SkillcError
from skillc.index.skills import Memory, Walk, recall_folder
from skillc.library.repositories import SkillRepositoryConfig, SkillsConfig, repositories_in_force
from skillc.library.skill_cache import copies_folder, list_copies

MAX_SECONDS = 0.3  # for the walk of a folder that was never indexed


def recall_skills(cwd: str) -> Iterator[Memory]:
    """Yield ID, capabilities and tags of the skills of the repositories of `cwd` that are here.

    They are those of folders and of git's checkouts; of servers, the IDs of those that were copied.
    """
    config = SkillsConfig.load(cwd)
    for repository in repositories_in_force(config, next(paths.library_roots(cwd), None)):
        ids: Iterable[str] = ()
        if repository.type not in ("filesystem", "git"):
            ids = [skill_id for skill_id, _ in list_copies(copies_folder(repository))]
        elif root := _folder_of(repository):
            memories = recall_folder(root)
            yield from memories
            if not memories:
                ids = [file.skill_id for file in Walk(root, {}, {}, time.time() + MAX_SECONDS).files]
        yield from ((skill_id, (), ()) for skill_id in ids)


def _folder_of(repository: SkillRepositoryConfig) -> str | None:
    """Return the folder of a repository, or of its last checkout."""
    if repository.type == "filesystem":
        return os.path.abspath(repository.path)
    from skillc.library.repositories import source_of  # with asyncio and git, longer than all else here

    try:
        return getattr(source_of(repository), "folder", None)
    except (SkillcError, OSError):
        return None
