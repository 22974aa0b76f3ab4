"""The lock file: `skills-lock.json`, which the npm package `skills` writes and reads, too.

    {"version": 1, "skills": {"pdf": {"source": "acme/skills", "sourceType": "github",
      "skillPath": "skills/pdf/SKILL.md", "computedHash": "3f…", "skillc": {"v": 1, "commit": "9c…", …}}}}

Ours is under `skillc` in each entry; what others put into an entry stays. A project's lock is in its root.
The home's is `~/.skillc/skills-lock.json`; the npm package's own global file, `~/.agents/.skill-lock.json`,
has no room for ours and is kept in step with it. A file that can't be read is an error, never an empty lock:
writing it again would lose what it holds.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, NoReturn

from skillc import atomic, errors, paths
from skillc.errors import Diagnostic, warning
from skillc.install.entry import KEYS, OWN, LockEntry
from skillc.library import GLOBAL, PROJECT, Skill, import_root, is_path, resolve_installed
from skillc.skills import is_name, to_segment
from skillc.spelling import suggest

Fields = dict[str, Any]

VERSION = 1
MAX_BYTES = 16 << 20
GLOBAL_VERSION = 3  # of the npm package's global file
GLOBAL_KEYS = ("source", "sourceType", "sourceUrl", "ref", "skillPath", "skillFolderHash", "wellKnownDigest")
DAMAGED = "its 'skillc' part in the lock is damaged, or was edited by hand"
DAMAGE_ADVICE = "bring the lock back with git, or look at the entry; 'skc doctor --fix' takes it as it is"
_ADVICE = "correct it, or bring back the last good one with git"


def find_root(cwd: str, *, is_global: bool = False) -> str:
    """Return the project whose lock counts in a directory: the nearest one with a lock, else the nearest.

    Without a project, or with `is_global`, it is the home.
    """
    if not is_global:
        for roots in (paths.lock_roots(cwd), paths.project_roots(cwd)):
            for root in roots:
                return root
    return paths.require_home()


def choose_root(cwd: str, scope: str = "") -> str:
    """Return whose store new skills go into: the project around `cwd`, or the home if there is no project."""
    if scope == GLOBAL:
        return paths.require_home()
    return next(paths.project_roots(cwd), os.path.realpath(cwd)) if scope == PROJECT else import_root(cwd)[1]


def lock_file(root: str) -> str:
    """Return the lock of a project, or of the home."""
    return os.path.join(lock_folder(root), paths.LOCK_FILE)


def lock_folder(root: str) -> str:
    """Return the folder of the lock of a project, or of the home; local sources are relative to it."""
    return os.path.join(root, paths.DIRECTORY) if paths.is_home(root) else root


def read_lock(root: str) -> dict[str, LockEntry]:
    """Return the entries of a lock by name; none where there is no file. Raises InvalidConfiguration."""
    path = lock_file(root)
    content = _parse(path, _read(path))
    return {name: LockEntry(name, fields) for name, fields in content.get("skills", {}).items()}


def read_locked(cwd: str, *, is_global: bool = False) -> dict[str, LockEntry]:
    """Return the entries of the lock that counts in a directory, or of the home's."""
    return read_lock(find_root(cwd, is_global=is_global))


def find_entries(root: str, names: Iterable[str], cwd: str) -> list[LockEntry]:
    """Return the entries of a lock with these names, or all; raises SkillNotFound.

    A path to a skill of the store means its name [D69].
    """
    entries = read_lock(root)
    names = [_name_of(root, name, cwd) if is_path(name) else name for name in names]
    for name in names:
        if name not in entries:
            error = errors.SkillNotFound(name, "it is not in the lock", suggest(name, entries))
            hint = "hint: only skills that 'skc add' brought are in it; 'skc lock' lists them"
            if os.path.isdir(store_folder(root, name)):
                hint = "hint: it is in the store, but did not come by 'skc add', and so has no versions"
            error.details = error.details or hint
            raise error
    return [entries[name] for name in dict.fromkeys(names or sorted(entries))]


