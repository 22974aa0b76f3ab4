"""The folder of a locked skill: names in a lock are anything, those of folders in a store are not."""

from __future__ import annotations

import os

from skillc import errors, paths
from skillc.skills import is_name, to_segment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def store_folder(root: str, name: str) -> str:
    """Return the folder of a skill in the store of a project or the home."""
    return os.path.join(paths.skills_store(root), name if is_name(name) else to_segment(name))


def store_folders(root: str, names: Iterable[str]) -> dict[str, str]:
    """Return the folder of each skill; raises LockUnsatisfied for two that would share one."""
    folders: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in names:
        folder = folders[name] = store_folder(root, name)
        if folder in owners:
            raise errors.LockUnsatisfied(name, f"it has the same folder as '{owners[folder]}'")
        owners[folder] = name
    return folders
