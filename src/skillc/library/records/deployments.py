"""The record of deployments: which skill was put where, in `~/.skillc/deployments.json` [D51].

With it, the name in a stub means the same skill in every directory, a compiled folder leads to its source,
and a deployment whose source is gone is noticed. It is the user's: a project can't add to it. It has a
digest inside: one that is damaged is not used, and says so.
"""

from __future__ import annotations

import os

from skillc import atomic, paths
from skillc.errors import Diagnostic, warning
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

VERSION = 2
UNSEALED = 1  # the last version without a digest
MAX_BYTES = 64 << 20
FIELDS = ("skill", "source", "runtime", "target", "path", "method", "digest")
LISTED, ON_DEMAND = "listed", "demand"  # states of a skill in an agent's folder [D75]
LEFT_OUT = "absent"  # the method of a skill on demand for an agent that has no other way to it


# A cache: the stamp of the file that was read last, and its deployments by path; dropped when it changes.
_last: list[Any] = [None, {}]


class DeploymentRecord:
    """A deployment: of `skill` in the folder `source`, compiled in `runtime`, at `path` for `target`.

    `state` is whether the agent lists it, or has it on demand. No dataclass: 'skc find' reads these.
    """

    __slots__ = (*FIELDS, "state")

    def __init__(
        self,
        skill: str,
        source: str,
        runtime: str,
        target: str,
        path: str,
        method: str,
        digest: str,
        state: str = LISTED,
    ) -> None:
        self.skill, self.source, self.runtime, self.target = skill, source, runtime, target
        self.path, self.method, self.digest, self.state = path, method, digest, state

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeploymentRecord) and self.as_json() == other.as_json()

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def is_here(self) -> bool:
        """Whether the agent's folder has it, or has not, because it is left out."""
        return self.method == LEFT_OUT or os.path.lexists(self.path)

    @property
    def is_at_path(self) -> bool:
        """Whether the target is a path that the user gave, not an agent's name."""
        return is_path_target(self.target)

    @property
    def place(self) -> tuple[str, str]:
        """The target and the folder that it has skills in."""
        return self.target, os.path.dirname(self.path)

    def as_json(self) -> dict[str, str]:
        state = {} if self.state == LISTED else {"state": self.state}
        return {field: utf8_text(getattr(self, field)) for field in FIELDS} | state

    @property
    def is_ghost(self) -> bool:
        """Whether the source is gone while the deployment is still there."""
        return not os.path.isdir(self.source) and os.path.lexists(self.path)


def parse_record(entry: Mapping[str, object]) -> DeploymentRecord:
    """Return a deployment from its JSON; raises KeyError."""
    state = str(entry.get("state", LISTED))
    return DeploymentRecord(**{field: str(entry[field]) for field in FIELDS}, state=state)


def is_path_target(target: str) -> bool:
    """Return whether a target is a path, not the name of an agent [D13]."""
    return os.sep in target or "/" in target or target in (".", "..") or target.startswith("~")


def read_deployments() -> list[DeploymentRecord]:
    """Return all deployments, the oldest first; none from a file that is missing or damaged."""
    try:
        return _read()
    except ValueError:
        return []


