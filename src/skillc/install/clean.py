"""Find what is no longer needed: caches, and what lost its source.

What is in use, access logs, the trash, decisions about trust and whatever a user wrote stay. Everything in
`~/.skillc/cache` is made or fetched again when it is needed. Kept are the copies of repositories' skills that
are deployed, whose scripts agents run, and what another process holds a lock on. A name that is not known
here stays: it may belong to a newer skc.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from skillc import atomic, paths, trash
from skillc.contract import hidden
from skillc.errors import InvalidOption
from skillc.install.dangling import (
    CACHE,
    GHOST,
    LEFTOVER,
    ORPHAN,
    Waste,
    delete_path,
    find_ghost_deployments,
    find_leftovers,
    find_orphans,
    list_folders,
    make_waste,
)
from skillc.library import read_origin
from skillc.library.records import read_deployments
from skillc.startup import sqlite
from skillc.surface import Here

LOCK = "lock"  # stays: another process may wait for it
MAX_STATE = 1 << 18  # bytes of a checkout's state.json
SERVERS = {  # folders of the cache with one folder for each server
    "mcp": "files of an MCP server",
    "http": "files of an HTTP repository",
    "sites": "skills of a site",
}
WHOLE = {  # folders that go as a whole
    "installed": "hashes of installed skills",
    "latest": "versions that origins have",
    "list": "descriptions and sizes of skills",
    "notes": "lists of servers' skills, of an older skc",
    "openings": "first answers of skc mcp",
}
DATABASES = {"library.db": "index of all skills", "offers.db": "what hooks may offer"}


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What can go or, where it `is_done`, what became of each."""

    entries: tuple[Waste, ...]
    is_done: bool = hidden(False)


def clean_up(
    here: Here,
    *,
    dry_run: bool = False,
    yes: bool = False,
    describe: Callable[[Sequence[Waste]], str] | None = None,
) -> Cleaning:
    """Remove caches, orphans, ghosts and leftovers, once a person agrees; `describe` is for the question.

    Raises InvalidOption, and removes nothing, without an answer.
    """
    waste = list(find_waste(here.cwd))
    if dry_run or not waste:
        return Cleaning(tuple(waste))
    text = describe(waste) if describe else "\n".join(item.path for item in waste)
    if not yes and not (here.person.can_answer and here.person.confirm(text, "Remove all this?")):
        raise InvalidOption("nothing removed; 'skc clean --yes' removes without asking")
    results = []
    with here.progress.steps(len(waste), "items") as steps:
        for item in waste:
            steps.step(item.path)
            results.append(item.remove())
    return Cleaning(tuple(results), is_done=True)


def find_waste(cwd: str, *kinds: str) -> Iterator[Waste]:
    """Yield what can go in the home and in the projects of `cwd`, of these kinds or of all.

    It goes in this order: ghosts before the builds that their links lead to.
    """
    caches = list(find_caches()) if not kinds or CACHE in kinds else []
    yield from caches
    finders: dict[str, Callable[[], Iterator[Waste]]] = {
        GHOST: find_ghost_deployments,
        ORPHAN: partial(find_orphans, cwd, {waste.path for waste in caches}),
        LEFTOVER: partial(find_leftovers, cwd),
    }
    for kind, find in finders.items():
        if not kinds or kind in kinds:
            yield from find()


def find_caches() -> Iterator[Waste]:
    """Yield what is in the home's cache and not in use."""
    home = paths.home()
    root = os.path.join(home, paths.DIRECTORY, "cache") if home else ""
    if not home or os.path.islink(root):
        return
    yield from _copies(os.path.join(root, "skills"))
    for folder in list_folders(os.path.join(root, "repositories")):
        names = [name for name in paths.list_names(folder) if name != LOCK]
        if names:
            size = sum(trash.measure_size(os.path.join(folder, name)) for name in names)
            remove = partial(_remove_checkout, folder)
            yield make_waste(CACHE, "git checkout", folder, remove, origin=_address(folder), size=size)
    yield from _folders(root)
    yield from _evaluations(os.path.join(root, paths.EVALUATIONS))
    for path in atomic.leftovers(os.path.join(root, "downloads")):
        yield make_waste(CACHE, "download that was cut off", path)
    for name, what in DATABASES.items():
        path = os.path.join(root, name)
        if os.path.lexists(path):
            size = sum(trash.measure_size(path + ending) for ending in ("", "-wal", "-shm"))
            yield make_waste(CACHE, what, path, partial(_remove_database, path), size=size)


