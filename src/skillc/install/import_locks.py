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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from skillc import paths
from skillc.errors import AuditBlocked, InvalidConfiguration, InvalidOption, SkillcError, unexpected
from skillc.install.apply import is_locked
from skillc.install.audit import admit, admit_signer
from skillc.install.download import COMMIT, Origins, reason_of
from skillc.install.entry import OWN, VERSION, LockEntry, hash_folder, make_entry
from skillc.install.import_plan import COPIED, ImportResult, Skip, Step, is_same
from skillc.install.lock import find_root, global_lock_file, lock_folder, read_lock, store_folder
from skillc.install.origin import CLAWHUB, REGISTRY, Candidate
from skillc.install.store import FetchedSkill, has_skill, put_skill, record_entries
from skillc.library import GLOBAL, is_compiled
from skillc.library.records import lock_store
from skillc.origins import read_trust
from skillc.surface import Here

MAX_BYTES = 16 << 20
REASON = "replaced by 'skc import --lock'"


@dataclass(frozen=True, slots=True)
class Pin:
    """A skill at a version: the commit, tree or hash in its entry.

    With a `problem` there is nothing to ask.
    """

    entry: LockEntry
    file: str  # the lock that it stands in
    source: str = ""  # where the skill comes from, for people
    problem: str = ""

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def label(self) -> str:
        """Where the skill comes from, with its commit, for people."""
        return f"{self.source}{f' ({self.entry.commit[:12]})' if self.entry.commit else ''}"


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
        skills = json.loads(paths.read_regular(path, MAX_BYTES))["skills"]
        return [_make_pin(reader(path, name, fields), path) for name, fields in skills.items()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise InvalidConfiguration(path, f"it can't be read as a lock file: {reason}") from None


def _make_pin(entry: LockEntry, file: str) -> Pin:
    if entry.commit and not COMMIT.fullmatch(entry.commit):
        return Pin(entry, file, problem="its commit is no commit")
    try:
        origin = entry.origin(os.path.dirname(file))
    except SkillcError as error:
        return Pin(entry, file, problem=error.message)
    has_version = entry.own_text("commit") or entry.own_text("tree") or entry.hash or origin.is_registry
    problem = "" if has_version else f"the lock does not say which version; 'skc add {origin.label()}'"
    return Pin(entry, file, origin.label(), problem)


def _read_npm(path: str, name: str, fields: dict[str, Any]) -> LockEntry:
    """Read an entry of skills-lock.json: a hash of the files, and the commit where skc noted one."""
    return _entry(name, fields, commit=LockEntry(name, fields).commit)


def _read_global(path: str, name: str, fields: dict[str, Any]) -> LockEntry:
    """Read one of .skill-lock.json: the folder's git tree, or a hash of the files where it has none."""
    version = str(fields.get("skillFolderHash") or "")
    files_hash = version if len(version) == 64 else ""
    tree = version if COMMIT.fullmatch(version) else ""
    return _entry(name, {**fields, "computedHash": files_hash}, tree=tree)


def _read_clawhub(path: str, name: str, fields: dict[str, Any]) -> LockEntry:
    """Read one of .clawhub/lock.json; which registry the skill is from stands in its folder."""
    folder = os.path.join(os.path.dirname(os.path.dirname(path)), "skills", name)
    owner = str(fields.get("ownerHandle") or "").lstrip("@")
    registry = _registry_of(os.path.join(folder, ".clawhub", "origin.json"))
    source = f"{REGISTRY}{registry}{f'{owner}/' if owner else ''}{name}"
    return _entry(name, {"sourceType": "download", "source": source, "ref": str(fields["version"])})


def _entry(name: str, fields: dict[str, Any], **own: str) -> LockEntry:
    """Return an entry of which nothing that is ours counts but this."""
    return LockEntry(name, {**fields, OWN: {"v": VERSION, **own}})


def _registry_of(path: str) -> str:
    """Return the address of a registry with a slash after it; empty for ClawHub's own."""
    try:
        registry = str(json.loads(paths.read_regular(path, MAX_BYTES))["registry"]).rstrip("/")
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    return "" if registry in ("", CLAWHUB) else f"{registry}/"


READERS: dict[str, Callable[[str, str, dict[str, Any]], LockEntry]] = {
    "skills-lock.json": _read_npm,
    ".skill-lock.json": _read_global,
    ".clawhub/lock.json": _read_clawhub,
}


def import_locks(
    here: Here, files: Sequence[str], scope: str, *, accept: bool, hosts: Iterable[str], dry_run: bool
) -> ImportResult:
    """Bring in what lock files name, by default those of the project and of the home; raises InvalidOption.

    What the home's file names goes into the home's store. A dry run asks no host.
    """
    cwd = here.cwd
    files = [os.path.join(cwd, os.path.expanduser(name)) for name in files] or find_locks(cwd, scope)
    if not files:
        raise InvalidOption("there is no lock file here; 'skc import --lock <file>' names one")
    pins = [pin for file in files for pin in read_pins(file)]
    result = ImportResult()
    with here.progress.steps(len(pins), "skills") as steps:
        for file in sorted({pin.file for pin in pins}, key=_is_of_home):
            root = find_root(cwd, is_global=_is_of_home(file) or scope == GLOBAL)
            transfer = _Transfer(root, accept, result)
            ready: dict[str, Pin] = {}
            for pin in (pin for pin in pins if pin.file == file):
                if pin.problem:
                    transfer.skip(pin, pin.problem)
                elif dry_run:
                    result.imported.append(transfer.step_of(pin))
                else:
                    ready[pin.name] = pin
            with Origins(os.path.dirname(file), hosts, steps.step) as origins:
                entries = [pin.entry for pin in ready.values()]
                for entry, match in origins.open(entries, is_exact=True):
                    transfer.take(ready[entry.name], match)
            result.diagnostics.extend(origins.diagnostics)
    return result


def _is_of_home(file: str) -> bool:
    """Return whether a lock is the user's own, not that of a project."""
    return os.path.basename(file) == ".skill-lock.json"


class _NotTaken(SkillcError):
    """A skill that is not taken, for a reason that says where it comes from itself."""


@dataclass(frozen=True, slots=True)
class _Transfer:
    """Takes pins into one store."""

    root: str
    accept: bool  # what the audit blocks
    result: ImportResult

    def skip(self, pin: Pin, reason: str) -> None:
        self.result.skipped.append(Skip(f"{pin.name} ({pin.file})", reason))

    def step_of(self, pin: Pin) -> Step:
        destination = store_folder(self.root, pin.name)
        return Step(os.path.basename(destination), pin.label, destination, COPIED, self.root)

    def take(self, pin: Pin, match: Candidate | SkillcError) -> None:
        """Put a skill into the store and its entry into the lock, if it is the version of the pin."""
        try:
            if isinstance(match, SkillcError):
                raise match
            self._take(pin, match)
        except _NotTaken as error:
            self.skip(pin, error.message)
        except (SkillcError, OSError) as error:
            self.skip(pin, f"{pin.label}: {reason_of(unexpected(error))}")

    def _take(self, pin: Pin, candidate: Candidate) -> None:
        hashes, origin = hash_folder(candidate.folder, candidate.links), candidate.download.origin
        if not is_locked(pin.entry, candidate, hashes):
            advice = f"'skc add {pin.source}' takes what is there now"
            raise SkillcError(f"its files are not those of the lock any more; {advice}")
        if origin.is_registry and candidate.version != (origin.ref or candidate.version):
            raise SkillcError(f"the registry gave version '{candidate.version}'")
        if is_compiled(candidate.folder):
            raise _NotTaken("a compiled skill; import its source")
        root, step = self.root, self.step_of(pin)
        named = LockEntry(pin.name, {})  # its targets, mode and pin are not taken over
        try:
            audit = admit(pin.name, candidate.folder, hashes.content.digest, accept=self.accept)
        except AuditBlocked as error:
            raise _NotTaken(f"{error.message}; {error.details.removeprefix('hint: ')}") from None
        digest = hashes.content.digest
        signature, evidence = admit_signer(pin.name, candidate, digest, read_trust())
        entry = make_entry(lock_folder(root), candidate, hashes, last=named, audit=audit, signature=signature)
        with lock_store(root):
            is_there = os.path.lexists(step.destination)
            if is_there and not is_same(candidate.folder, step.destination):
                advice = f"'skc remove {os.path.basename(step.destination)}' takes it out"
                raise _NotTaken(f"another skill of that name is in the store; {advice}")
            locked = read_lock(root).get(pin.name)
            if is_there and locked is not None and locked.commit == candidate.download.commit:
                raise _NotTaken(f"the same as '{step.destination}'")
            skill = FetchedSkill(entry, candidate.folder, pin.label, evidence)
            diagnostics = put_skill(root, skill, REASON, is_there=has_skill(root, entry))
            self.result.diagnostics.extend((*diagnostics, *record_entries(root, [entry])))
        self.result.imported.append(step)
