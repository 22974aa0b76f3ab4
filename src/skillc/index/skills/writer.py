"""Write skills into the index, and remove what is gone; always inside one transaction."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from skillc.index.skills.batch import Batch
from skillc.index.skills.database import checksum
from skillc.index.skills.merge import merge_if_due, next_segment
from skillc.index.skills.near_duplicates import Traits, TwinChange
from skillc.index.skills.postings import MAX_SLOTS, delete_lists, encode_slots, store_lists
from skillc.index.skills.scan import Directory
from skillc.index.skills.snapshot import HIDDEN, OFFERED, find_folder, read_skills, seal_folder, stored_path
from skillc.text import utf8_text

if TYPE_CHECKING:
    from skillc.index.skills.folder import Folder  # imports this module where there are changes

FEW = 500  # skills of a batch up to which each ID is checked by itself

_INSERT = "INSERT INTO skills VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


def update_folder(
    execute: Any,
    folder: Folder,
    revision: int | None,
    paths: set[str],
    directories: dict[str, Directory] | None,
    batch: Batch,
) -> int:
    """Write the change to a folder that now has these paths; `directories` is None where they are the same.

    Return the new revision, or 0 where the index does not have the one that the change starts from.
    """
    number, current, _ = find_folder(execute, *folder.key)
    if current != revision:
        return 0
    rows = execute("SELECT path FROM skills WHERE folder = ?", (number,)).fetchall()
    last = {path if type(path) is str else os.fsdecode(path) for (path,) in rows}
    if not last:
        _remove_vanished_folders(execute, os.path.dirname(folder.database.path))
    write_change(execute, *folder.key, directories, last - paths, batch)
    return find_folder(execute, *folder.key)[1] or 0


def write_change(
    execute: Any,
    root: str,
    strict: bool,
    directories: dict[str, Directory] | None,
    removals: Iterable[str],
    batch: Batch,
    with_digest: bool = True,
    with_merge: bool = True,
) -> None:
    """Save a folder's directories, where they changed, remove skills, and add those of a batch.

    Only what is loaded as a snapshot needs the digest, which takes as long as the folder is large. Without
    merging, a call with it has to follow: for many batches in a row.
    """
    twins = TwinChange(execute)
    number = _save_folder(execute, root, strict, directories)
    for path in removals:
        _remove_skill(execute, twins, number, path)
    if batch.entries:
        _write_batch(execute, twins, number, batch)
    if with_merge:
        merge_if_due(execute, number)
    twins.store()
    seal_folder(execute, number, with_digest)


def _save_folder(execute: Any, root: str, strict: bool, directories: dict[str, Directory] | None) -> int:
    """Save a folder's directories, where they changed; return its number."""
    number, *_ = find_folder(execute, root, strict)
    if number is None:
        # A random first revision: a rebuilt index must not be taken for the one before.
        sql = "INSERT INTO folders (root, strict, revision) VALUES (?, ?, random() & 0xFFFFFFFFFFFF)"
        number = int(execute(sql, (stored_path(root), int(strict))).lastrowid)
    execute("UPDATE folders SET revision = revision + 1 WHERE number = ?", (number,))
    if directories is not None:
        execute("DELETE FROM directories WHERE folder = ?", (number,))
        for path, directory in directories.items():
            mtime, ctime, collection, stamp = directory.columns()
            row = number, stored_path(path), mtime, ctime, utf8_text(collection, "replace"), stamp
            execute("INSERT INTO directories VALUES (?, ?, ?, ?, ?, ?)", row)
    return number


def _write_batch(execute: Any, twins: TwinChange, folder: int, batch: Batch) -> None:
    """Insert the skills of a batch, and mark which are offered."""
    if execute("SELECT 1 FROM skills WHERE folder = ? LIMIT 1", (folder,)).fetchone():
        for entry in batch.entries:
            _remove_skill(execute, twins, folder, entry.path)
    segment = next_segment(execute)
    number = execute("SELECT coalesce(max(number), 0) FROM skills").fetchone()[0] + 1
    for place, (entry, sketch) in enumerate(zip(batch.entries, batch.sketches, strict=True)):
        at = segment + place // MAX_SLOTS, place % MAX_SLOTS
        position = (None, None) if entry.digest is None else at
        columns = entry.columns(batch.start)
        path, skill_id, _, size, mtime, ctime, description, needs, _, _, tags = columns
        contents = path, skill_id, description, needs, tags, entry.digest, size, mtime, ctime, sketch, None
        check = checksum(number + place, folder, *position, *contents)  # as COLUMNS
        execute(_INSERT, (number + place, folder, *columns, *position, entry.digest, sketch, None, check))
        if sketch is not None and entry.digest is not None:
            twins.add(number + place, Traits(skill_id, description, entry.digest, sketch))
    for place, lists in enumerate(batch.lists):
        size = min(len(batch.entries) - place * MAX_SLOTS, MAX_SLOTS)
        sql = "SELECT count(*) FROM skills WHERE segment = ?"
        (skills,) = execute(sql, (segment + place,)).fetchone()
        if skills:
            store_lists(execute, segment + place, lists.rows(size))
            row = segment + place, folder, size, skills, b""
            execute("INSERT INTO segments VALUES (?, ?, ?, ?, ?)", row)
    ids = [entry.skill_id for entry in batch.entries]
    if len(ids) >= FEW:  # rows start as offered, so that only IDs that occur twice need a check
        sql = "SELECT id FROM skills WHERE folder = ? GROUP BY id HAVING count(*) > 1"
        ids = [skill_id for (skill_id,) in execute(sql, (folder,)).fetchall()]
    for skill_id in ids:
        _mark_offer(execute, folder, skill_id)


def _remove_skill(execute: Any, twins: TwinChange, folder: int, path: str) -> None:
    key = folder, stored_path(path)
    for _, (number, _, segment, slot, _, skill_id, *_) in read_skills(
        execute, "path", key[1:], ("folder", folder)
    ):
        twins.remove(number)
        execute("DELETE FROM skills WHERE number = ?", (number,))
        if segment is not None:
            sql = (
                "UPDATE segments SET skills = skills - 1, removed = CAST(removed || ? AS BLOB)"
                " WHERE number = ?"
            )
            execute(sql, (encode_slots([slot]), segment))
        _mark_offer(execute, folder, skill_id)


def _mark_offer(execute: Any, folder: int, skill_id: str) -> None:
    """Offer a skill where it has a description and no other directory has its ID [D25]."""
    execute(
        "UPDATE skills SET offered = iif(description IS NOT NULL AND 1 = "
        "(SELECT count(*) FROM skills WHERE id = ? AND folder = ?), ?, ?) WHERE id = ? AND folder = ?",
        (skill_id, folder, OFFERED, HIDDEN, skill_id, folder),
    )


def _remove_vanished_folders(execute: Any, cache: str) -> None:
    """Remove folders of the cache that are gone: each commit of a repository has a folder of its own."""
    for number, root in execute("SELECT number, root FROM folders").fetchall():
        path = os.fsdecode(root)
        if path.startswith(cache + os.sep) and not os.path.exists(path):
            twins = TwinChange(execute)
            for (skill,) in execute("SELECT number FROM skills WHERE folder = ?", (number,)).fetchall():
                twins.remove(skill)
            for (segment,) in execute("SELECT number FROM segments WHERE folder = ?", (number,)).fetchall():
                delete_lists(execute, segment)
            for table in ("skills", "segments", "directories"):
                execute(f"DELETE FROM {table} WHERE folder = ?", (number,))  # noqa: S608 -- our own words
            twins.store()
            execute("DELETE FROM folders WHERE number = ?", (number,))
