"""What setup does to files: put entries into a text or cut them from it, and give every byte back.

What it did is on record in `~/.skillc/setup.json`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillc.errors import InvalidConfiguration, SkillcError
from skillc.jsonc import cut_value, find_value, parse_settings
from skillc.records import Record
from skillc.setup.hooks import Part
from skillc.setup.program import Link
from skillc.shared_files import read_file, read_text, replace_file, rewrite_file
from skillc.startup import sha256_hex

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


@dataclass(frozen=True, slots=True)
class SetupChange:
    """What changes in a file."""

    path: str
    what: str


@dataclass(frozen=True, slots=True)
class Edit:
    """The change of a file."""

    agent: str
    path: str
    parts: tuple[Part, ...]
    record: FileRecord | None
    undo: bool
    fits: bool = False  # whether this has listings fitted that were not before

    def apply(self, text: str) -> str | None:
        """Return the text as it is to be; None where the file goes."""
        try:
            if self.undo:
                return take_out(text, self.parts, self.record or FileRecord())
            for part in self.parts:
                text = part.put(text)
            return text
        except (ValueError, IndexError, RecursionError, TypeError) as error:
            reason = f"skc can't change it ({error}); nothing was written"
            raise SkillcError(f"'{self.path}' is not as {self.agent} reads it, and {reason}") from None

    def changes(self) -> Iterator[SetupChange]:
        """Yield what changes in the file."""
        text = read_text(self.path)
        for part in self.parts:
            if (part.cut(text) if self.undo else part.put(text)) != text:
                yield SetupChange(self.path, part.what)

    def is_needed(self) -> bool:
        text = read_file(self.path)
        return not (self.undo and text is None) and self.apply(text or "") != text

    def make_record(self, before: str | None, after: str | None) -> FileRecord:
        """Return how a file was before, as far as cutting our entries does not give that back."""
        old = self.record or FileRecord(is_new=before is None, fits=self.fits)
        base = before if self.record is None else take_out(before or "", self.parts, old)
        value = {} if self.path.endswith(".toml") else parse_settings(before or "")
        around = [path for part in self.parts for path in part.containers]
        created = {*old.created, *(path for path in around if find_value(value, path) is None)}
        record = FileRecord(old.is_new, tuple(sorted(created, key=len, reverse=True)), fits=old.fits)
        if take_out(after or "", self.parts, record) == base:
            return record
        return replace(record, before=base, after=sha256_hex((after or "").encode()))


def write_edits(edits: Sequence[Edit], link: Link, undo: Collection[str] | None = None) -> None:
    """Write all files and their records, or none: what was written is put back where a later one fails.

    To undo, give the files that have no record afterwards.
    """
    written: list[tuple[Edit, str | None, str | None]] = []
    is_linked = False
    try:
        for edit in edits:
            written.append((edit, *rewrite_file(edit.path, edit.apply)))
        if undo is None:
            changes: dict[str, FileRecord | None] = {
                edit.path: edit.make_record(before, after) for edit, before, after in written
            }
            changes |= {link.path: FileRecord(before=link.target)} if link.path else {}
        else:
            changes = dict.fromkeys(undo)
        _put_link(link, is_new=undo is None)
        is_linked = True
        change_file_records(changes)
    except (OSError, SkillcError) as error:
        if is_linked:
            _put_link(link, is_new=undo is not None)
        for edit, before, after in written:
            if read_file(edit.path) == after:
                replace_file(edit.path, before)
        if isinstance(error, SkillcError):
            raise
        place = error.filename or link.path
        raise SkillcError(f"can't write '{place}': {error.strerror}; nothing was changed") from None


def _put_link(link: Link, *, is_new: bool) -> None:
    """Make the link to the program, or remove it."""
    if not link.path:
        return
    if not is_new:
        os.unlink(link.path)
        return
    os.makedirs(os.path.dirname(link.path), exist_ok=True)
    os.symlink(link.target, link.path)


def take_out(text: str, parts: Sequence[Part], record: FileRecord) -> str | None:
    """Return a text without our entries, as it was before where nothing else changed; None for no file."""
    if record.before is not None and record.after == sha256_hex(text.encode()):
        return record.before
    for part in reversed(parts):
        text = part.cut(text)
    for path in record.created:
        if find_value(parse_settings(text), path) in ({}, []):
            text = cut_value(text, path)
    return None if record.is_new and text.strip() in ("", "{}") else text