def _name_of(root: str, path: str, cwd: str) -> str:
    """Return the name of the skill that a path means, if it is one of the store."""
    skill = resolve_installed(path, cwd)
    is_here = skill.is_stored and os.path.realpath(skill.root) == os.path.realpath(root)
    return skill.name if is_here else path


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
        text = _read(path)
        last = _parse(path, text)
        entries = {name: each for name, each in last.get("skills", {}).items() if name not in removals}
        for entry in changes:
            entries[entry.name] = _merge(entries.get(entry.name, {}), entry.fields)
        skills = {name: entries[name] for name in sorted(entries, key=key_order)}
        new = dump({"version": VERSION, **last, "skills": skills}) + "\n"  # as the npm package writes it
        if new != text and (skills or text is not None):
            atomic.write(_place(path, root), new.encode(), durable=True)
    return change_global_lock(changes, removals) if paths.is_home(root) else []


def _merge(old: Fields, new: Fields) -> Fields:
    """Return a new entry with what other tools had put into the old one."""
    if any(old.get(key) != new.get(key) for key in ("source", "sourceType")):
        return new
    others = {key: content for key, content in old.items() if key not in (*KEYS, OWN)}
    own = {OWN: new[OWN]} if OWN in new else {}
    return {**{key: content for key, content in new.items() if key != OWN}, **others, **own}


def _place(path: str, root: str) -> str:
    """Return the file to replace: a link is followed, but not out of the project."""
    real = os.path.realpath(path)
    if os.path.islink(path) and not paths.is_home(root) and paths.leads_out(path, root):
        reason = f"it is a link to '{real}', outside of the project; remove the link"
        raise errors.InvalidConfiguration(path, reason)
    return real


def _read(path: str) -> str | None:
    """Return the text of a lock file; None where there is none."""
    try:
        return paths.read_regular(path, MAX_BYTES).decode()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise errors.InvalidConfiguration(path, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise errors.InvalidConfiguration(path, f"it is not UTF-8; {_ADVICE}") from None


def _parse(path: str, text: str | None) -> Fields:
    """Return the content of a lock file, checked; nothing without one."""
    if text is None:
        return {}
    try:
        content = json.loads(text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        has_marks = "\n<<<<<<< " in f"\n{text}"
        reason = "it has git's marks of a conflict" if has_marks else f"it is not valid JSON ({error})"
        raise errors.InvalidConfiguration(path, f"{reason}; {_ADVICE}") from None
    version = content.get("version") if isinstance(content, dict) else None
    if type(version) not in (int, float) or not isinstance(content.get("skills"), dict):
        raise errors.InvalidConfiguration(path, f"it has no 'version' and 'skills'; {_ADVICE}")
    if version != VERSION:
        reason = f"its version is {version}, and this skc knows {VERSION} only"
        raise errors.InvalidConfiguration(path, reason)
    for name, fields in content["skills"].items():
        if not isinstance(fields, dict):
            raise errors.InvalidConfiguration(path, f"the entry '{name}' is not an object; {_ADVICE}")
    return dict(content)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    """Return a number; refuse one that is too large, which could not be written again as JSON."""
    number = float(text)
    if math.isinf(number):
        _refuse(text)
    return number


def _unique(pairs: list[tuple[str, Any]]) -> Fields:
    """Return an object; refuse a key that is there twice: a reader may see another one than JSON takes."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(ascii(each) for each in names if names.count(each) > 1)} is there twice")
    return fields


def store_folder(root: str, name: str) -> str:
    """Return the folder of a skill in the store of a project or the home."""
    return os.path.join(paths.skills_store(root), name if is_name(name) else to_segment(name))


def target_scope(root: str) -> str:
    """Return whose folders of agents the skills of a project, or of the home, go into."""
    return "user" if paths.is_home(root) else "project"


def skill_of(root: str, name: str, folder: str = "") -> Skill:
    """Return a skill of a store by its name in the lock, or by its folder."""
    path = folder or store_folder(root, name)
    scope = GLOBAL if paths.is_home(root) else PROJECT
    return Skill(os.path.basename(path), os.path.realpath(path), scope, root, is_stored=True)


def store_folders(root: str, names: Iterable[str]) -> dict[str, str]:
    """Return the folder of each skill; raises LockUnsatisfied for two that would share one."""
    folders: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in names:
        folder = folders[name] = store_folder(root, name)
        if folder in owners:
            raise errors.LockUnsatisfied(name, f"it has the same folder as '{owners[folder]}'")
        owners[folder] = name
    return folders


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
