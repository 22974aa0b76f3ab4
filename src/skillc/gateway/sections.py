"""`show`: the text of one section, found through the headings index [RFC-0002:C-SHOW, D15 to D18]."""

from __future__ import annotations

import os

from skillc.compiler import index
from skillc.digest import sha256_hex
from skillc.errors import IndexUnusable, SectionNotFound
from skillc.skills.document import parse
from skillc.skills.files import display_name, list_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillc.library import Skill

MAX_SUGGESTIONS = 5
_DASH = " \N{EM DASH} "


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


class Place:
    """Where a section stands: its file, its heading, its lines."""

    __slots__ = ("end_line", "file", "heading", "level", "line")

    def __init__(self, file: str, heading: str, level: int, line: int, end_line: int) -> None:
        self.file = file
        self.heading = heading
        self.level = level
        self.line = line
        self.end_line = end_line


def show(
    skill: Skill,
    section: str,
    *,
    file: str | None = None,
    max_lines: int | None = None,
    tokenizer: str = "ascii",
) -> Shown:
    """The section under a heading; raises SectionNotFound with headings like it."""
    opened = index.open_for(skill, tokenizer)
    section, file = display_name(section), display_name(file) if file else None
    try:
        places = _Places(skill, opened, file)
        for query in _queries(section):
            matches = places.matching(query)
            if matches:
                text, more = _lines(places.source(matches[0].file), matches[0], max_lines)
                return Shown(matches[0], text, more, len(matches) > 1)
        raise SectionNotFound(section.strip(), places.like(_queries(section)[0]))
    except index.Error:
        raise IndexUnusable(skill.name) from None


def _queries(section: str) -> list[str]:
    """The heading to look for: without a stub's description first, then as it was given [D15]."""
    whole = section.strip()
    title = whole.partition(_DASH)[0].strip()
    return [title] if title == whole else [title, whole]


class _Places:
    """The headings of a skill as they are now: from the index, or from a file that changed since."""

    def __init__(self, skill: Skill, opened: index.Index, file: str | None) -> None:
        self._skill = skill
        self._index = opened.connection
        self._file = file.removeprefix("./") if file else None
        self._read: dict[str, bytes] = {}

    def matching(self, query: str) -> list[Place]:
        """The headings that match, in outline order."""
        folded = query.casefold()
        indexed = self._rows("text = ? COLLATE NOCASE", query) or [
            place for place in self._rows("1") if place.heading.casefold() == folded
        ]
        found = self._current(indexed, folded)
        return found or [p for p in self._changed() if p.heading.casefold() == folded]

    def _current(self, indexed: Iterable[Place], folded: str) -> list[Place]:
        """Indexed places, those of changed files replaced by what the file holds now [D18]."""
        found: list[Place] = []
        anew: set[str] = set()
        for place in indexed:
            if place.file in anew:
                continue
            if self._is_indexed(place.file):
                found.append(place)
            else:
                anew.add(place.file)
                found += [p for p in self._parse(place.file) if p.heading.casefold() == folded]
        return found

    def like(self, query: str) -> list[tuple[str, str]]:
        """Headings that start with the query or contain it."""
        folded = query.casefold()
        texts = [(p.heading, p.file) for p in self._rows("1")]
        prefixed = [t for t in texts if t[0].casefold().startswith(folded)]
        containing = [t for t in texts if folded in t[0].casefold() and t not in prefixed]
        return (prefixed + containing)[:MAX_SUGGESTIONS] if folded else []

    def _rows(self, condition: str, *values: str) -> list[Place]:
        where, values = (
            (condition, values)
            if self._file is None
            else (f"{condition} AND file = ?", (*values, self._file))
        )
        rows = self._index.execute(
            "SELECT file, text, level, start_line, end_line FROM headings"  # noqa: S608 -- our own conditions
            f" WHERE {where} ORDER BY file, start_line",
            values,
        )
        return [Place(*row) for row in rows]

    def _changed(self) -> Iterator[Place]:
        """The headings of files that are not as they were indexed, new ones included."""
        for file in list_files(self._skill.source):
            name = display_name(file.name)
            if name.lower().endswith(".md") and self._file in (None, name) and not self._is_indexed(name):
                yield from self._parse(name)

    def _is_indexed(self, name: str) -> bool:
        """Whether a file is the one that was indexed: by size and times, then by hash."""
        known = self._index.execute(
            "SELECT digest, size, modified_ns, changed_ns FROM files WHERE path = ?", (name,)
        ).fetchone()
        if known is None:
            return False
        try:
            status = os.stat(self._path(name))
        except OSError:
            return False
        if known[1:] == (status.st_size, status.st_mtime_ns, status.st_ctime_ns):
            return True
        return sha256_hex(self.source(name)) == str(known[0])

    def _path(self, name: str) -> str:
        return os.path.join(self._skill.source, *name.split("/"))

    def source(self, name: str) -> bytes:
        """A file's bytes, read once."""
        if name not in self._read:
            try:
                with open(self._path(name), "rb") as file:
                    self._read[name] = file.read()
            except OSError:
                self._read[name] = b""
        return self._read[name]

    def _parse(self, name: str) -> list[Place]:
        headings = parse(self.source(name)).headings()
        return [Place(name, h.text, h.level, h.line, h.end_line) for h in headings]


def _lines(source: bytes, place: Place, max_lines: int | None) -> tuple[bytes, int]:
    """The lines of a section with their ends, and how many were left out."""
    lines = source.splitlines(keepends=True)[place.line - 1 : place.end_line - 1]
    kept = lines if max_lines is None else lines[:max_lines]
    return b"".join(kept), len(lines) - len(kept)
