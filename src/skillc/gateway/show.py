"""`show`: the text of one section, found through the headings index [RFC-0002:C-SHOW, D15 to D18].

A file that is not as it was indexed is read anew, so that the headings are always those of the
outline, and the lines always those of the heading.
"""

from __future__ import annotations

import os

from skillc import errors
from skillc.gateway.freshness import changed_text, indexed_files, is_known, markdown_files, read
from skillc.index.sections import DatabaseError, open_index
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from sqlite3 import Connection
    from typing import Any

    from skillc.library import Skill

MAX_SUGGESTIONS = 5
_DASH = " \N{EM DASH} "

# NOCASE knows ASCII alone: whether other headings are the same to Unicode is for Python to say [D17].
_CANDIDATES = """
id IN (SELECT id FROM headings WHERE text = ? COLLATE NOCASE
       UNION SELECT id FROM headings WHERE length(text) <> length(CAST(text AS BLOB)))
"""


class Shown:
    """A section's text as it stands in the source. `ambiguous` tells that other headings matched too."""

    __slots__ = ("ambiguous", "file", "heading", "level", "line", "more_lines", "text")

    def __init__(self, place: Place, text: bytes, more_lines: int, ambiguous: bool) -> None:
        self.file = place.file
        self.heading = place.heading
        self.level = place.level
        self.line = place.line
        self.text = text
        self.more_lines = more_lines
        self.ambiguous = ambiguous

    def content(self) -> bytes:
        """The text, and the line that says how much of it was left out."""
        if not self.more_lines:
            return self.text
        from skillc.gateway.open import more_lines  # another module, for those who ask for it

        return self.text + more_lines(self.more_lines)

    def as_json(self) -> dict[str, Any]:
        fields = ("file", "heading", "level", "line", "more_lines")
        content = self.content().decode("utf-8", "replace")
        return {field: getattr(self, field) for field in fields} | {"content": content}


class Place:
    """Where a section stands: its file, its heading, its lines up to `end_line`, which is not its own."""

    __slots__ = ("end_line", "file", "heading", "level", "line")

    def __init__(self, file: str, heading: str, level: int, line: int, end_line: int) -> None:
        self.file = file
        self.heading = heading
        self.level = level
        self.line = line
        self.end_line = end_line


def show_section(
    skill: Skill,
    section: str,
    *,
    file: str | None = None,
    max_lines: int | None = None,
    tokenizer: str = "ascii",
) -> Shown:
    """The section under a heading; raises SectionNotFound with headings like it."""
    opened = open_index(skill, tokenizer)
    section = utf8_text(section)
    try:
        headings = _Headings(skill, opened.connection, file)
        for query in _queries(section):
            folded = query.casefold()
            matches = headings.matching(folded)
            for place in matches:
                found = headings.lines(place, folded)
                if found is not None:
                    place, lines = found
                    kept = lines if max_lines is None else lines[:max_lines]
                    return Shown(place, b"".join(kept), len(lines) - len(kept), len(matches) > 1)
        raise errors.SectionNotFound(section.strip(), headings.like(_queries(section)[0].casefold()))
    except DatabaseError:
        raise errors.IndexUnusable(skill.name) from None


def _queries(section: str) -> list[str]:
    """The heading to look for: without a stub's description first, then as it was given [D15]."""
    whole = section.strip()
    title = whole.partition(_DASH)[0].strip()
    return [title] if title == whole else [title, whole]


class _Headings:
    """The headings of a skill, or of one of its files, as they are now, in the outline's order."""

    def __init__(self, skill: Skill, connection: Connection, only: str | None) -> None:
        self._index = connection
        self._known = indexed_files(connection)
        self._files = markdown_files(skill)
        if only is not None:
            name = utf8_text(os.path.normpath(only).replace(os.sep, "/"))
            self._files = {name: self._files[name]} if name in self._files else {}
        # The headings of the files that are not as they were indexed.
        self._anew: dict[str, list[Place]] = {}
        for name, file in self._files.items():
            text = changed_text(file, self._known.get(name))
            if text is not None:
                self._anew[name] = _parsed(name, text)

    def matching(self, folded: str) -> list[Place]:
        """The headings that match."""
        found = [*self._indexed(_CANDIDATES, folded), *self._of_changed_files()]
        return self._in_order([place for place in found if place.heading.casefold() == folded])

    def like(self, folded: str) -> list[tuple[str, str]]:
        """Headings that start with the query, then those that contain it."""
        if not folded:
            return []
        places = self._in_order([*self._indexed("1"), *self._of_changed_files()])
        texts = dict.fromkeys((place.heading, place.file) for place in places)
        containing = [text for text in texts if folded in text[0].casefold()]
        containing.sort(key=lambda text: not text[0].casefold().startswith(folded))
        return containing[:MAX_SUGGESTIONS]

    def lines(self, place: Place, folded: str) -> tuple[Place, list[bytes]] | None:
        """The place and the lines of a section in its file as it is read now; None where it is gone."""
        known = self._known.get(place.file)
        try:
            data, stamp = read(self._files[place.file].path)
        except FileNotFoundError:
            return None
        if known is None or not (stamp == known[1:] or is_known(data, known)):
            now = [other for other in _parsed(place.file, data) if other.heading.casefold() == folded]
            if not now:
                return None
            place = next((other for other in now if other.line == place.line), now[0])
        return place, data.splitlines(keepends=True)[place.line - 1 : place.end_line - 1]

    def _indexed(self, condition: str, *values: str) -> list[Place]:
        """Headings of files that are as they were indexed."""
        rows = self._index.execute(
            f"SELECT file, text, level, start_line, end_line FROM headings WHERE {condition}",  # noqa: S608 -- our own
            values,
        )
        try:
            return [
                Place(file, str(text), int(level), int(line), int(end_line))
                for file, text, level, line, end_line in rows
                if file in self._files and file not in self._anew
            ]
        except (TypeError, ValueError) as error:
            raise DatabaseError(f"damaged: {error}") from None

    def _of_changed_files(self) -> Iterator[Place]:
        for places in self._anew.values():
            yield from places

    def _in_order(self, places: list[Place]) -> list[Place]:
        order = {name: number for number, name in enumerate(self._files)} if len(places) > 1 else {}
        return sorted(places, key=lambda place: (order[place.file], place.line)) if order else places


def _parsed(name: str, text: bytes) -> list[Place]:
    from skillc.skills.document import parse  # only for a file that the index does not know

    return [Place(name, h.text, h.level, h.line, h.end_line) for h in parse(text).headings()]
