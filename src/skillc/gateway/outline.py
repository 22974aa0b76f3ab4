"""`outline`: every heading of a skill's Markdown files [RFC-0002:C-OUTLINE, D14].

Headings of unchanged files come from the index: that saves loading a Markdown and a YAML parser.
"""

from __future__ import annotations

from skillc.errors import SkillcError
from skillc.gateway import freshness
from skillc.index.sections import DatabaseError, open_stale_index

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from skillc.gateway.freshness import FileRecord, Heading
    from skillc.library import Skill


def read_outline(skill: Skill, level: int | None = None) -> list[Heading]:
    """Return the headings of all Markdown files down to `level`, files in bytewise order of their paths."""
    records, headings = _read_index(skill, level)
    outline: list[Heading] = []
    for name, file in freshness.list_markdown(skill).items():
        data = freshness.read_if_changed(skill.source, file, records.get(name))
        outline += headings.get(name, ()) if data is None else freshness.parse_headings(name, data)
    return outline if level is None else [heading for heading in outline if heading.level <= level]


def render_outline(headings: Iterable[Heading]) -> Iterator[str]:
    """Yield an outline as text: each file's path, then its headings, indented [D14]."""
    from skillc.text import one_line

    file = None
    for heading in headings:
        if heading.file != file:
            file = heading.file
            yield one_line(file)
        indent = "  " * max(1, heading.level - 1)
        yield f"{indent}{'#' * heading.level} {one_line(heading.heading)}".rstrip()


def _read_index(skill: Skill, level: int | None) -> tuple[dict[str, FileRecord], dict[str, list[Heading]]]:
    """Return the indexed files and their headings; nothing without a readable index."""
    connection = None
    try:
        connection = open_stale_index(skill)
        if connection is None:
            return {}, {}
        headings: dict[str, list[Heading]] = {}
        condition = "1" if level is None else f"level <= {level:d}"
        for heading in freshness.read_headings(connection, condition):
            headings.setdefault(heading.file, []).append(heading)
        return freshness.read_file_records(connection), headings
    except (DatabaseError, SkillcError):  # a damaged index, or no home that could hold one
        return {}, {}
    finally:
        if connection is not None:
            connection.close()
