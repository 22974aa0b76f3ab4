"""Imports: the folder that a skill in a store is a copy of, and whether a person adopted the copy [D46, D53].

    <home>/.skillc/imports/<hash of the copy's path>.json
    {"copy": "/home/me/.skillc/skills/pdf", "source": "/home/me/work/pdf", "digest": "3f…", "adopted": false}

There is a note for each copy, written before the copy. A skill in the home's store that has one is not the
user's own until it is adopted, whatever else the note says. Notes are neither in the skill nor in a project,
where a tool or a repository could write them.
"""

from __future__ import annotations

import json
import os

from skillc import atomic, paths, records
from skillc.library.stores import Skill, at_path, is_skill, roots

Note = dict[str, object]
MAX_BYTES = 1 << 16
VERSION = 1  # notes from before have neither a version nor a digest inside
UNSEALED = 0


def record_imports(*imports: tuple[str, str, str]) -> None:
    """Note that folders are made from others: the copy, its source, and the source's digest; none is adopted.

    They are on the disk together. A copy in a project is never trusted and needs no note, which only tells a
    later build what it copied.
    """
    home = paths.home()
    if home is None:
        return
    notes = [{"copy": c, "source": s, "digest": d, "adopted": False} for c, s, d in imports]
    try:
        _write(home, *notes)
    except OSError:
        if any(_find_copy(str(note["copy"])) is not None for note in notes):
            raise


def read_import(copy: str) -> tuple[str, str]:
    """Return the folder that a skill in a store was copied from and its digest then; empty if it was not."""
    note = _read(_note_file(copy)) or {}
    return str(note.get("source", "")), str(note.get("digest", ""))


def renew_import(copy: str, digest: str) -> None:
    """Note that a copy and its folder both have this digest now: the same edit was made in them.

    Nothing is copied, so who adopted the copy keeps it.
    """
    home, note = paths.home(), _read(_note_file(copy))
    if home is not None and note:
        origin = str(note.get("source", ""))
        adopted = note.get("adopted") is True
        _write(home, {"copy": copy, "source": origin, "digest": digest, "adopted": adopted})


def find_import(source: str, cwd: str) -> Skill | None:
    """Return the skill that a folder was imported as: in a store of `cwd`, else in any other."""
    home = paths.home()
    directory = paths.imports_directory(home) if home else ""
    names = os.listdir(directory) if os.path.isdir(directory) else []
    notes = [_read(os.path.join(directory, name)) or {} for name in names]
    copies = [str(note["copy"]) for note in notes if note.get("source") == source and "copy" in note]
    skills = [at_path(copy) for copy in copies if is_skill(copy)]
    order = [root for _, root in roots(cwd)]
    return min(skills, key=lambda s: order.index(s.root) if s.root in order else len(order), default=None)


def import_origin(source: str) -> str | None:
    """Return the folder that the skill at `source` was imported from; None for one that is the user's own."""
    copy = _find_copy(source)
    note = _read(_note_file(copy)) if copy else None
    if note is None or note.get("adopted") is True:
        return None
    return str(note.get("source", "")) or "elsewhere"


def adopt_import(source: str) -> None:
    """Note that the skill at `source` is the user's own now."""
    home, copy = paths.home(), _find_copy(source)
    if home is not None and copy is not None and os.path.lexists(_note_file(copy)):
        origin, digest = read_import(copy)
        _write(home, {"copy": copy, "source": origin, "digest": digest, "adopted": True})


def _find_copy(source: str) -> str | None:
    """Return the folder in the home's store that a canonical path is in; None outside of the store."""
    home = paths.home()
    store = os.path.join(os.path.realpath(paths.skills_store(home)), "") if home else ""
    return store + source[len(store) :].split(os.sep)[0] if home and source.startswith(store) else None


def _note_file(copy: str) -> str:
    directory = paths.imports_directory(paths.home() or "")
    return os.path.join(directory, f"{paths.path_hash(copy)}.json")


def _read(path: str) -> Note | None:
    """Return a note; None if there is none, and an empty one for what can't be read."""
    try:
        return records.read_record(path, MAX_BYTES, unsealed=UNSEALED)
    except (OSError, ValueError):
        return {} if os.path.lexists(path) else None


def _write(home: str, *notes: Note) -> None:
    directory = paths.imports_directory(home)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    sealed = {str(note["copy"]): records.seal({"version": VERSION, **note}) for note in notes}
    files = {_note_file(copy): json.dumps(note).encode() for copy, note in sealed.items()}
    atomic.write_all(files, private=True)