def _copies(root: str) -> Iterator[Waste]:
    """Yield the copies of repositories' skills, but for those that are deployed."""
    sources = {os.path.realpath(record.source) for record in read_deployments() if record.is_here}
    for folder in list_folders(root):
        if folder == paths.recent_copies():
            yield make_waste(CACHE, "notes on skills that were used", folder)
            continue
        for copy in list_folders(folder):
            if os.path.realpath(copy) not in sources:
                repository = read_origin(copy).decode("utf-8", "replace").partition("\n")[0]
                yield make_waste(CACHE, "copy of a repository's skill", copy, origin=repository)


def _folders(root: str) -> Iterator[Waste]:
    """Yield the folders of the cache that nothing else depends on."""
    for name, what in SERVERS.items():
        for folder in list_folders(os.path.join(root, name)):
            yield make_waste(CACHE, what, folder, origin=os.path.basename(folder) if name == "mcp" else "")
    for name, what in WHOLE.items():
        if paths.list_names(os.path.join(root, name)):
            yield make_waste(CACHE, what, os.path.join(root, name))


def _evaluations(folder: str) -> Iterator[Waste]:
    """Yield the runs that evaluations keep elsewhere, by the notes on where; their results stay."""
    for name in paths.list_names(folder):
        note = os.path.join(folder, name)
        try:
            workspace = str(json.loads(paths.read_regular(note, MAX_STATE))["workspace"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            workspace = ""
        runs = os.path.join(workspace, "cache")
        is_ours = os.path.isabs(runs) and paths.is_own(workspace) and not os.path.islink(runs)
        path = runs if is_ours and paths.list_names(runs) else note
        what = "runs that skc eval need not repeat" if path == runs else "note on runs of skc eval"
        yield make_waste(CACHE, what, path, partial(_remove_runs, workspace, path, note))


def _remove_runs(workspace: str, path: str, note: str) -> None:
    """Remove what an evaluation keeps, unless one is under way there: it holds a lock in its place."""
    if path != note:
        places = os.path.join(workspace, "runs")
        with atomic.Lock(os.path.join(places, LOCK), wait=False):
            for place in list_folders(places):
                with atomic.Lock(os.path.join(place, LOCK), wait=False):
                    delete_path(place)  # of a process that was killed
            delete_path(path)
    delete_path(note)


def _remove_checkout(folder: str) -> None:
    with atomic.Lock(os.path.join(folder, LOCK), wait=False):
        # state.json first, which names a checkout
        for name in sorted(paths.list_names(folder), reverse=True):
            if name != LOCK:
                delete_path(os.path.join(folder, name))


def _address(folder: str) -> str:
    """Return the address of a repository, which its state has without secrets."""
    try:
        data = json.loads(paths.read_regular(os.path.join(folder, "state.json"), MAX_STATE))
        return f"{data['url']} ({data['ref']})"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def _remove_database(path: str) -> None:
    """Delete a database, unless another process has it open.

    A file that is deleted while its write-ahead log stays would damage the next one of that name. So the
    log is merged first, which SQLite does only for the last process.
    """
    if os.path.islink(path):
        os.unlink(path)
        return
    try:
        connection = sqlite.connect(path, timeout=0, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=DELETE").fetchone()
            connection.execute("BEGIN EXCLUSIVE")
            os.unlink(path)
        finally:
            connection.close()
    except sqlite.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise BlockingIOError(str(error)) from None
        raise OSError(str(error)) from None
    except sqlite.DatabaseError:  # damaged: no process can use it
        delete_path(path)
    for ending in ("-wal", "-shm", "-journal"):
        atomic.discard(path + ending)
