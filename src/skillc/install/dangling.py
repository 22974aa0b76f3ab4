"""Find what lost its source: deployments (ghosts), builds and notes (orphans), and files of killed processes.

What we wrote goes; what was edited goes to the trash [D51]. Of a runtime directory goes exactly what a build
wrote there: stub, manifest, indexes and links to assets. The access log is its author's history and stays,
and so does whatever a person put there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from skillc import atomic, paths, trash
from skillc.compiler import (
    DeploymentState,
    existing_directories,
    find_orphaned_builds,
    inspect_deployment,
    withdraw,
)
from skillc.contract import HIDDEN, KEY, optional
from skillc.errors import unexpected
from skillc.install.lock import global_lock_file, lock_file
from skillc.install.state import DAMAGE, list_records
from skillc.library import GLOBAL, roots
from skillc.library.records import DeploymentRecord, read_deployments
from skillc.text import one_line

CACHE, ORPHAN, GHOST, LEFTOVER = "cache", "orphan", "ghost", "leftover"  # kinds of waste
MAX_NOTE = 1 << 16  # bytes of a note on an import
GHOSTS = {
    DeploymentState.LINK: "deployed link",
    DeploymentState.FOLDER: "deployed folder",
    DeploymentState.EDITED: "deployed folder that was edited, for the trash",
    DeploymentState.OTHER: "record; something else is there now",
}
_TEMPORARY = re.compile(r"\..*\.\d+-[0-9a-f]{8}\.tmp", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Waste:
    """Something that can go: `what` it is, `origin` what it was made from, `when` it was last written.

    `delete` deletes it, or puts it into the trash and returns the item there; it raises OSError, which is a
    BlockingIOError for what is in use. `result` is what became of it: removed, trashed (`detail` is the ID in
    the trash) or kept (the reason).
    """

    id: str
    kind: str
    what: str
    path: str
    origin: str = field(metadata={KEY: "from"})
    when: str
    size: int
    delete: Callable[[], object] = field(metadata=HIDDEN)
    result: str | None = optional()
    detail: str | None = optional()

    @property
    def is_kept(self) -> bool:
        return self.result == "kept"

    @property
    def is_trashed(self) -> bool:
        return self.result == "trashed"

    def remove(self) -> Waste:
        """Remove it, and return it with what became of it; never fails."""
        try:
            item = self.delete()
        except BlockingIOError:
            return replace(self, result="kept", detail="in use by another process")
        except Exception as error:  # whatever is wrong with this one, the others can go
            return replace(self, result="kept", detail=unexpected(error).message)
        if isinstance(item, trash.TrashItem):
            return replace(self, result="trashed", detail=item.id)
        return replace(self, result="removed", detail="")


def make_waste(
    kind: str,
    what: str,
    path: str,
    delete: Callable[[], object] | None = None,
    *,
    origin: str = "",
    size: int | None = None,
) -> Waste:
    """Return waste at a path; without `delete` the file or folder is deleted."""
    size = trash.measure_size(path) if size is None else size
    delete = delete or partial(delete_path, path)
    try:
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(os.lstat(path).st_mtime))
    except (OSError, OverflowError, ValueError):
        when = ""
    return Waste(f"{kind}:{path}", kind, what, path, one_line(origin), when, size, delete)


def find_ghost_deployments() -> Iterator[Waste]:
    """Yield the deployments on record whose source is gone, also those that are gone themselves."""
    for record in read_deployments():
        if os.path.isdir(record.source) or not os.path.isabs(record.source):
            continue
        state = inspect_deployment(record)
        what = GHOSTS.get(state, "record; nothing is there any more")
        remove = partial(_remove_deployment, record)
        size = 0 if what.startswith("record") else None
        yield make_waste(GHOST, what, record.path, remove, origin=record.source, size=size)


def _remove_deployment(record: DeploymentRecord) -> trash.TrashItem | None:
    if os.path.isdir(record.source):
        return None  # it came back
    withdrawal = withdraw([record], f"deployed copy of '{record.skill}', edited; its source is gone")
    is_in_trash = any(diagnostic.code == "W092" for diagnostic in withdrawal.diagnostics)
    return trash.find(record.path) if is_in_trash else None


def find_orphans(cwd: str, removals: Collection[str] = ()) -> Iterator[Waste]:
    """Yield builds and notes whose source is gone, or among the paths that are about to go."""
    for own in _own_folders(cwd):
        for runtime in list_folders(os.path.join(own, "runtime")):
            if not any(map(os.path.islink, _parts_of(runtime))):
                yield from _find_builds(runtime, removals)
    home = paths.home()
    if home is not None:
        yield from _find_notes(paths.imports_directory(home))
        yield from _find_versions(os.path.join(home, paths.DIRECTORY))


def find_leftovers(cwd: str) -> Iterator[Waste]:
    """Yield what killed processes left behind an hour ago or earlier.

    In stores and agents' directories it may be all that is left of what stood there, so it goes to the trash.
    """
    for own in _own_folders(cwd):
        for directory in _own_directories(own):
            for path in _temporary_files(directory):
                yield make_waste(LEFTOVER, "part of a write that was cut off", path)
        store = os.path.join(own, "skills")
        for directory in (store, *list_folders(store)):
            yield from _find_parts(directory)
    for directory in existing_directories(cwd):
        yield from _find_parts(directory)
    projects = [lock_file(root) for scope, root in roots(cwd) if scope != GLOBAL]
    for lock in filter(None, [*projects, global_lock_file()]):
        for path in _temporary_files(os.path.dirname(lock)):
            if os.path.basename(path).startswith(f".{os.path.basename(lock)}."):  # of ours alone
                yield make_waste(LEFTOVER, "part of a write that was cut off", path)


def _own_folders(cwd: str) -> Iterator[str]:
    """Yield the `.skillc` folders here, above and in the home, but no links that a clone may have brought."""
    for scope, root in roots(cwd):
        own = os.path.join(root, paths.DIRECTORY)
        if scope == GLOBAL or not any(map(os.path.islink, (own, os.path.join(own, "runtime")))):
            yield own


def _parts_of(runtime: str) -> tuple[str, str]:
    return os.path.dirname(paths.manifest_file(runtime)), paths.meta_directory(runtime)


def _own_directories(own: str) -> list[str]:
    """Return the directories of a `.skillc` that only skc writes; those of caches go with the caches."""
    runtimes = list_folders(os.path.join(own, "runtime"))
    parts = [place for runtime in runtimes for place in (runtime, *_parts_of(runtime))]
    names = ("runtime", "imports", "cache", "logs", "trash", "versions", "installed")
    places = [*(os.path.join(own, name) for name in names), *parts]
    return [own, *(place for place in places if not os.path.islink(place))]


def _temporary_files(directory: str) -> list[str]:
    """Return what has the name of a temporary file of ours, and was left an hour ago or earlier."""
    return [path for path in atomic.leftovers(directory) if _TEMPORARY.fullmatch(os.path.basename(path))]


def _find_parts(directory: str) -> Iterator[Waste]:
    for path in _temporary_files(directory):
        remove = partial(trash.put, path, "left behind by a process that was killed")
        yield make_waste(LEFTOVER, "part of a change that was cut off", path, remove)


def _find_builds(runtime: str, removals: Collection[str]) -> Iterator[Waste]:
    """Yield a runtime directory whose source is gone, else its indexes of sources that are gone."""
    for each in find_orphaned_builds(runtime, lambda source: _is_gone(source, removals)):
        remove = partial(_remove_build, runtime, each.source, each.files, each.edited_stub)
        size = sum(map(trash.measure_size, each.files))
        yield make_waste(ORPHAN, each.what, each.path, remove, origin=each.source, size=size)


def _is_gone(source: str, removals: Collection[str]) -> bool:
    return source in removals or not os.path.isdir(source)


def _remove_build(runtime: str, source: str, files: Iterable[str], stub: str) -> trash.TrashItem | None:
    """Remove these files while no build runs, and then the directories that are empty.

    A stub that was edited goes to the trash.
    """
    if os.path.isdir(source):
        return None  # it came back
    meta = paths.meta_directory(runtime)
    lock = os.path.join(meta, "build.lock")
    os.makedirs(meta, exist_ok=True)
    with atomic.Lock(lock, wait=False):
        item = trash.put(stub, "a stub that was edited; its skill is gone") if stub else None
        for path in files:
            with suppress(FileNotFoundError):
                delete_path(path)
        if paths.list_names(meta) == [os.path.basename(lock)]:
            atomic.discard(lock)
    for directory in (*_parts_of(runtime), runtime):
        with suppress(OSError):
            os.rmdir(directory)
    return item


def _find_notes(directory: str) -> Iterator[Waste]:
    """Yield the notes on imports whose copy is gone.

    A note keeps a copy untrusted, so it stays while the copy can come back: from the trash, or from an import
    that has just begun and writes the note first. One that can't be read stays, too.
    """
    try:
        in_trash = {item.origin for item in trash.items()}
        # Also where that was without links.
        in_trash |= {
            os.path.join(os.path.realpath(os.path.dirname(o)), os.path.basename(o)) for o in in_trash
        }
    except OSError:  # nothing is known of what can come back
        return
    for name in paths.list_names(directory):
        path = os.path.join(directory, name)
        try:
            is_old = name.endswith(".json") and _is_old(path)
            note = json.loads(paths.read_regular(path, MAX_NOTE))
            copy = str(note["copy"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        names = {copy, os.path.realpath(copy)}
        is_in_trash = any(paths.is_inside(name, origin) for name in names for origin in in_trash)
        if is_old and not os.path.lexists(copy) and not is_in_trash:
            yield make_waste(ORPHAN, "note on an import", path, origin=copy)


def _find_versions(own: str) -> Iterator[Waste]:
    """Yield the notes on installed skills of projects that are gone, and versions that no other note has.

    An update is merged against these versions. So all stay if one note can't be read, and those of the last
    hour, which an install writes before its note.
    """
    try:
        notes = list_records()
    except DAMAGE:
        return
    references: set[str] = set()
    for path, root, digests in notes:
        if os.path.isabs(root) and not os.path.isdir(root) and _is_old(path):
            yield make_waste(ORPHAN, "note on installed skills", path, origin=root)
        else:
            references |= digests
    for folder in list_folders(os.path.join(own, "versions")):
        if os.path.basename(folder) not in references and _is_old(folder) and not folder.endswith(".tmp"):
            yield make_waste(ORPHAN, "version that is installed nowhere", folder)


def _is_old(path: str) -> bool:
    """Return whether a file or folder is older than any command takes."""
    return time.time() - os.lstat(path).st_mtime > atomic.ABANDONED_AFTER


def delete_path(path: str) -> None:
    """Delete a file, a link or a whole folder; raise OSError for what is left."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def list_folders(root: str) -> list[str]:
    """Return the folders in a directory, in order; links are none."""
    places = (os.path.join(root, name) for name in paths.list_names(root))
    return [place for place in places if os.path.isdir(place) and not os.path.islink(place)]
