"""`outline`: every heading of a skill's Markdown files [RFC-0002:C-OUTLINE, D14].

Read from the sources; where the index knows a file as it is now, from there, which spares loading
a Markdown and a YAML parser.
"""

from __future__ import annotations

from skillc.compiler import index
from skillc.digest import sha256_hex
from skillc.skills.files import display_name, list_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library import Skill
    from skillc.skills.files import SourceFile


class Entry:
    """A heading and where it stands."""

    __slots__ = ("file", "heading", "level", "line")

    def __init__(self, file: str, level: int, heading: str, line: int) -> None:
        self.file = file
        self.level = level
        self.heading = heading
        self.line = line


def outline(skill: Skill, level: int | None = None) -> list[Entry]:
    """The headings of all Markdown files, files bytewise by path, down to `level`."""
    known = _Known(skill)
    entries: list[Entry] = []
    for file in list_files(skill.source):
        if file.name[-3:].lower() == ".md":
            entries += known.entries(file)
    return entries if level is None else [entry for entry in entries if entry.level <= level]


class _Known:
    """What the index knows of files that have not changed since."""

    def __init__(self, skill: Skill) -> None:
        self._files: dict[str, tuple[object, ...]] = {}
        self._headings: dict[str, list[Entry]] = {}
        connection = index.open_any(skill)
        if connection is None:
            return
        try:
            rows = connection.execute("SELECT path, digest, size, modified_ns, changed_ns FROM files")
            self._files = {row[0]: row[1:] for row in rows}
            for row in connection.execute("SELECT file, level, text, start_line FROM headings ORDER BY id"):
                self._headings.setdefault(row[0], []).append(Entry(*row))
        except index.Error:
            self._files = {}
        finally:
            connection.close()

    def entries(self, file: SourceFile) -> list[Entry]:
        """The headings of a file as it is now."""
        name = display_name(file.name)
        known = self._files.get(name)
        if known is not None and known[1:] == file.stamp:
            return self._headings.get(name, [])
        with open(file.path, "rb") as source:
            raw = source.read()
        if known is not None and known[0] == sha256_hex(raw):
            return self._headings.get(name, [])
        from skillc.skills.document import parse  # only for a file that the index does not know

        return [Entry(name, h.level, h.text, h.line) for h in parse(raw).headings()]
