"""The record of deployments: which skill was put where, in `~/.skillc/deployments.json` [D51].

With it, the name in a stub means the same skill in every directory, a compiled folder leads to its source,
and a deployment whose source is gone is noticed. It is the user's: a project can't add to it.
"""

from __future__ import annotations

import os

from skillc import atomic, paths
from skillc.errors import Diagnostic, warning
from skillc.startup import value
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 1
MAX_BYTES = 64 << 20
FIELDS = ("skill", "source", "runtime", "target", "path", "method", "digest")


@value
class DeploymentRecord:
    """A deployment: of `skill` in the folder `source`, compiled in `runtime`, at `path` for `target`."""

    skill: str
    source: str
    runtime: str
    target: str
    path: str
    method: str
    digest: str

    @property
    def is_ghost(self) -> bool:
        """Whether the source is gone while the deployment is still there."""
        return not os.path.isdir(self.source) and os.path.lexists(self.path)


def read_deployments() -> list[DeploymentRecord]:
    """Return all deployments, the oldest first; none from a file that is missing or damaged."""
    home = paths.home()
    if home is None:
        return []
    try:
        data = paths.read_regular(_file(home), MAX_BYTES)
    except OSError:
        return []
    import json  # `find` asks for names that no store has, where there is often no record

    try:
        entries = json.loads(data)["deployments"]
        return [DeploymentRecord(*(str(entry[field]) for field in FIELDS)) for entry in entries]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def record_deployments(records: Iterable[DeploymentRecord]) -> None:
    """Add deployments to the record; each replaces the one at its path.

    Without a home that can be written there is no record, and nothing fails: the skills are deployed.
    """
    changes = {record.path: record for record in records}
    home = paths.home()
    if home is None or not changes:
        return
    try:
        os.makedirs(os.path.join(home, paths.DIRECTORY), exist_ok=True)
        with atomic.Lock(f"{_file(home)}.lock"):
            last = {record.path: record for record in read_deployments()}
            entries = {path: record for path, record in last.items() if path not in changes} | changes
            if entries != last or list(entries) != list(last):
                _write(home, entries.values())
    except OSError:
        pass


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


def find_ghosts() -> list[Diagnostic]:
    """Return a warning for each deployment whose source is gone."""
    ghosts = [record for record in read_deployments() if record.is_ghost]
    return [warning("W009", record.skill, record.path, record.source) for record in ghosts]


def source_of_name(name: str) -> str | None:
    """Return the source of the skill of that name that was deployed last, if it is still there."""
    sources = (record.source for record in reversed(read_deployments()) if record.skill == name)
    return next(filter(os.path.isdir, sources), None)


def source_of_folder(folder: str) -> str | None:
    """Return the source of a compiled skill in a folder, if the record has that folder."""
    places = {os.path.abspath(folder), os.path.realpath(folder)}
    for record in reversed(read_deployments()):
        if record.path in places or os.path.realpath(record.runtime) in places:
            return record.source
    return None


def _write(home: str, records: Iterable[DeploymentRecord]) -> None:
    entries = [{field: utf8_text(getattr(record, field)) for field in FIELDS} for record in records]
    import json

    text = json.dumps({"version": VERSION, "deployments": entries}, indent=1, ensure_ascii=False)
    atomic.write(_file(home), f"{text}\n".encode(), durable=True)


def _file(home: str) -> str:
    return os.path.join(home, paths.DIRECTORY, "deployments.json")
