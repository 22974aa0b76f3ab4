"""Locks for tests, and repositories to lock skills of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from skillc.install.address import parse_origin
from skillc.install.download import open_download
from skillc.install.entry import LockEntry, hash_folder, make_entry
from skillc.install.lock import change_lock, lock_folder, read_lock
from tests.conftest import World


def lock_skills(
    world: World, address: str, *names: str, root: Path | None = None, **own: Any
) -> list[LockEntry]:
    """Write entries for skills of an origin into a lock, with these values of ours; install nothing."""
    place = str(root or world.project)
    origin = parse_origin(address, str(world.project))
    with open_download(origin, names=names) as download:
        entries = [
            make_entry(lock_folder(place), each, hash_folder(each.folder, each.links)).with_own(**own)
            for each in download.candidates
        ]
    change_lock(place, record=entries)
    return [read_lock(place)[entry.name] for entry in entries]


def read_tree(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder; a link is its target."""
    return {
        str(path.relative_to(folder)): os.fsencode(os.readlink(path))
        if path.is_symlink()
        else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }
