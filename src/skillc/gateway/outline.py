"""`outline`: every heading of a skill's Markdown files [RFC-0002:C-OUTLINE, D14].

Read from the sources; where the index knows a file as it is now, from there, which spares loading
a Markdown and a YAML parser.
"""

from __future__ import annotations

from skillc.errors import SkillcError
from skillc.gateway.freshness import changed_text, indexed_files, markdown_files
from skillc.index.sections import DatabaseError, open_stale_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from skillc.gateway.freshness import Known
    from skillc.library import Skill


class Entry:
    """A heading and where it stands."""

    __slots__ = ("file", "heading", "level", "line")

    def __init__(self, file: str, level: int, heading: str, line: int) -> None:
        self.file = file
        self.level = level
        self.heading = heading
        self.line = line

    def as_json(self) -> dict[str, Any]:
        return {field: getattr(self, field) for field in ("file", "level", "heading", "line")}


def read_outline(skill: Skill, level: int | None = None) -> list[Entry]:
    """The headings of all Markdown files, files bytewise by path, down to `level`."""
    known, indexed = _indexed(skill)
    entries: list[Entry] = []
    for name, file in markdown_files(skill).items():
        text = changed_text(file, known.get(name))
        entries += indexed.get(name, ()) if text is None else _parsed(name, text)
    return entries if level is None else [entry for entry in entries if entry.level <= level]


def outline_lines(entries: Iterable[Entry]) -> Iterator[str]:
    """An outline for reading: each file's path, then its headings, indented [D14]."""
    from skillc.text import one_line

    file = None
    for entry in entries:
        if entry.file != file:
            file = entry.file
            yield one_line(file)
        yield f"{'  ' * max(1, entry.level - 1)}{'#' * entry.level} {one_line(entry.heading)}".rstrip()


def _indexed(skill: Skill) -> tuple[dict[str, Known], dict[str, list[Entry]]]:
    """The files that the index knows, and their headings; nothing without an index to read."""
    try:
        connection = open_stale_index(skill)
    except SkillcError:  # no home that could have one
        connection = None
    if connection is None:
        return {}, {}
    try:
        known = indexed_files(connection)
        entries: dict[str, list[Entry]] = {}
        rows = connection.execute("SELECT file, level, text, start_line FROM headings ORDER BY id")
        for file, level, text, line in rows:
            entries.setdefault(file, []).append(Entry(file, int(level), str(text), int(line)))
    except (DatabaseError, TypeError, ValueError):
        return {}, {}
    finally:
        connection.close()
    return known, entries


def _parsed(name: str, text: bytes) -> list[Entry]:
    from skillc.skills.document import parse  # only for a file that the index does not know

    return [Entry(name, h.level, h.text, h.line) for h in parse(text).headings()]
