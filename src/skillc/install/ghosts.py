"""Ghosts: deployments whose source is gone [D51]. What we wrote goes; what was edited goes to the trash."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from skillc import trash
from skillc.compiler import digest_folder
from skillc.install.waste import GHOST, Waste, delete_path, make_waste
from skillc.library import DeploymentRecord, forget_deployments, is_compiled, read_deployments

LINK, FOLDER, EDITED, OTHER, GONE = "link", "folder", "edited", "other", "gone"


def find_ghost_deployments() -> Iterator[Waste]:
    """Yield the deployments on record whose source is gone, also those that are gone themselves."""
    for record in read_deployments():
        if os.path.isdir(record.source) or not os.path.isabs(record.source):
            continue
        state = inspect_deployment(record)
        what = {
            LINK: "deployed link",
            FOLDER: "deployed folder",
            EDITED: "deployed folder that was edited, for the trash",
            OTHER: "record; something else is there now",
            GONE: "record; nothing is there any more",
        }[state]
        size = None if state in (LINK, FOLDER, EDITED) else 0
        yield make_waste(
            GHOST, what, record.path, _remove_deployment(record), origin=record.source, size=size
        )


def inspect_deployment(record: DeploymentRecord) -> str:
    """Return what is at the place of a deployment: our link, our folder, an edited one, or something else."""
    path = record.path
    if not os.path.lexists(path):
        return GONE
    if _is_link(path):
        target = os.path.join(os.path.realpath(os.path.dirname(path)), os.readlink(path))
        is_ours = record.method != "copy" and _real(target) == _real(record.runtime)
        return LINK if is_ours else OTHER
    name = record.skill.rpartition("/")[2]
    if record.method != "copy" or os.path.basename(path) != name or not is_compiled(path):
        return OTHER  # whatever the record says, which may be damaged
    try:
        return FOLDER if digest_folder(path) == record.digest else EDITED
    except OSError:
        return EDITED


def _remove_deployment(record: DeploymentRecord) -> Callable[[], trash.TrashItem | None]:
    def remove() -> trash.TrashItem | None:
        item = None
        state = inspect_deployment(record)  # now, whatever it was when it was listed
        if os.path.isdir(record.source):
            return None  # it came back
        if state in (LINK, FOLDER):
            _delete(record.path)
        elif state == EDITED:
            item = trash.put(record.path, f"deployed copy of '{record.skill}', edited; its source is gone")
        forget_deployments([record.path])
        return item

    return remove


def _delete(path: str) -> None:
    if _is_link(path) and not os.path.islink(path):
        os.rmdir(path)  # a junction
    else:
        delete_path(path)


def _is_link(path: str) -> bool:
    is_junction = getattr(os.path, "isjunction", os.path.islink)  # Python 3.12 and newer
    return os.path.islink(path) or bool(is_junction(path))


def _real(path: str) -> str:
    """Return a path with its parents resolved, but for the last part, which may be gone."""
    path = os.path.normpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
