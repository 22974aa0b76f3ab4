"""`outline`: every heading of a skill's Markdown files [RFC-0002:C-OUTLINE, D14].

Headings of unchanged files come from the index: that saves loading a Markdown and a YAML parser. Their
text does as well, which a build keeps ready: laying out 20,000 headings takes longer than all the rest. Of a
large skill that is as it was indexed, the index has the whole text in one piece.
"""

from __future__ import annotations

from skillc.errors import SkillcError
from skillc.gateway import freshness
from skillc.index.sections import DatabaseError, open_stale_index, outline_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from sqlite3 import Connection
    from typing import TypeVar

    from skillc.gateway.freshness import FileRecord, Heading
    from skillc.library import Skill

    Part = TypeVar("Part")  # what an outline has of one file
    Whole = TypeVar("Whole")


def read_outline(skill: Skill, level: int | None = None) -> list[Heading]:
    """Return the headings of all Markdown files down to `level`, files in bytewise order of their paths."""
    condition = "1" if level is None else f"level <= {level:d}"

    def read(connection: Connection) -> dict[str, list[Heading]]:
        headings: dict[str, list[Heading]] = {}
        for heading in freshness.read_headings(connection, condition):
            headings.setdefault(heading.file, []).append(heading)
        return headings

    def join(parts: Iterable[list[Heading]]) -> list[Heading]:
        return [heading for part in parts for heading in part if level is None or heading.level <= level]

    return _read(skill, read, freshness.parse_headings, join)


def read_outline_text(skill: Skill, level: int | None = None) -> bytes:
    """Return the same as text: for each file its path and its headings, indented [D14]."""
    if level is not None:
        return _encode(render_outline(read_outline(skill, level)))

    def read(connection: Connection) -> dict[str, str]:
        rows = connection.execute("SELECT path, outline FROM files WHERE outline != ''")
        return {str(path): str(text) for path, text in rows}

    def parse(name: str, data: bytes) -> str:
        return "\n".join(render_outline(freshness.parse_headings(name, data)))

    return _read(skill, read, parse, _encode, _read_whole)


def _encode(parts: Iterable[str]) -> bytes:
    return "".join([f"{part}\n" for part in parts if part]).encode()


def _read_whole(connection: Connection) -> bytes:
    """Return the text that an index has of all files."""
    connection.execute("PRAGMA cache_size=4").close()  # pages that are read once
    with connection.blobopen("whole_outline", "text", 1, readonly=True) as text:
        return text.read()


def render_outline(headings: Iterable[Heading]) -> Iterator[str]:
    """Yield headings as text: the lines of each file."""
    from itertools import groupby  # most outlines are ready

    for file, group in groupby(headings, lambda heading: heading.file):
        yield outline_lines(file, ((heading.level, heading.heading) for heading in group))


def _read(
    skill: Skill,
    read: Callable[[Connection], dict[str, Part]],
    parse: Callable[[str, bytes], Part],
    join: Callable[[Iterable[Part]], Whole],
    read_whole: Callable[[Connection], Whole] | None = None,
) -> Whole:
    """Return what `join` makes of each Markdown file's part, in bytewise order of their paths.

    `read` returns the parts from an index, by file, and `parse` that of a file that has changed since. Of a
    large skill in which nothing has changed, `read_whole` returns all of it.
    """
    records: dict[str, FileRecord] = {}
    parts: dict[str, Part] = {}
    connection = None
    try:
        connection, meta = open_stale_index(skill)
        if connection is not None:
            is_same = freshness.has_same_markdown(skill, connection, meta)
            if is_same and read_whole:
                return read_whole(connection)
            parts = read(connection)
            if is_same:
                return join(parts[name] for name in sorted(parts, key=str.encode))
            records = freshness.read_file_records(connection)
    except (DatabaseError, SkillcError):  # a damaged index, or no home that could hold one
        records, parts = {}, {}
    finally:
        if connection is not None:
            connection.close()
    current: list[Part] = []
    for name, file in freshness.list_markdown(skill).items():
        data = freshness.read_if_changed(skill.source, file, records.get(name))
        if data is not None:
            current.append(parse(name, data))
        elif name in parts:
            current.append(parts[name])
    return join(current)
