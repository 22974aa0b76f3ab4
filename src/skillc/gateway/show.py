"""`show`: the text of one section, found through the index of headings [RFC-0002:C-SHOW, D15 to D18, D61].

A file that changed since it was indexed is parsed again, so that the headings are always those of the
outline, and the lines always those of the heading. A skill without an index is all changed files.
"""

from __future__ import annotations

import os

from skillc import errors
from skillc.gateway import freshness
from skillc.index.sections import open_index
from skillc.text import fold_line, utf8_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from sqlite3 import Connection
    from typing import Any

    from skillc.gateway.freshness import FileRecord, Heading
    from skillc.index.sections import SectionIndex
    from skillc.library import Skill
    from skillc.skills import SourceFile

_DASH = " \N{EM DASH} "

# NOCASE folds only ASCII; Python compares all other headings [D17].
_EQUAL = "text = ? COLLATE NOCASE"
_NOT_ASCII = "length(text) <> length(CAST(text AS BLOB))"
_CANDIDATES = f"""
id IN (SELECT id FROM headings WHERE {_EQUAL} UNION SELECT id FROM headings WHERE {_NOT_ASCII})
"""  # noqa: S608 -- our own words


class Section:
    """A section's text as it stands in the source. `ambiguous` tells that other headings matched too.

    A whole file is a section of level 0.
    """

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
    """Return the section under a heading; raise SectionNotFound with similar headings.

    Read the files of a skill that was never built.
    """
    title = utf8_text(section).strip()
    queries = _read_queries(title)
    index = _open_index(skill, tokenizer)
    if index is None:
        return _read_section(_Headings(skill, None, file), title, queries, max_lines)
    with index:
        if freshness.has_same_names(skill, index.connection, index.meta):
            found = _read_first(_IndexedHeadings(skill, index, file), title, queries, max_lines)
            if found is not None:
                return found
        return _read_section(_Headings(skill, index.connection, file), title, queries, max_lines)


def _open_index(skill: Skill, tokenizer: str) -> SectionIndex | None:
    """Return the index of a skill; None if it was never built."""
    if not skill.runtimes():  # there is no home that could hold an index
        return None
    try:
        return open_index(skill, tokenizer)
    except errors.NotBuilt:
        return None


def _read_section(headings: _Headings, title: str, queries: Sequence[str], max_lines: int | None) -> Section:
    result = _read_first(headings, title, queries, max_lines)
    if result is None:
        raise errors.SectionNotFound(title, headings.suggest(queries[-1]))
    return result


def _read_queries(title: str) -> list[str]:
    """Return what a title may mean, case-folded, best first: itself, without hashes, without a description.

    An outline has hashes before a heading [D61], a stub may have a description behind it, after a dash.
    Heading and description may have dashes of their own, so longer parts come first [D15].

    >>> print(*_read_queries("## Setup \N{EM DASH} first steps"), sep="; ")
    ## setup \N{EM DASH} first steps; setup \N{EM DASH} first steps; ## setup; setup
    """
    queries = [title.casefold()]
    heading = queries[0].lstrip("#")
    if heading != queries[0] and (not heading or heading[0].isspace()):
        queries.append(heading.strip())
    if _DASH in title:
        from skillc.gateway.titles import parts_before_dashes

        queries += [part for query in tuple(queries) for part in parts_before_dashes(query)]
    return queries


def _read_first(
    headings: _Headings | _IndexedHeadings, title: str, queries: Sequence[str], max_lines: int | None
) -> Section | None:
    """Return the first section that a query finds."""
    level = len(title) - len(title.lstrip("#"))  # as an outline shows it
    for candidates in headings.matches(queries):
        matches = [match for match in candidates if match.level == level] or candidates
        for match in matches:
            result = headings.read_lines(match)
            if result is not None:
                heading, lines = result
                more_lines = 0 if max_lines is None else max(0, len(lines) - max_lines)
                return Section(heading, b"".join(lines[:max_lines]), more_lines, len(matches) > 1)
    return None


class _IndexedHeadings:
    """The headings of a large skill whose directories are as they were: only files that match are asked."""

    def __init__(self, skill: Skill, index: SectionIndex, only: str | None) -> None:
        self._source = skill.source
        self._index = index
        self._only = None if only is None else utf8_text(os.path.normpath(only).replace(os.sep, "/"))

    def matches(self, queries: Sequence[str]) -> Iterator[list[Heading]]:
        """Yield the headings that equal a case-folded query."""
        yield from map(self._find, queries)

    def _find(self, query: str) -> list[Heading]:
        if self._index.other_headings is None:  # takes longer than all the rest
            self._index.other_headings = freshness.read_headings(self._index.connection, _NOT_ASCII)
        headings = freshness.read_headings(self._index.connection, f"{_EQUAL} AND NOT ({_NOT_ASCII})", query)
        headings += self._index.other_headings
        if self._only is not None:
            headings = [heading for heading in headings if heading.file == self._only]
        matches = [heading for heading in headings if heading.heading.casefold() == query]
        return sorted(matches, key=lambda heading: (heading.file.encode(), heading.line))

    def read_lines(self, heading: Heading) -> tuple[Heading, list[bytes]] | None:
        record = freshness.read_file_records(self._index.connection, heading.file).get(heading.file)
        return _read_lines(self._source, heading.file, record, heading)


