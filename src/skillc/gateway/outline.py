"""`outline`: every heading of a skill's Markdown files [RFC-0002:C-OUTLINE, D14].

Headings of unchanged files come from the index: that saves loading a Markdown and a YAML parser. Their
text does as well, which a build keeps ready: laying out 20,000 headings takes longer than all the rest.
"""

from __future__ import annotations

import os

from skillc.errors import SkillcError
from skillc.gateway import freshness
from skillc.index import stamp_of
from skillc.index.sections import DatabaseError, open_stale_index, outline_lines
from skillc.startup import READ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from sqlite3 import Connection
    from typing import TypeVar

    from skillc.gateway.freshness import FileRecord, Heading
    from skillc.library import Skill

    Part = TypeVar("Part")


def read_outline(skill: Skill, level: int | None = None) -> list[Heading]:
    """Return the headings of all Markdown files down to `level`, files in bytewise order of their paths."""
    condition = "1" if level is None else f"level <= {level:d}"

    def read(connection: Connection) -> dict[str, list[Heading]]:
        headings: dict[str, list[Heading]] = {}
        for heading in freshness.read_headings(connection, condition):
            headings.setdefault(heading.file, []).append(heading)
        return headings

    parts = _read_parts(skill, read, freshness.parse_headings)
    return [heading for part in parts for heading in part if level is None or heading.level <= level]


def read_outline_text(skill: Skill, level: int | None = None) -> Iterable[str]:
    """Return the same as text: for each file its path and its headings, indented [D14]."""
    if level is not None:
        return render_outline(read_outline(skill, level))

    def read(connection: Connection) -> dict[str, str]:
        rows = connection.execute("SELECT path, outline FROM files WHERE outline != ''")
        return {str(path): str(text) for path, text in rows}

    def parse(name: str, data: bytes) -> str:
        return "\n".join(render_outline(freshness.parse_headings(name, data)))

    return [text for text in _read_parts(skill, read, parse) if text]


def render_outline(headings: Iterable[Heading]) -> Iterator[str]:
    """Yield headings as text: the lines of each file."""
    from itertools import groupby  # most outlines are ready

    for file, group in groupby(headings, lambda heading: heading.file):
        yield outline_lines(file, ((heading.level, heading.heading) for heading in group))


def _read_parts(
    skill: Skill, read: Callable[[Connection], dict[str, Part]], parse: Callable[[str, bytes], Part]
) -> list[Part]:
    """Return what an outline has of each Markdown file, in bytewise order of their paths.

    `read` returns it from an index, by file, and `parse` from the bytes of a file that has changed since.
    """
    records: dict[str, FileRecord] = {}
    parts: dict[str, Part] = {}
    connection = None
    try:
        connection, meta = open_stale_index(skill)
        if connection is not None:
            parts = read(connection)
            if freshness.has_same_names(skill, connection, meta) and _are_same(skill.source, connection):
                return [parts[name] for name in sorted(parts, key=str.encode)]
            records = freshness.read_file_records(connection)
    except (DatabaseError, SkillcError):  # a damaged index, or no home that could hold one
        records, parts = {}, {}
    finally:
        if connection is not None:
            connection.close()
    outline = []
    for name, file in freshness.list_markdown(skill).items():
        data = freshness.read_if_changed(skill.source, file, records.get(name))
        if data is not None:
            outline.append(parse(name, data))
        elif name in parts:
            outline.append(parts[name])
    return outline


def _are_same(source: str, connection: Connection) -> bool:
    """Return whether the Markdown files are those that were indexed.

    They are asked by their paths below the source: of whole paths, the system looks up each directory again.
    """
    sql = "SELECT path, size, modified_ns, changed_ns FROM files WHERE path LIKE '%.md'"
    root = -1
    try:
        root = os.open(source, READ)
        return all(
            stamp_of(os.stat(path, dir_fd=root)) == (size, mtime, ctime)
            for path, size, mtime, ctime in connection.execute(sql).fetchall()
        )
    except (OSError, ValueError):  # a file that is gone, a system that can't open directories
        return False
    finally:
        if root >= 0:
            os.close(root)
