"""Which skills of the home's store were imported: they came from elsewhere, and are not the user's own [D46].

    <home>/.skillc/imports/<skill>      the folder that the skill was copied from

There is a note for each, written before the copy. Its presence counts, whatever it says. It is neither in
the skill nor in a project, where a tool or a repository could write it.
"""

from __future__ import annotations

import os

from skillc import atomic, paths


def record_import(skill: str, origin: str) -> None:
    """Note that a skill of the home's store comes from the folder `origin`."""
    directory = paths.imports_directory(paths.require_home())
    os.makedirs(directory, mode=0o700, exist_ok=True)
    atomic.write(os.path.join(directory, skill), os.fsencode(origin), durable=True, private=True)


def import_origin(source: str) -> str | None:
    """Return the folder that the skill at `source` was imported from; None for one that was not."""
    note = _find_note(source)
    if note is None or not os.path.lexists(note):
        return None
    try:
        with open(note, "rb") as file:
            return os.fsdecode(file.read(8192)) or "elsewhere"
    except OSError:
        return "elsewhere"


def forget_import(source: str) -> None:
    """Remove the note about the skill at `source`: it is the user's own now."""
    note = _find_note(source)
    if note is not None and os.path.lexists(note):
        os.unlink(note)


def _find_note(source: str) -> str | None:
    """Return the note about a canonical path; None outside of the home's store."""
    home = paths.home()
    store = os.path.join(os.path.realpath(paths.skills_store(home)), "") if home else ""
    if not home or not source.startswith(store):
        return None
    return os.path.join(paths.imports_directory(home), source[len(store) :].split(os.sep)[0])
