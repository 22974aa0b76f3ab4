"""Ghosts: deployments whose source is gone [D51]. What we wrote goes; what was edited goes to the trash."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from skillc import paths, trash
from skillc.compiler import digest_folder, is_link, withdraw
from skillc.index.sections import parse_manifest, read_manifest
from skillc.install.waste import GHOST, Waste, make_waste
from skillc.library import DeploymentRecord, read_deployments

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
    if is_link(path):
        target = os.path.join(os.path.realpath(os.path.dirname(path)), os.readlink(path))
        is_ours = record.method != "copy" and _real(target) in map(_real, (record.runtime, record.source))
        return LINK if is_ours else OTHER
    source = parse_manifest(read_manifest(path)).get("source")
    if record.method != "copy" or not record.source or source != record.source:
        return OTHER  # whatever the record says, which may be damaged
    return FOLDER if is_unchanged(record) else EDITED


def is_unchanged(record: DeploymentRecord) -> bool:
    """Return whether a deployed folder holds what the build wrote, and nothing else."""
    own = os.path.dirname(paths.manifest_file(record.path))
    try:
        return os.listdir(own) == ["manifest.json"] and digest_folder(record.path) == record.digest
    except OSError:
        return False


def _remove_deployment(record: DeploymentRecord) -> Callable[[], trash.TrashItem | None]:
    def remove() -> trash.TrashItem | None:
        if os.path.isdir(record.source):
            return None  # it came back
        withdrawal = withdraw([record], f"deployed copy of '{record.skill}', edited; its source is gone")
        is_in_trash = any(diagnostic.code == "W092" for diagnostic in withdrawal.diagnostics)
        return trash.find(record.path) if is_in_trash else None

    return remove


def _real(path: str) -> str:
    """Return a path with its parents resolved, but for the last part, which may be gone."""
    path = os.path.normpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
