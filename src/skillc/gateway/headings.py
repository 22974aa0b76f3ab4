"""`outline`: every heading of a skill's Markdown files [RFC-0002:C-OUTLINE, D14]."""

from __future__ import annotations

from skillc.skills.document import parse
from skillc.skills.files import display_name, list_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library import Skill


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
    entries: list[Entry] = []
    for file in list_files(skill.source):
        if not file.name.lower().endswith(".md"):
            continue
        with open(file.path, "rb") as source:
            document = parse(source.read())
        name = display_name(file.name)
        entries += [
            Entry(name, heading.level, heading.text, heading.line)
            for heading in document.headings()
            if level is None or heading.level <= level
        ]
    return entries
