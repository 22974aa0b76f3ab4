"""What `skc setup` did to files, in `~/.skillc/setup.json`, so that --undo gives back every byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillc.errors import InvalidConfiguration
from skillc.records import Record

RECORD = Record("setup.json", 1, "files", limit=64 << 20)


@dataclass(frozen=True, slots=True)
class FileRecord:
    """How a file was before setup: whether it and which containers were made for us, and perhaps its text."""

    is_new: bool = False
    created: tuple[tuple[str, ...], ...] = ()
    before: str | None = None  # where cutting our entries would not give it back
    after: str = ""  # the digest of the file as we wrote it
    fits: bool = False  # whether it had listings fitted that were not before

    def as_json(self) -> dict[str, Any]:
        rest = {} if self.before is None else {"before": self.before, "after": self.after}
        fits = {"fits": True} if self.fits else {}
        return {"is_new": self.is_new, "created": [list(path) for path in self.created], **rest, **fits}


def read_file_records() -> dict[str, FileRecord]:
    """Return the records of files by their paths; nothing from a record that is missing or damaged."""
    try:
        return RECORD.read(lambda files: {path: _parse_record(each) for path, each in files.items()}, {})
    except InvalidConfiguration:
        return {}


def _parse_record(entry: Mapping[str, Any]) -> FileRecord:
    created = tuple(tuple(map(str, path)) for path in entry["created"])
    text, digest, fits = entry.get("before"), str(entry.get("after", "")), entry.get("fits") is True
    return FileRecord(bool(entry["is_new"]), created, text, digest, fits)


def change_file_records(changes: Mapping[str, FileRecord | None]) -> None:
    """Write records of files, and drop those without one."""
    with RECORD.lock():
        files = {
            name: record
            for name, record in ({**read_file_records(), **changes}).items()
            if record is not None
        }
        RECORD.write({name: record.as_json() for name, record in sorted(files.items())})
