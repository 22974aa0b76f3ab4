"""The folders that are searched from a directory, without reading any configuration twice.

Which repositories there are is a matter of TOML, of the packages that are installed and of classes that cost
more to import than a search. Where all of them are folders, the answer is noted in the index beside what
it depends on: files and directories with their times of change.
"""

from __future__ import annotations

import os
import sys

from skillc import paths
from skillc.index import stamp_file
from skillc.index.skills import Searchable, skill_index, stored_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Line = tuple[str, str, bool, bool]  # a repository's name, its folder, whether strict, whether required

FORMAT = 2  # of what is noted
KEPT = 200  # answers, for as many directories


def folders(cwd: str) -> list[Searchable] | None:
    """The folders in order of precedence.

    None where a repository is something else or not there, and where skills are switched off.
    """
    shared = skill_index()
    key = _key(cwd)
    sql = "SELECT value FROM notes WHERE key = ?"
    row = shared.database.read(lambda execute: execute(sql, (key,)).fetchone()) if key else None
    lines = _lines(row[0]) if row else None
    if lines is None:
        lines = _resolved(cwd)
        if lines is None:
            return None
        if key:
            noted = "\n".join(
                f"{name}\t{int(strict)}\t{int(required)}\t{root}" for name, root, strict, required in lines
            )
            shared.database.write(lambda execute: _note(execute, key, noted), 0.05)
    if not all(_readable(root) for _, root, _, required in lines if required):
        return None
    return [Searchable(name, shared.folder(root, strict)) for name, root, strict, _ in lines]


def _key(cwd: str) -> str:
    """Everything that the answer depends on; empty where it can't be written down."""
    roots = list(paths.library_roots(cwd))
    home = paths.home()
    known: list[object] = [FORMAT, roots, home, os.environ.get("HOME"), sys.prefix]
    for directory in (*roots, *([home] if home else [])):
        for name in (paths.DIRECTORY, paths.ALTERNATIVE):
            known.append(stamp_file(os.path.join(directory, name, "skills.toml")))
    known += [(path, stamp_file(path or os.curdir)) for path in sys.path]
    key = repr(known)
    return key if isinstance(stored_path(key), str) else ""


def _readable(root: str) -> bool:
    return os.path.isdir(root) and os.access(root, os.R_OK | os.X_OK)


def _lines(noted: str) -> list[Line]:
    lines = [line.split("\t", 3) for line in noted.split("\n")]
    return [(name, root, strict == "1", required == "1") for name, strict, required, root in lines]


def _note(execute: Any, key: str, noted: str) -> None:
    if execute("SELECT count(*) FROM notes").fetchone()[0] >= KEPT:
        execute("DELETE FROM notes")
    execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, noted))


def _resolved(cwd: str) -> list[Line] | None:
    from skillc.library.config import SkillsConfig
    from skillc.library.embedded import EmbeddedSkillSource
    from skillc.library.filesystem import FilesystemSkillSource
    from skillc.library.repositories import resolve_repositories

    config = SkillsConfig.load(cwd)
    if config.diagnostics or not config.enabled:
        return None  # the first are to be told each time, and the second finds nothing
    lines: list[Line] = []
    for named in resolve_repositories(config, next(paths.library_roots(cwd), None)).sources:
        source = named.source
        inner = source.sources if isinstance(source, EmbeddedSkillSource) else [source]
        for folder in inner:
            if not isinstance(folder, FilesystemSkillSource):
                return None
            if any(c in named.name + folder.root for c in "\t\n"):
                return None
            lines.append((named.name, folder.root, folder.strict, folder.required))
    return lines
