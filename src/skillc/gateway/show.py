"""`show`: the text of one section, found through the index of headings [RFC-0002:C-SHOW, D15 to D18].

A file that changed since it was indexed is parsed again, so that the headings are always those of the
outline, and the lines always those of the heading.
"""

from __future__ import annotations

import os

from skillc import errors
from skillc.gateway import freshness
from skillc.index.sections import open_index
from skillc.text import utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import Any

    from skillc.gateway.freshness import Heading
    from skillc.library import Skill

MAX_SUGGESTIONS = 5
_DASH = " \N{EM DASH} "

# NOCASE folds only ASCII; Python compares all other headings [D17].
_CANDIDATES = """
id IN (SELECT id FROM headings WHERE text = ? COLLATE NOCASE
       UNION SELECT id FROM headings WHERE length(text) <> length(CAST(text AS BLOB)))
"""


class Section:
    """A section's text as it stands in the source. `ambiguous` tells that other headings matched too."""

    __slots__ = ("ambiguous", "file", "heading", "level", "line", "more_lines", "text")

    def __init__(self, heading: Heading, text: bytes, more_lines: int, ambiguous: bool) -> None:
        self.file = heading.file
        self.heading = heading.heading
        self.level = heading.level
        self.line = heading.line
        self.text = text
        self.more_lines = more_lines
        self.ambiguous = ambiguous

    def content(self) -> bytes:
        """Return the text and, if it was cut, the line that says how much is left out."""
        if not self.more_lines:
            return self.text
        from skillc.gateway.open import render_more_lines  # only with --max-lines

        return self.text + render_more_lines(self.more_lines)

    def as_json(self) -> dict[str, Any]:
        fields = ("file", "heading", "level", "line", "more_lines")
        content = self.content().decode("utf-8", "replace")
        return {field: getattr(self, field) for field in fields} | {"content": content}


def show_section(
    skill: Skill,
    section: str,
    *,
    file: str | None = None,
    max_lines: int | None = None,
    tokenizer: str = "ascii",
) -> Section:
    """Return the section under a heading; raise SectionNotFound with similar headings."""
    title = utf8_text(section).strip()
    # A heading may be given as the stub lists it, with a description behind a dash [D15].
    queries = dict.fromkeys((title.partition(_DASH)[0].strip().casefold(), title.casefold()))
    with open_index(skill, tokenizer) as index:
        headings = _Headings(skill, index.connection, file)
        for query in queries:
            matches = headings.find(query)
            for match in matches:
                result = headings.read_lines(match, query)
                if result is not None:
                    heading, lines = result
                    more_lines = 0 if max_lines is None else max(0, len(lines) - max_lines)
                    return Section(heading, b"".join(lines[:max_lines]), more_lines, len(matches) > 1)
        raise errors.SectionNotFound(title, headings.suggest(next(iter(queries))))


class _Headings:
    """The current headings of a skill, or of one of its files, in the order of the outline."""

    def __init__(self, skill: Skill, connection: Connection, only: str | None) -> None:
        self._index = connection
        self._records = freshness.read_file_records(connection)
        self._files = freshness.list_markdown(skill)
        if only is not None:
            name = utf8_text(os.path.normpath(only).replace(os.sep, "/"))
            self._files = {name: self._files[name]} if name in self._files else {}
        self._changes: dict[str, list[Heading]] = {}  # the headings of files that differ from their record
        for name, file in self._files.items():
            data = freshness.read_if_changed(file, self._records.get(name))
            if data is not None:
                self._changes[name] = freshness.parse_headings(name, data)

    def find(self, query: str) -> list[Heading]:
        """Return the headings that equal a case-folded query."""
        return self._select(lambda text: text == query, _CANDIDATES, query)

    def suggest(self, query: str) -> list[tuple[str, str]]:
        """Return headings that start with the query, then those that contain it, with their files."""
        if not query:
            return []
        headings = self._select(lambda text: query in text)
        texts = list(dict.fromkeys((heading.heading, heading.file) for heading in headings))
        texts.sort(key=lambda text: not text[0].casefold().startswith(query))
        return texts[:MAX_SUGGESTIONS]

    def read_lines(self, heading: Heading, query: str) -> tuple[Heading, list[bytes]] | None:
        """Return a heading and the lines of its section as the file is now; None if it is gone."""
        record = self._records.get(heading.file)
        try:
            data, stamp = freshness.read_with_stamp(self._files[heading.file].path)
        except FileNotFoundError:
            return None
        if record is None or not (stamp == record[1:] or freshness.matches_record(data, record)):
            headings = freshness.parse_headings(heading.file, data)
            matches = [match for match in headings if match.heading.casefold() == query]
            if not matches:
                return None
            heading = next((match for match in matches if match.line == heading.line), matches[0])
        return heading, data.splitlines(keepends=True)[heading.line - 1 : heading.end_line - 1]

    def _select(self, matches: Callable[[str], bool], condition: str = "1", *values: str) -> list[Heading]:
        """Return the headings whose case-folded text matches; `condition` selects candidates in the index."""
        candidates = [
            heading
            for heading in freshness.read_headings(self._index, condition, *values)
            if heading.file in self._files and heading.file not in self._changes
        ]
        for headings in self._changes.values():
            candidates += headings
        selection = [heading for heading in candidates if matches(heading.heading.casefold())]
        if len(selection) > 1:
            order = {name: number for number, name in enumerate(self._files)}
            selection.sort(key=lambda heading: (order[heading.file], heading.line))
        return selection
