"""The folders that are searched from a directory, without reading any configuration twice.

Which repositories there are is a matter of TOML, of the packages that are installed and of classes that cost
more to import than a search. Where all of them are folders, the answer is noted in the index beside what
it depends on: files and directories with their times of change.
"""

from __future__ import annotations

import os
import sys

from skillc import places
from skillc.library.catalog.library import Part, library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Line = tuple[str, str, bool]  # a repository's name, its folder, whether it is strict

FORMAT = 1  # of what is noted
KEPT = 200  # answers, for as many directories


def folders(cwd: str) -> list[Part] | None:
    """The folders in order of precedence; None where a repository is something else, or not there."""
    shared = library()
    key = _key(cwd)
    sql = "SELECT value FROM notes WHERE key = ?"
    row = shared.database.read(lambda execute: execute(sql, (key,)).fetchone()) if key else None
    lines = _lines(row[0]) if row else None
    if lines is None:
        lines = _resolved(cwd)
        if lines is None:
            return None
        if key:
            noted = "\n".join(f"{name}\t{int(strict)}\t{root}" for name, root, strict in lines)
            shared.database.write(lambda execute: _note(execute, key, noted), 0.05)
    return [Part(name, shared.folder(root, strict)) for name, root, strict in lines]


def _key(cwd: str) -> str:
    """Everything that the answer depends on; empty where it can't be written down."""
    from skillc.library.catalog.tables import stored_path

    root = next(places.project_roots(cwd), None)
    home = places.home()
    known: list[object] = [FORMAT, root, home, os.environ.get("HOME"), sys.prefix]
    for directory in (root, home):
        for name in (places.DIRECTORY, ".rkat"):
            known.append(_stamp(os.path.join(directory, name, "skills.toml")) if directory else None)
    known += [(path, _stamp(path)) for path in sys.path]
    key = repr(known)
    return key if isinstance(stored_path(key), str) else ""


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path or os.curdir)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _lines(noted: str) -> list[Line]:
    lines = [line.split("\t", 2) for line in noted.split("\n")]
    return [(name, root, strict == "1") for name, strict, root in lines]


def _note(execute: Any, key: str, noted: str) -> None:
    if execute("SELECT count(*) FROM notes").fetchone()[0] >= KEPT:
        execute("DELETE FROM notes")
    execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, noted))


def _resolved(cwd: str) -> list[Line] | None:
    from skillc.library.configuration import SkillsConfig
    from skillc.library.embedded import EmbeddedSkillSource
    from skillc.library.filesystem import FilesystemSkillSource
    from skillc.library.repositories import resolve_repositories

    config = SkillsConfig.load(cwd)
    if config.diagnostics:
        return None  # they are to be told each time
    lines: list[Line] = []
    for named in resolve_repositories(config, next(places.project_roots(cwd), None)).sources:
        source = named.source
        inner = source.sources if isinstance(source, EmbeddedSkillSource) else [source]
        for folder in inner:
            if not isinstance(folder, FilesystemSkillSource) or (folder.required and folder.unused):
                return None
            if any(c in named.name + folder.root for c in "\t\n"):
                return None
            lines.append((named.name, folder.root, folder.strict))
    return lines
