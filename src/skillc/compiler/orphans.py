"""Find what builds wrote into a runtime directory for sources that are gone, and nothing of a person's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from skillc import paths
from skillc.compiler.build import read_indexes
from skillc.compiler.deploy import source_of
from skillc.compiler.undeploy import find_generated

INDEX_ENDINGS = (".db", ".db-wal", ".db-shm", ".db-journal")


@dataclass(frozen=True, slots=True)
class OrphanedBuild:
    """A build of a `source` that is gone, or only an index of it, which `what` says; `files` can be removed.

    The manifest is the last of them: without it there is no build. An `edited_stub` is not one of them.
    """

    what: str
    path: str
    source: str
    files: tuple[str, ...]
    edited_stub: str = ""


def find_orphaned_builds(runtime: str, is_gone: Callable[[str], bool]) -> Iterator[OrphanedBuild]:
    """Yield the build in a runtime directory if its source is gone, else its indexes of sources that are."""
    source, indexes = source_of(runtime), read_indexes(runtime)
    orphans = {path: place for path, meta in indexes.items() if is_gone(place := meta.get("skill_path", ""))}
    if os.path.isabs(source) and is_gone(source):
        stubs = [meta.get("stub", "").encode("utf-8", "surrogateescape") for meta in indexes.values()]
        files = [file for path in orphans for file in _index_files(path)]
        files += [*find_generated(runtime, source, stubs), paths.manifest_file(runtime)]
        stub = paths.stub_file(runtime)
        edited = stub if os.path.lexists(stub) and stub not in files else ""
        yield OrphanedBuild("build", runtime, source, tuple(files), edited)
        return
    for path, place in orphans.items():
        if os.path.isabs(place):
            yield OrphanedBuild("index", path, place, tuple(_index_files(path)))


def _index_files(path: str) -> list[str]:
    files = [path.removesuffix(".db") + ending for ending in INDEX_ENDINGS]
    return [file for file in files if os.path.lexists(file)]
