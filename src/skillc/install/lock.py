"""The lock file: `skills-lock.json`, which the npm package `skills` writes and reads, too.

    {"version": 1, "skills": {"pdf": {"source": "acme/skills", "sourceType": "github",
      "skillPath": "skills/pdf/SKILL.md", "computedHash": "3f…", "skillc": {"v": 1, "commit": "9c…", …}}}}

Ours is under `skillc` in each entry; what others put into an entry stays. A project's lock is in its root.
The home's is `~/.skillc/skills-lock.json`; the npm package's global file, which has no room for ours, is kept
in step with it (`global_lock`). A file that can't be read is an error, never an empty lock: writing it again
would lose what it holds.
"""

from __future__ import annotations

import json
import os

from skillc import atomic, errors, paths
from skillc.install import javascript
from skillc.install.entry import KEYS, OWN, LockEntry
from skillc.library import lock_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from skillc.errors import Diagnostic

    Fields = dict[str, Any]

VERSION = 1
MAX_BYTES = 16 << 20
DAMAGED = "its 'skillc' part in the lock is damaged, or was edited by hand"
DAMAGE_ADVICE = "bring the lock back with git, or look at the entry; 'skc doctor --fix' takes it as it is"
_ADVICE = "mend it, or bring back the last good one with git"


def find_root(cwd: str, *, is_global: bool = False) -> str:
    """Return the project whose lock counts in a directory: the nearest one with a lock, else the nearest.

    Without a project, or with `is_global`, it is the home.
    """
    if not is_global:
        for roots in (paths.lock_roots(cwd), paths.project_roots(cwd)):
            for root in roots:
                return root
    return paths.require_home()


def lock_file(root: str) -> str:
    """Return the lock of a project, or of the home."""
    folder = os.path.join(root, paths.DIRECTORY) if is_home(root) else root
    return os.path.join(folder, paths.LOCK_FILE)


def read_lock(root: str) -> dict[str, LockEntry]:
    """Return the entries of a lock by name; none where there is no file. Raises InvalidConfiguration."""
    path = lock_file(root)
    entries = _entries(path, _load(path))
    return {name: LockEntry(name, fields) for name, fields in entries.items()}


def require_intact(entries: Iterable[LockEntry]) -> None:
    """Raise LockUnsatisfied for an entry whose part of ours is not as skc wrote it."""
    for entry in entries:
        if entry.is_damaged:
            raise errors.LockUnsatisfied(entry.name, DAMAGED, f"hint: {DAMAGE_ADVICE}")


def change_lock(
    root: str, *, record: Iterable[LockEntry] = (), forget: Iterable[str] = ()
) -> list[Diagnostic]:
    """Add or replace entries and take others out, in one step; return warnings.

    The caller holds the lock of the store (`lock_store`), and read the entries under it. Fields of other
    tools stay in an entry whose source is the same. The npm package's global file takes the
    changes of the home's lock, too. Nothing is written where nothing changes.
    """
    path, changes, removals = lock_file(root), list(record), set(forget)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with atomic.Lock(paths.mutex_file(path)):
        last = _load(path)
        entries = {name: each for name, each in _entries(path, last).items() if name not in removals}
        for entry in changes:
            entries[entry.name] = _merge(entries.get(entry.name, {}), entry.fields)
        _update_file(path, root, _text_of(last, entries), has_entries=bool(entries))
    if not is_home(root):
        return []
    from skillc.install.global_lock import change_global_lock  # only for the home

    return change_global_lock(changes, removals)


def set_pins(root: str, names: Iterable[str], is_pinned: bool) -> list[Diagnostic]:
    """Note in the lock whether skills are pinned; return warnings. One that is not there is SkillNotFound."""
    with lock_store(root):
        entries = read_lock(root)
        for name in names:
            if name not in entries:
                raise errors.SkillNotFound(name, "it is not in the lock")
        require_intact(entries[name] for name in names)
        return change_lock(root, record=[entries[name].with_own(pinned=is_pinned) for name in names])


def accept_entry(root: str, name: str) -> str:
    """Take our part of an entry as it is now, after a person looked at it; return what was done."""
    with lock_store(root):
        change_lock(root, record=[read_lock(root)[name].sealed()])
    return f"took the lock's entry of '{name}' as it is"


def _merge(old: Fields, new: Fields) -> Fields:
    """Return a new entry with what other tools had put into the old one."""
    if any(old.get(key) != new.get(key) for key in ("source", "sourceType")):
        return new
    others = {key: content for key, content in old.items() if key not in (*KEYS, OWN)}
    own = {OWN: new[OWN]} if OWN in new else {}
    return {**{key: content for key, content in new.items() if key != OWN}, **others, **own}


def _text_of(last: Fields, entries: Mapping[str, Fields]) -> str:
    """Return a lock with these entries as the npm package writes it."""
    skills = {name: entries[name] for name in sorted(entries, key=javascript.key_order)}
    return javascript.dump({"version": VERSION, **last, "skills": skills}) + "\n"


def _update_file(path: str, root: str, text: str, *, has_entries: bool) -> None:
    try:
        last = paths.read_regular(path, MAX_BYTES).decode()
    except FileNotFoundError:
        last = ""
        if not has_entries:
            return
    if text != last:
        atomic.write(_place(path, root), text.encode(), durable=True)


def _place(path: str, root: str) -> str:
    """Return the file to replace: a link is followed, but not out of the project."""
    real = os.path.realpath(path)
    if os.path.islink(path) and not is_home(root) and not paths.is_inside(real, os.path.realpath(root)):
        raise errors.InvalidConfiguration(
            path, f"it is a link to '{real}', outside of the project; remove the link"
        )
    return real


def _load(path: str) -> Fields:
    """Return the content of a lock file, checked; an empty one where there is none."""
    try:
        text = paths.read_regular(path, MAX_BYTES).decode()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise errors.InvalidConfiguration(path, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise errors.InvalidConfiguration(path, f"it is not UTF-8; {_ADVICE}") from None
    try:
        content = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        has_marks = "\n<<<<<<< " in f"\n{text}"
        reason = "it has git's marks of a conflict" if has_marks else f"it is not valid JSON ({error})"
        raise errors.InvalidConfiguration(path, f"{reason}; {_ADVICE}") from None
    version = content.get("version") if isinstance(content, dict) else None
    if type(version) not in (int, float) or not isinstance(content.get("skills"), dict):
        raise errors.InvalidConfiguration(path, f"it has no 'version' and 'skills'; {_ADVICE}")
    if version != VERSION:
        raise errors.InvalidConfiguration(
            path, f"its version is {version}, and this skc knows {VERSION} only"
        )
    return dict(content)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _entries(path: str, content: Fields) -> dict[str, Fields]:
    entries = content.get("skills", {})
    for name, fields in entries.items():
        if not isinstance(fields, dict):
            raise errors.InvalidConfiguration(path, f"the entry '{name}' is not an object; {_ADVICE}")
    return dict(entries)


def is_home(root: str) -> bool:
    """Return whether a root is the home, not a project."""
    home = paths.home()
    return home is not None and os.path.realpath(root) == os.path.realpath(home)