def find_deployment(path: str) -> DeploymentRecord | None:
    """Return the deployment at a path; reads the record again only if it changed."""
    home = paths.home()
    try:
        status = os.stat(_file(home)) if home else None
    except OSError:
        status = None
    if status is None:
        return None
    stamp = (_file(home or ""), status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    if _last[0] != stamp:  # each change is another file
        _last[:] = stamp, {record.path: record for record in read_deployments()}
    record: DeploymentRecord | None = _last[1].get(path)
    return record


def deployments_by_source() -> dict[str, list[DeploymentRecord]]:
    """Return all deployments by the source of their skill, for a look at many skills."""
    records: dict[str, list[DeploymentRecord]] = {}
    for record in read_deployments():
        records.setdefault(record.source, []).append(record)
    return records


def find_record_damage() -> list[Diagnostic]:
    """Return a warning if the record is damaged, so that deployments are not known."""
    try:
        _read()
    except ValueError:
        return [warning("W094", _file(paths.require_home()))]
    return []


def check_deployments() -> list[Diagnostic]:
    """Return a warning for a damaged record, or for each deployment whose source is gone."""
    ghosts = [record for record in read_deployments() if record.is_ghost]
    return find_record_damage() or [warning("W009", r.skill, r.path, r.source) for r in ghosts]


def record_deployments(records: Iterable[DeploymentRecord]) -> list[Diagnostic]:
    """Add deployments to the record; each replaces the one at its path.

    A damaged record is kept beside the new one, and the warning is returned. Without a home that can be
    written there is no record, and nothing fails: the skills are deployed.
    """
    changes = {record.path: record for record in records}
    home = paths.home()
    if home is None or not (changes or find_record_damage()):
        return []
    diagnostics: list[Diagnostic] = []
    try:
        os.makedirs(os.path.join(home, paths.DIRECTORY), exist_ok=True)
        with atomic.Lock(f"{_file(home)}.lock"):
            diagnostics = find_record_damage()
            if diagnostics:
                _keep_damaged(_file(home))
            last = {record.path: record for record in read_deployments()}
            entries = {path: record for path, record in last.items() if path not in changes} | changes
            if entries != last or list(entries) != list(last):
                _write(home, entries.values())
    except OSError:
        pass
    return diagnostics


def forget_deployments(places: Iterable[str]) -> None:
    """Take deployments at these paths off the record."""
    removals = set(places)
    home = paths.home()
    if home is None or not removals:
        return
    with atomic.Lock(f"{_file(home)}.lock"):
        last = read_deployments()
        rest = [record for record in last if record.path not in removals]
        if len(rest) < len(last):
            _write(home, rest)


def source_of_name(name: str) -> str | None:
    """Return the source of the skill of that name that was deployed last, if it is still there."""
    sources = (record.source for record in reversed(read_deployments()) if record.skill == name)
    return next(filter(os.path.isdir, sources), None)


def source_of_folder(folder: str) -> str | None:
    """Return the source of a compiled skill in a folder, if the record has that folder."""
    end = paths.on_demand_directory("")
    places = {os.path.abspath(folder), os.path.realpath(folder).removesuffix(f"{os.sep}{end}")}
    for record in reversed(read_deployments()):
        if record.path in places or os.path.realpath(record.runtime) in places:
            return record.source
    return None


def lock_store(root: str) -> atomic.Lock:
    """Return the lock that a command holds while it changes skills of a store, its lock file or deployments.

    So what one command does is not half undone by another. Do not take it twice.
    """
    store = paths.skills_store(root)
    if paths.home() is not None:
        try:
            return atomic.Lock(paths.mutex_file(store))
        except OSError:  # a home that can't be written
            pass
    os.makedirs(store, exist_ok=True)
    return atomic.Lock(store)


def _read() -> list[DeploymentRecord]:
    """Return what the record has, nothing without one; raise ValueError for one that is damaged."""
    home = paths.home()
    if home is None or not os.path.lexists(_file(home)):
        return []  # `find` asks for names that no store has, where there is often no record
    from skillc.records import read_record

    try:
        entries = read_record(_file(home), MAX_BYTES, unsealed=UNSEALED)["deployments"]
        return list(map(parse_record, entries))
    except OSError:
        return []
    except (KeyError, TypeError):
        raise ValueError(_file(home)) from None


def _write(home: str, records: Iterable[DeploymentRecord]) -> None:
    from skillc.records import write_record

    _last[0] = None
    entries = [record.as_json() for record in records]
    write_record(_file(home), {"version": VERSION, "deployments": entries})


def _keep_damaged(path: str) -> None:
    from skillc.records import damaged_name

    os.replace(path, damaged_name(path))


def _file(home: str) -> str:
    return os.path.join(home, paths.DIRECTORY, "deployments.json")
