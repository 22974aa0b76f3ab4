"""Pins: what the lock files of other tools say about skills, each with its origin and its exact version.

| file | of | the version is |
| --- | --- | --- |
| `skills-lock.json` | npm's `skills`, skc | a hash of the files; a commit if skc wrote it |
| `.skill-lock.json` | npm's `skills`, `gh skill`, for the user | a git tree |
| `.clawhub/lock.json` | ClawHub | a version of the registry |

Files are hostile: they come with projects. An entry that can't be understood is a pin with a problem.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from skillc import paths
from skillc.errors import InvalidConfiguration, SkillcError
from skillc.install.entry import LockEntry
from skillc.install.global_lock import global_lock_file
from skillc.install.origin import CLAWHUB, REGISTRY, Origin, recall_address, recall_origin

MAX_BYTES = 16 << 20
_COMMIT = re.compile("[0-9a-f]{40}")
NOWHERE = Origin("", "", "")


@dataclass(frozen=True, slots=True)
class Pin:
    """A skill at a version: the `commit`, else the `tree` or `hash` that its files must have.

    Without a path in its origin it is found by name. With a `problem` there is nothing to ask.
    """

    name: str
    file: str  # the lock that it stands in
    origin: Origin = NOWHERE
    commit: str = ""
    tree: str = ""
    hash: str = ""
    problem: str = ""

    @property
    def label(self) -> str:
        """Where the skill comes from, for people."""
        return f"{self.origin.label()}{f' ({self.commit[:12]})' if self.commit else ''}"

    def with_hosts(self, hosts: frozenset[str]) -> Pin:
        """Return the same pin, for which other hosts may be asked."""
        return replace(self, origin=replace(self.origin, hosts=hosts))


def find_locks(cwd: str, scope: str = "") -> list[str]:
    """Return the lock files of other tools in the project around `cwd`, or of the user."""
    files = []
    if scope != "global":
        root = next(paths.project_roots(cwd), cwd)
        for directory in dict.fromkeys((cwd, root)):
            files += [os.path.join(directory, name) for name in READERS]
    mine = global_lock_file()
    if scope != "project" and mine:
        files.append(mine)
    return [path for path in dict.fromkeys(files) if os.path.isfile(path)]


def is_of_home(pin: Pin) -> bool:
    """Return whether a pin stands in the user's own lock, not in that of a project."""
    return os.path.basename(pin.file) == ".skill-lock.json"


def read_pins(path: str) -> list[Pin]:
    """Return the pins of a lock file, or of all in a folder; raises InvalidConfiguration."""
    if os.path.isdir(path):
        files = [os.path.join(path, name) for name in READERS]
        return [pin for file in files if os.path.isfile(file) for pin in read_pins(file)]
    name = os.path.basename(path)
    if name == "lock.json" and os.path.basename(os.path.dirname(path)) in (".clawhub", ".clawdhub"):
        name = ".clawhub/lock.json"
    reader = READERS.get(name)
    if reader is None:
        kinds = ", ".join(READERS)
        raise InvalidConfiguration(path, f"it is no lock file that is known; those are {kinds}")
    try:
        data = paths.read_regular(path, MAX_BYTES)
        return list(reader(path, data))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InvalidConfiguration(path, f"it can't be read as a lock file: {reason}") from None


def _read_npm(path: str, data: bytes) -> Iterator[Pin]:
    """Read skills-lock.json: a hash of the files, and the commit where skc noted one."""
    for name, fields in json.loads(data)["skills"].items():
        entry = LockEntry(name, fields)
        pin = Pin(name, path, commit=entry.commit, hash=entry.hash)
        yield _with_origin(pin, partial(recall_origin, fields, os.path.dirname(path)))


def _read_global(path: str, data: bytes) -> Iterator[Pin]:
    """Read .skill-lock.json: the folder's git tree, or a hash of the files if it is not from GitHub."""
    for name, fields in json.loads(data)["skills"].items():
        version = str(fields.get("skillFolderHash") or "")
        pin = Pin(name, path, tree=version if _COMMIT.fullmatch(version) else "")
        if not pin.tree:
            pin = replace(pin, hash=version if len(version) == 64 else "")
        yield _with_origin(pin, partial(recall_origin, fields, os.path.dirname(path)))


def _read_clawhub(path: str, data: bytes) -> Iterator[Pin]:
    """Read .clawhub/lock.json; which registry a skill is from stands in the folder of the skill."""
    skills = os.path.join(os.path.dirname(os.path.dirname(path)), "skills")
    for slug, fields in json.loads(data)["skills"].items():
        owner = str(fields.get("ownerHandle") or "").lstrip("@")
        registry = _registry_of(os.path.join(skills, slug, ".clawhub", "origin.json"))
        address = f"{REGISTRY}{registry}{f'{owner}/' if owner else ''}{slug}@{fields['version']}"
        yield _with_origin(Pin(slug, path), partial(recall_address, address, os.sep))


def _registry_of(path: str) -> str:
    """Return the address of a registry with a slash after it; empty for ClawHub's own."""
    try:
        registry = str(json.loads(paths.read_regular(path, MAX_BYTES))["registry"]).rstrip("/")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return "" if registry in ("", CLAWHUB) else f"{registry}/"


def _with_origin(pin: Pin, parse: Callable[[], Origin]) -> Pin:
    """Return a pin with the origin that this returns, or with the problem that it raises."""
    if pin.commit and not _COMMIT.fullmatch(pin.commit):
        return replace(pin, commit="", problem="its commit is no commit")
    try:
        origin = parse()
    except SkillcError as error:
        return replace(pin, problem=error.message)
    has_version = pin.commit or pin.tree or pin.hash or origin.is_registry
    problem = "" if has_version else f"the lock does not say which version; 'skc add {origin.label()}'"
    return replace(pin, origin=origin, problem=problem)


READERS: dict[str, Callable[[str, bytes], Iterator[Pin]]] = {
    "skills-lock.json": _read_npm,
    ".skill-lock.json": _read_global,
    ".clawhub/lock.json": _read_clawhub,
}
