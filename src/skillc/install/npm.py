"""What the npm package `skills` shares with skc: its hash of a folder, its JSON, and its global lock file.

The hash, `computedHash` in a lock, is a SHA-256 over the path and the bytes of one file after the other, in
the order of JavaScript's `localeCompare` of the paths. Dot-files count; links, `.git` and `node_modules` do
not. Other files can have the same: what is installed is compared by its digest [D64].
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from skillc import atomic, paths
from skillc.collation import sort_names
from skillc.errors import Diagnostic, warning
from skillc.startup import MUCH, new_sha256

if TYPE_CHECKING:
    from skillc.install.entry import LockEntry

MAX_BYTES = 16 << 20
LEFT_OUT = (".git", "node_modules")  # of the hash
GLOBAL_VERSION = 3  # of the global lock file
GLOBAL_KEYS = ("source", "sourceType", "sourceUrl", "ref", "skillPath", "skillFolderHash", "wellKnownDigest")


def compute_hash(folder: str, links: Collection[str] = ()) -> str:
    """Return the `computedHash` of a skill's folder; `links` are names that were links where it came from."""
    names = {name: path for name, path in _walk_files(folder) if not _is_below(name, links)}
    whole = new_sha256(MUCH)
    for name in sort_names(names):
        whole.update(name.encode("utf-8", "replace"))
        with open(names[name], "rb") as file:
            while piece := file.read(MUCH):
                whole.update(piece)
    return whole.hexdigest()


def _walk_files(folder: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield name and path of each file that counts for `computedHash`; names have forward slashes."""
    with os.scandir(folder) as entries:
        children = sorted(entries, key=lambda entry: entry.name)
    for entry in children:
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in LEFT_OUT:
                yield from _walk_files(entry.path, f"{prefix}{entry.name}/")
        elif entry.is_file(follow_symlinks=False):
            yield prefix + entry.name, entry.path


def _is_below(name: str, links: Collection[str]) -> bool:
    words = name.split("/") if links else []
    return any("/".join(words[: count + 1]) in links for count in range(len(words)))


def dump(content: object) -> str:
    """Return what JavaScript's `JSON.stringify(content, null, 2)` gives.

    Two tools that share a file leave it byte for byte the same.
    """
    text = json.dumps(content, indent=2, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace").decode()  # half a character is an escape there, too


def key_order(key: str) -> tuple[bool, int, bytes]:
    """Return what the keys of an object are sorted by: numbers come first, then text in UTF-16.

    >>> sorted(["b", "a", "10", "9", "01", "B"], key=key_order)
    ['9', '10', '01', 'B', 'a', 'b']
    """
    text = key.encode("utf-16-be", "surrogatepass")
    is_index = key.isascii() and key.isdecimal() and len(key) <= 10 and str(int(key)) == key
    is_index = is_index and int(key) < 2**32 - 1
    return (False, int(key), b"") if is_index else (True, 0, text)


def global_lock_file() -> str | None:
    """Return the path of the global file; None without a home."""
    state = os.environ.get("XDG_STATE_HOME")
    if state:
        return os.path.join(state, "skills", ".skill-lock.json")
    home = paths.user_home()
    return os.path.join(home, ".agents", ".skill-lock.json") if home else None


def change_global_lock(record: list[LockEntry], forget: set[str]) -> list[Diagnostic]:
    """Change the npm package's global file in the same way, so that it knows of the same skills.

    Its other keys and entries stay as they are. A file that can't be used is left alone, with a warning.
    """
    path = global_lock_file()
    if path is None or not (record or forget):
        return []
    try:
        with atomic.Lock(paths.mutex_file(path)):
            content = _load_global(path)
            last = dict(content["skills"])
            skills = {name: fields for name, fields in last.items() if name not in forget}
            for entry in record:
                old = skills.get(entry.name)
                skills[entry.name] = _global_fields(entry, old if isinstance(old, dict) else {})
            if skills != last:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                atomic.write(
                    os.path.realpath(path), dump(content | {"skills": skills}).encode(), durable=True
                )
    except (OSError, ValueError, RecursionError) as error:
        return [warning("W085", path, getattr(error, "strerror", None) or error)]
    return []


def _load_global(path: str) -> dict[str, Any]:
    try:
        content = json.loads(paths.read_regular(path, MAX_BYTES))
    except FileNotFoundError:
        return {"version": GLOBAL_VERSION, "skills": {}, "dismissed": {}}
    if not isinstance(content, dict) or not isinstance(content.get("skills"), dict):
        raise ValueError("it is no lock file")
    if content.get("version") != GLOBAL_VERSION:
        raise ValueError(f"its version is {content.get('version')}, not {GLOBAL_VERSION}")
    return content


def _global_fields(entry: LockEntry, old: dict[str, Any]) -> dict[str, Any]:
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
    if all(old.get(key, "") == content[key] for key in GLOBAL_KEYS):
        return old
    is_same = old.get("source") == fields["source"]
    others = {key: value for key, value in old.items() if is_same and key not in content}
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {**fields, **others, "installedAt": old.get("installedAt", now), "updatedAt": now}
