"""The record of imports: the folder that a skill in a store is a copy of, and its digest then [D53].

`<home>/.skillc/imports.json` has an entry for each copy, by its path:

    {"/home/me/.skillc/skills/pdf": {"source": "/home/me/work/pdf", "digest": "3f…"}}

Without the file, or with one that is damaged, a copy is a folder like any other.
"""

from __future__ import annotations

import json
import os

from skillc import atomic, paths
from skillc.library.stores import Skill, at_path, is_skill, roots

Imports = dict[str, tuple[str, str]]  # source and digest by the path of the copy


def read_import(copy: str) -> tuple[str, str]:
    """Return the folder that a skill in a store was copied from and its digest then; empty if it was not."""
    return _read(paths.home()).get(copy, ("", ""))


def record_import(copy: str, source: str, digest: str) -> None:
    """Remember an import; forget those whose copy is gone.

    Without a home that can be written, the copy is a folder like any other, and nothing fails.
    """
    home = paths.home()
    if home is None:
        return
    path = paths.imports_file(home)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with atomic.Lock(f"{path}.lock"):
            entries = _read(home) | {copy: (source, digest)}
            fields = {c: {"source": s, "digest": d} for c, (s, d) in entries.items() if os.path.isdir(c)}
            atomic.write(path, json.dumps(fields, indent=1).encode())
    except OSError:
        pass


def find_import(source: str, cwd: str) -> Skill | None:
    """Return the skill that a folder was imported as: in a store of `cwd`, else in any other."""
    entries = _read(paths.home()).items()
    copies = [at_path(copy) for copy, (origin, _) in entries if origin == source and is_skill(copy)]
    order = [root for _, root in roots(cwd)]
    copies.sort(key=lambda copy: order.index(copy.root) if copy.root in order else len(order))
    return copies[0] if copies else None


def _read(home: str | None) -> Imports:
    if home is None:
        return {}
    try:
        with open(paths.imports_file(home), "rb") as file:
            fields = json.load(file)
        return {str(copy): (str(entry["source"]), str(entry["digest"])) for copy, entry in fields.items()}
    except (OSError, ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return {}
