"""The outline of a file as text: a build keeps it ready for readers."""

from __future__ import annotations

from skillc.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


def outline_lines(file: str, headings: Iterable[tuple[int, str]]) -> str:
    """Return a file's path and below it its headings, indented by level [D14]; empty without headings.

    >>> print(outline_lines("SKILL.md", [(1, "PDF"), (2, "Forms"), (3, "Fields")]))
    SKILL.md
      # PDF
      ## Forms
        ### Fields
    """
    lines = [
        f"{'  ' * max(1, level - 1)}{'#' * level} {one_line(heading)}".rstrip() for level, heading in headings
    ]
    return "\n".join([one_line(file), *lines]) if lines else ""