class _Headings:
    """The current headings of a skill, or of one of its files, in the order of the outline."""

    def __init__(self, skill: Skill, connection: Connection | None, only: str | None) -> None:
        self._source = skill.source
        self._index = connection
        self._records = freshness.read_file_records(connection) if connection else {}
        self._files = freshness.list_markdown(skill)
        if only is not None:
            self._files = self._select_file(skill, only)
        self._changes: dict[str, list[Heading]] = {}  # the headings of files that differ from their record
        for name, file in self._files.items():
            data = freshness.read_if_changed(self._source, file, self._records.get(name))
            if data is not None:
                self._changes[name] = freshness.parse_headings(name, data)

    def _select_file(self, skill: Skill, path: str) -> dict[str, SourceFile]:
        """Return the file at a path, nothing if it is not Markdown.

        Raises FileNotFound if there is none, and PathEscapes if it is a link that leads out of the skill.
        """
        name = utf8_text(os.path.normpath(path).replace(os.sep, "/"))
        if name in self._files:
            return {name: self._files[name]}
        from skillc.skills import list_files, resolve_inside  # only on the way to an error
        from skillc.spelling import did_you_mean

        if any(utf8_text(file.name) == name for file in list_files(skill.source)):
            return {}
        if os.path.islink(os.path.join(self._source, path)):
            resolve_inside(self._source, path)
        question = did_you_mean(name, self._files)
        raise errors.FileNotFound(path, f"hint: {question}" if question else "")

    def matches(self, queries: Sequence[str]) -> Iterator[list[Heading]]:
        """Yield for each query the headings that equal it, case-folded, then those that are shown like it."""
        shown: dict[str, list[Heading]] = {}
        for query in queries:
            yield self.find(query)
            shown = shown or self._map_as_shown()
            yield shown.get(fold_line(query), [])

    def find(self, query: str) -> list[Heading]:
        """Return the headings that equal a case-folded query."""
        return self._select(query.__eq__, _CANDIDATES, query)

    def _map_as_shown(self) -> dict[str, list[Heading]]:
        from skillc.gateway.titles import map_as_shown  # few titles are not as in the source

        return map_as_shown(self._select(lambda text: True), self._files)

    def suggest(self, query: str) -> list[tuple[str, str]]:
        """Return headings with their files: those that start with the query, contain it or look like it."""
        from skillc.gateway.titles import suggest_titles

        return suggest_titles(query, self._select(lambda text: True))

    def read_lines(self, heading: Heading) -> tuple[Heading, list[bytes]] | None:
        name, record = self._files[heading.file].name, self._records.get(heading.file)
        return _read_lines(self._source, name, record, heading)

    def _select(self, matches: Callable[[str], bool], condition: str = "1", *values: str) -> list[Heading]:
        """Return the headings whose case-folded text matches; `condition` selects candidates in the index."""
        candidates = [
            heading
            for heading in (freshness.read_headings(self._index, condition, *values) if self._index else ())
            if heading.file in self._files and heading.file not in self._changes
        ]
        for headings in self._changes.values():
            candidates += headings
        selection = [heading for heading in candidates if matches(heading.heading.casefold())]
        if len(selection) > 1:
            order = {name: number for number, name in enumerate(self._files)}
            selection.sort(key=lambda heading: (order[heading.file], heading.line))
        return selection


def _read_lines(
    source: str, name: str, record: FileRecord | None, heading: Heading
) -> tuple[Heading, list[bytes]] | None:
    """Return a heading and the lines of its section as the file is now; None if it is gone."""
    try:
        data, stamp = freshness.read_with_stamp(source, name)
    except FileNotFoundError:
        return None
    if not heading.level:
        return heading, data.splitlines(keepends=True)
    if record is None or not (stamp == record[1:] or freshness.matches_record(data, record)):
        headings = freshness.parse_headings(heading.file, data)
        matches = [match for match in headings if match.heading.casefold() == heading.heading.casefold()]
        if not matches:
            return None
        heading = next((match for match in matches if match.line == heading.line), matches[0])
    return heading, data.splitlines(keepends=True)[heading.line - 1 : heading.end_line - 1]
