"""The global file of the npm package `skills`: `~/.agents/.skill-lock.json`, version 3.

The home's store has its lock in `~/.skillc/skills-lock.json`; this file is kept in step with it, so that the
other tool knows of the same skills. Its other keys and other entries stay as they are.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any

from skillc import atomic, paths
from skillc.errors import Diagnostic, warning
from skillc.install import javascript
from skillc.install.entry import LockEntry

VERSION = 3
MAX_BYTES = 16 << 20
KEYS = ("source", "sourceType", "sourceUrl", "ref", "skillPath", "skillFolderHash", "wellKnownDigest")


def global_lock_file() -> str | None:
    """Return the path of the global file; None without a home."""
    state = os.environ.get("XDG_STATE_HOME")
    if state:
        return os.path.join(state, "skills", ".skill-lock.json")
    home = paths.user_home()
    return os.path.join(home, ".agents", ".skill-lock.json") if home else None


def change_global_lock(record: list[LockEntry], forget: set[str]) -> list[Diagnostic]:
    """Add or replace entries and take others out; leave a file that can't be used alone, and warn."""
    path = global_lock_file()
    if path is None or not (record or forget):
        return []
    try:
        with atomic.Lock(paths.mutex_file(path)):
            _change(path, record, forget)
    except (OSError, ValueError, RecursionError) as error:
        return [warning("W085", path, getattr(error, "strerror", None) or error)]
    return []


def _change(path: str, record: list[LockEntry], forget: set[str]) -> None:
    content = _read(path)
    skills = content["skills"]
    changes = [skills.pop(name) for name in forget if name in skills]
    for entry in record:
        old = skills.get(entry.name)
        new = _fields(entry, old if isinstance(old, dict) else {})
        if new != old:
            skills[entry.name] = new
            changes.append(new)
    if changes:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        atomic.write(os.path.realpath(path), javascript.dump(content).encode(), durable=True)


def _read(path: str) -> dict[str, Any]:
    try:
        content = json.loads(paths.read_regular(path, MAX_BYTES))
    except FileNotFoundError:
        return {"version": VERSION, "skills": {}, "dismissed": {}}
    if not isinstance(content, dict) or not isinstance(content.get("skills"), dict):
        raise ValueError("it is no lock file")
    if content.get("version") != VERSION:
        raise ValueError(f"its version is {content.get('version')}, not {VERSION}")
    return content


def _fields(entry: LockEntry, old: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of the global file: the old one where nothing changed, else with the time."""
    kind, source = entry.text("sourceType"), entry.text("source")
    url = entry.text("sourceUrl") or (f"https://github.com/{source}.git" if kind == "github" else source)
    if kind == "local":
        source = url = os.path.normpath(os.path.join(paths.require_home(), paths.DIRECTORY, source))
    content = {
        "source": source,
        "sourceType": kind,
        "sourceUrl": url,
        "ref": entry.text("ref"),
        "skillPath": entry.text("skillPath"),
        "skillFolderHash": entry.own_text("tree") if kind == "github" else entry.hash,
        "wellKnownDigest": entry.text("wellKnownDigest"),
    }
    if kind == "well-known":
        content |= {"skillFolderHash": "", "sourceBaseUrl": url}
    fields = {key: text for key, text in content.items() if text or key == "skillFolderHash"}
    if all(old.get(key, "") == content[key] for key in KEYS):
        return old
    others = (
        {} if old.get("source") != fields["source"] else {k: v for k, v in old.items() if k not in content}
    )
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {**fields, **others, "installedAt": old.get("installedAt", now), "updatedAt": now}
