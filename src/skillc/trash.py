"""The trash: what skc replaces or removes and did not itself write is kept in `~/.skillc/trash` [D52].

Each item is a directory with `note.json`, which says where it was, when and why it went, and `content`,
the file or folder itself. The note is written first and the content moved in one step: a process that is
killed leaves the original in its place or in the trash, never in neither.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import gmtime, strftime, time_ns
from typing import Any

from skillc import atomic, paths, records
from skillc.contract import HIDDEN, KEY, hidden
from skillc.errors import NotInTrash, PathEscapes, PlaceTaken, SkillcError
from skillc.spelling import did_you_mean

NOTE, CONTENT = "note.json", "content"
MAX_NOTE = 1 << 20  # bytes
VERSION = 2
UNSEALED = 1  # in notes from before, which have no digest inside, the key is "v"


@dataclass(frozen=True, slots=True)
class TrashItem:
    """Something in the trash: `origin` is where it was, `path` where it is."""

    id: str
    path: str
    origin: str = field(metadata={KEY: "from"})
    when: str
    reason: str
    parent: str = hidden("")  # the folder that it was in, without links; empty in old notes
    memory: Mapping[str, Any] = field(default_factory=dict, metadata=HIDDEN)  # of what it was [D67]


def directory() -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "trash")


def put(
    path: str, reason: str, *, origin: str = "", link: str = "", memory: Mapping[str, Any] | None = None
) -> TrashItem:
    """Move anything to the trash; `origin` is where it was, if `path` is a temporary name.

    `memory` is what is to be remembered besides, as JSON; one that is too large is left out.

    With `link`, a symbolic link to that folder takes its place in the same step. Where the system can't
    exchange two names, the place is empty for a moment.
    """
    nanoseconds = time_ns()
    now = gmtime(nanoseconds // 10**9)
    origin = os.path.abspath(origin or path)
    name = os.fsencode(os.path.basename(origin))[:64].decode("utf-8", "ignore")
    fraction = nanoseconds % 10**9 // 1000  # so that IDs sort by time
    item_id = f"{strftime('%Y%m%dT%H%M%S', now)}{fraction:06}-{os.urandom(2).hex()}-{name}"
    folder = os.path.join(directory(), item_id)
    os.makedirs(folder, mode=0o700)
    content, when = os.path.join(folder, CONTENT), strftime("%Y-%m-%dT%H:%M:%SZ", now)
    item = TrashItem(item_id, content, origin, when, reason, os.path.realpath(os.path.dirname(origin)))
    fields = {"version": VERSION, "id": item_id, "path": content, "from": origin, "when": when}
    fields |= {"reason": reason, "parent": item.parent}
    note = _encode(fields | {"memory": dict(memory or {})})
    if len(note) > MAX_NOTE:
        note = _encode(fields)
    atomic.write(os.path.join(folder, NOTE), note, durable=True)
    try:
        if not (link and _exchange_for_link(path, item.path, link)):
            _move(path, item.path)
            if link:
                os.symlink(link, path, target_is_directory=True)
    except BaseException:
        if not os.path.lexists(item.path):
            atomic.discard(folder)
        raise
    return item


def _encode(fields: Mapping[str, Any]) -> bytes:
    text = json.dumps(records.seal(fields), indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace")  # half a character is an escape in JSON, too


def items() -> list[TrashItem]:
    """Return what is in the trash, the newest first."""
    try:
        names = sorted(os.listdir(directory()), reverse=True)
    except FileNotFoundError:
        return []
    return [item for name in names if (item := _read(os.path.join(directory(), name))) is not None]


def find(name: str) -> TrashItem:
    """Return the newest item with this ID, path or last part of a path; raise NotInTrash without one."""
    for item in items():
        if name in (item.id, os.path.basename(item.origin)) or os.path.abspath(name) == item.origin:
            return item
    question = did_you_mean(name, [os.path.basename(item.origin) for item in items()])
    raise NotInTrash(name, f"hint: {question}" if question else "")


def check_place(item: TrashItem) -> None:
    """Raise PlaceTaken if something else is now where an item was, and PathEscapes for another folder."""
    if not item.origin:
        raise SkillcError(f"it is not known where '{item.id}' was; copy it from '{item.path}'")
    if os.path.lexists(item.origin):
        raise PlaceTaken(item.origin, f"hint: move it away first; '{item.id}' stays in the trash")
    parent = os.path.dirname(item.origin)
    if item.parent and os.path.realpath(parent) != item.parent:  # a link since then, which a clone may bring
        hint = f"hint: '{parent}' leads to '{os.path.realpath(parent)}' now; '{item.id}' stays in the trash"
        raise PathEscapes(item.origin, hint)


def restore(item: TrashItem) -> str:
    """Put an item back where it was and return that path; raise what `check_place` does."""
    check_place(item)
    os.makedirs(os.path.dirname(item.origin), exist_ok=True)
    _move(item.path, item.origin)
    atomic.discard(os.path.dirname(item.path))
    return item.origin


def delete(item: TrashItem) -> None:
    """Delete an item for good."""
    shutil.rmtree(os.path.dirname(item.path))


def _read(folder: str) -> TrashItem | None:
    content = os.path.join(folder, CONTENT)
    try:
        data = paths.read_regular(os.path.join(folder, NOTE), MAX_NOTE)
        note = json.loads(data.decode("utf-8", "surrogateescape"))
        if not (note.get("v") == UNSEALED or records.is_sealed(note)):
            raise ValueError(folder)
        fields = [str(note[key]) for key in ("from", "when", "reason")] + [str(note.get("parent", ""))]
        memory = dict(note.get("memory", {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        fields, memory = ["", "", "its note can't be read", ""], {}
    origin, when, reason, parent = fields
    item = TrashItem(os.path.basename(folder), content, origin, when, reason, parent, memory)
    return item if os.path.lexists(content) else None


def _exchange_for_link(path: str, content: str, link: str) -> bool:
    """Swap what is at `path` for a link in one step, and have it at `content`; return whether that worked."""
    try:
        os.symlink(link, content, target_is_directory=True)
    except (OSError, NotImplementedError):
        return False
    if atomic.exchange(path, content):
        return True
    os.unlink(content)
    return False


def copy(source: str, target: str) -> None:
    """Copy a file, a link or a folder with its links; pipes, sockets and devices hold nothing to keep."""
    if os.path.isdir(source) and not os.path.islink(source):
        shutil.copytree(source, target, symlinks=True, ignore=_find_special)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def _find_special(folder: str, names: list[str]) -> list[str]:
    kinds = {name: stat.S_IFMT(os.lstat(os.path.join(folder, name)).st_mode) for name in names}
    return [name for name, kind in kinds.items() if kind not in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)]


def _move(source: str, target: str) -> None:
    """Move anything to a free name; across file systems the original goes only when the copy is complete."""
    try:
        os.rename(source, target)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    temporary = atomic.temporary_path(target)
    try:
        copy(source, temporary)
        os.rename(temporary, target)
    except BaseException:
        atomic.discard(temporary)
        raise
    atomic.discard(source)


def measure_size(path: str) -> int:
    """Return the bytes of a file, or of all files in a folder; links are not followed."""
    if os.path.islink(path) or not os.path.isdir(path):
        return _file_size(path)
    return sum(_file_size(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def _file_size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0
