"""Bring in the skills that lock files of other tools name, at the versions they state, and lock them here.

| file | of | the version is |
| --- | --- | --- |
| `skills-lock.json` | npm's `skills`, skc | a hash of the files; a commit if skc wrote it |
| `.skill-lock.json` | npm's `skills`, `gh skill`, for the user | a git tree |
| `.clawhub/lock.json` | ClawHub | a version of the registry |

Files are hostile: they come with projects. An entry that can't be understood is a pin with a problem. A
version that can't be had exactly is skipped, and nothing else is taken for it. What comes in is audited,
untrusted, and on record in skills-lock.json; it is built and deployed by 'skc build --all'.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from skillc import paths
from skillc.audit import VERSION, Audit, audit_folder, read_policy
from skillc.errors import (
    AuditBlocked,
    InvalidConfiguration,
    InvalidOption,
    OriginNotFound,
    SkillcError,
    unexpected,
)
from skillc.install.accepted_blocks import check_blocks
from skillc.install.download import open_download
from skillc.install.entry import LockEntry, compute_hash, hash_folder, make_entry
from skillc.install.fetch import FetchedSkill
from skillc.install.import_plan import COPIED, Skip, Step, Store, is_same
from skillc.install.import_skills import ImportResult
from skillc.install.lock import change_lock, find_root, global_lock_file, lock_file, read_lock, store_folder
from skillc.install.origin import (
    CLAWHUB,
    REGISTRY,
    Candidate,
    Download,
    Origin,
    recall_address,
    recall_origin,
)
from skillc.install.store import put_version
from skillc.library import GLOBAL, PROJECT, is_compiled, lock_store
from skillc.surface import SILENT, Progress

MAX_BYTES = 16 << 20
_COMMIT = re.compile("[0-9a-f]{40}")
REASON = "replaced by 'skc import --lock'"
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


@dataclass(slots=True)
class Transfer:
    """Takes pins into one store, one download after the other."""

    store: Store
    accept: bool  # what the audit blocks
    result: ImportResult

    def skip(self, pin: Pin, reason: str) -> None:
        self.result.skipped.append(Skip(f"{pin.name} ({pin.file})", reason))


def import_locks(
    files: Sequence[str],
    cwd: str,
    scope: str = "",
    *,
    accept: bool = False,
    hosts: Iterable[str] = (),
    dry_run: bool = False,
    progress: Progress = SILENT,
) -> ImportResult:
    """Bring in what lock files name, by default those of the project and of the home; raises InvalidOption.

    What the home's file names goes into the home's store.
    """
    files = [os.path.join(cwd, os.path.expanduser(name)) for name in files] or find_locks(cwd, scope)
    if not files:
        raise InvalidOption("there is no lock file here; 'skc import --lock <file>' names one")
    pins = [pin for file in files for pin in read_pins(file)]
    result = ImportResult()
    for is_global in (False, True):
        root = find_root(cwd, is_global=is_global or scope == GLOBAL)
        store = Store(GLOBAL if root == paths.home() else PROJECT, root)
        some = [pin for pin in pins if is_of_home(pin) == is_global]
        if dry_run:
            result.add(preview_pins(some, store))
            continue
        with progress.steps(len(some), "skills") as steps:
            result.add(bring_in_pins(some, store, accept=accept, hosts=hosts, tell_step=steps.step))
    return result


def preview_pins(pins: Sequence[Pin], store: Store) -> ImportResult:
    """Return what a transfer would bring in, without asking any host."""
    result = ImportResult()
    for pin in pins:
        if pin.problem:
            result.skipped.append(Skip(f"{pin.name} ({pin.file})", pin.problem))
        else:
            result.imported.append(_step(pin, store))
    return result


def bring_in_pins(
    pins: Sequence[Pin],
    store: Store,
    *,
    accept: bool = False,
    hosts: Iterable[str] = (),
    tell_step: Callable[[str], None] = lambda _: None,
) -> ImportResult:
    """Download each pin, verify it, and put it into the store and the lock.

    `hosts` may be asked besides those that the pins name.
    """
    transfer = Transfer(store, accept, ImportResult())
    groups: dict[tuple[Origin, str], list[Pin]] = {}
    for pin in pins:
        if pin.problem:
            transfer.skip(pin, pin.problem)
        else:
            pin = pin.with_hosts(frozenset(hosts))
            groups.setdefault((replace(pin.origin, path=""), pin.commit), []).append(pin)
    for (origin, _), group in groups.items():
        tell_step(origin.label())
        _take_group(transfer, group)
    return transfer.result


def _take_group(transfer: Transfer, pins: Sequence[Pin]) -> None:
    """Take skills of one origin at one commit; if one is missing, they are asked for one by one."""
    try:
        _download(transfer, pins)
    except (SkillcError, OSError) as error:
        pin = pins[0]
        if len(pins) > 1:
            for each in pins:
                _take_group(transfer, [each])
        else:
            reason = error.reason if isinstance(error, OriginNotFound) else unexpected(error).message
            transfer.skip(pin, f"{pin.label}: {reason}")


def _download(transfer: Transfer, pins: Sequence[Pin]) -> None:
    origin = replace(pins[0].origin, path="") if not pins[0].origin.is_registry else pins[0].origin
    names = [] if origin.is_registry else [pin.origin.path or pin.name for pin in pins]
    with open_download(
        origin, commit=pins[0].commit, names=names, report=transfer.result.diagnostics.append
    ) as download:
        for pin in pins:
            candidate = _find(pin, download)
            problem = "it is not there" if candidate is None else _compare(pin, candidate)
            if candidate is None or problem:
                transfer.skip(pin, f"{pin.label}: {problem}")
            else:
                _put(transfer, pin, replace(candidate, name=pin.name), download)


def _find(pin: Pin, download: Download) -> Candidate | None:
    places = (f"{pin.origin.path}/SKILL.md", f"{pin.origin.path}/skill.md")
    for candidate in download.candidates:
        if pin.origin.is_registry or (
            candidate.path in places if pin.origin.path else candidate.name == pin.name
        ):
            return candidate
    folders = [c for c in download.candidates if os.path.basename(os.path.dirname(c.path)) == pin.name]
    return folders[0] if folders and not pin.origin.path else None


def _compare(pin: Pin, candidate: Candidate) -> str:
    """Return why a skill is not the version that the lock states; empty if it is."""
    advice = f"'skc add {pin.origin.label()}' takes what is there now"
    if pin.tree and candidate.tree not in ("", pin.tree):
        return f"its files are not those of the lock any more; {advice}"
    if pin.hash and compute_hash(candidate.folder, candidate.links) != pin.hash:
        return f"its files are not those of the lock any more; {advice}"
    if pin.origin.is_registry and pin.origin.ref and candidate.version != pin.origin.ref:
        return f"the registry gave version '{candidate.version}'"
    return ""


def _put(transfer: Transfer, pin: Pin, candidate: Candidate, download: Download) -> None:
    """Put a verified skill into the store and its entry into the lock."""
    if is_compiled(candidate.folder):
        return transfer.skip(pin, "a compiled skill; import its source")
    audit = audit_folder(candidate.folder, pin.name, policy=read_policy())
    entry = _entry(candidate, download, audit, transfer.store.root)
    try:
        check_blocks(pin.name, entry.content, audit, accept=transfer.accept)
    except AuditBlocked as error:
        return transfer.skip(pin, f"{error.message}; {error.details.removeprefix('hint: ')}")
    step = _step(pin, transfer.store)
    root = transfer.store.root
    with lock_store(root):
        is_there = os.path.lexists(step.destination)
        if is_there and not is_same(candidate.folder, step.destination):
            advice = f"'skc remove {os.path.basename(step.destination)}' takes it out"
            return transfer.skip(pin, f"another skill of that name is in the store; {advice}")
        has_entry = pin.name in read_lock(root) and read_lock(root)[pin.name].commit == download.commit
        if is_there and has_entry:
            return transfer.skip(pin, f"the same as '{step.destination}'")
        skill = FetchedSkill(entry, candidate.folder, pin.label)
        put_version(root, skill, transfer.result.diagnostics, REASON)
        transfer.result.diagnostics.extend(change_lock(root, record=[entry]))
    transfer.result.imported.append(step)
    return None


def _entry(candidate: Candidate, download: Download, audit: Audit, root: str) -> LockEntry:
    return make_entry(
        os.path.dirname(lock_file(root)),
        download.origin_of(candidate),
        candidate,
        download,
        hash_folder(candidate.folder, candidate.links),
        audit={"rules": VERSION, "asks": audit.asks_digest()},
    )


def _step(pin: Pin, store: Store) -> Step:
    destination = store_folder(store.root, pin.name)
    return Step(os.path.basename(destination), pin.label, destination, COPIED, store)
